/** A ClickHouse for the queries of the rig: the server in CLICKHOUSE_URL, else the in-process engine. */
import { readFileSync } from 'node:fs'
import { type ClickHouseClient, createClient } from '@clickhouse/client'

export type ScratchEngine = {
  /** The table `trade_rows` of the migrations, filled with JSONCompactEachRow lines; returns its full name. */
  loadTrades(lines: string): Promise<string>
  rows<Row>(sql: string): Promise<Row[]>
  close(): Promise<void>
}

export async function openScratchEngine(): Promise<ScratchEngine> {
  const client = await connect()
  const database = `rig_${process.pid}_${Date.now()}`
  const schema = readFileSync(new URL('../../schemas/clickhouse/0001_events.sql', import.meta.url), 'utf8')
  const create = /CREATE TABLE IF NOT EXISTS trade_rows [^;]+/.exec(schema)?.[0]
  if (create === undefined) throw new Error('no table trade_rows in schemas/clickhouse/0001_events.sql')
  await client.command({ query: `CREATE DATABASE ${database}` })
  return {
    async loadTrades(lines) {
      await client.command({ query: create.replace('trade_rows', `${database}.trade_rows`) })
      const values = lines.trim().split('\n').map((line) => JSON.parse(line) as unknown[]) // biome-ignore format: one step a dot
      await client.insert({ table: `${database}.trade_rows`, values, format: 'JSONCompactEachRow' })
      return `${database}.trade_rows`
    },
    async rows<Row>(sql: string) {
      const result = await client.query({ query: sql, format: 'JSONEachRow' })
      return result.json<Row>()
    },
    async close() {
      await client.command({ query: `DROP DATABASE ${database}` })
      await client.close()
    },
  }
}

async function connect(): Promise<ClickHouseClient> {
  const url = process.env.CLICKHOUSE_URL
  if (url !== undefined) return createClient({ url })
  const { createChdbConnection } = await import('chdb/connection')
  // The client accepts an existing connection, although its published option types omit it.
  return createClient({ connection: createChdbConnection({ path: ':memory:' }) } as unknown as Parameters<
    typeof createClient
  >[0])
}
