/** By the engine's own parser: no cluster of ClickHouse can run here. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { readMigrations } from '../../../services/core/store/migrations.js'
import type { Store } from '../../../services/core/store/port.js'
import { CLUSTER_SETTINGS, onCluster } from '../../../services/core/store/replicated-tables.js'
import { engineExpected } from '../../rig/store-engine.js'

const statements = readMigrations().flatMap((migration) => migration.statements)
const databases = ['CREATE DATABASE IF NOT EXISTS dextape', 'DROP DATABASE IF EXISTS dextape_replay_eth SYNC']
const isInsert = (statement: string) => statement.startsWith('INSERT')

describe.runIf(engineExpected)('on a cluster', () => {
  const path = mkdtempSync(join(tmpdir(), 'dextape-store-'))
  let store: Store
  beforeAll(async () => {
    store = await openStore({ kind: 'embedded', path })
    await store.migrate()
  })
  afterAll(async () => {
    await store?.close()
    rmSync(path, { recursive: true, force: true })
  })

  /** As the engine understands it. */
  async function parsed(sql: string): Promise<string> {
    const [row] = await store.query<{ text: string }>('SELECT formatQuerySingleLine({sql:String}) AS text', { sql })
    return row?.text ?? ''
  }

  it('every statement that defines something runs on all replicas, with the rest as it was', async () => {
    for (const statement of [...statements.filter((one) => !isInsert(one)), ...databases]) {
      const text = await parsed(onCluster(statement, 'tape-1'))
      expect(text).toContain(' ON CLUSTER `tape-1`')
      const plain = text
        .replace(' ON CLUSTER `tape-1`', '')
        .replace(/Replicated(\w*MergeTree)\('[^']*', '\{replica\}'(, )?/, '$1(')
      expect(plain.replace('MergeTree()', 'MergeTree')).toBe(
        (await parsed(statement)).replace('MergeTree()', 'MergeTree'),
      )
    }
  })

  it('every table is replicated', async () => {
    const tables = statements.filter((one) => one.startsWith('CREATE TABLE'))
    expect(tables.length).toBeGreaterThan(9)
    for (const statement of tables)
      expect(await parsed(onCluster(statement, 'c'))).toMatch(
        /ENGINE = Replicated(Replacing)?MergeTree\('\/clickhouse\/tables\/\{shard\}\/\{database\}\/\{table\}', '\{replica\}'/,
      )
  })

  it('has settings the engine knows', async () => {
    const set = Object.entries(CLUSTER_SETTINGS).map(([name, value]) => `${name} = '${value}'`)
    expect(await store.query(`SELECT 1 AS one SETTINGS ${set.join(', ')}`)).toEqual([{ one: 1 }])
  })
})

it('rows and partitions go to one replica, which tells the others', () => {
  const inserts = statements.filter(isInsert)
  expect(inserts.length).toBeGreaterThan(0)
  for (const one of [
    ...inserts,
    'ALTER TABLE trade_rows ATTACH PARTITION ALL FROM r.trade_rows',
    'DELETE FROM t WHERE 1',
  ])
    expect(onCluster(one, 'c')).toBe(one)
})
