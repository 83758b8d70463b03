/** A data directory from before trades were kept by wallet. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { engineExpected } from '../../rig/store-engine.js'
import { row } from '../../serve/rig.js'
import { trade } from '../../serve/updates.js'

const directory = mkdtempSync(join(tmpdir(), 'dextape-migration-'))
const store = await openStore(
  engineExpected
    ? { kind: 'embedded', path: join(directory, 'store') }
    : { kind: 'server', url: new URL(`migration_${process.pid}`, process.env.CLICKHOUSE_URL).href },
)
afterAll(async () => {
  await store.close()
  rmSync(directory, { recursive: true, force: true })
})

const stored = (block: number, wallet: string, version: number, isDeleted = 0) =>
  row('trade_rows', {
    ...trade({ wallet, id: `${block}-7` }),
    ...{ chain: 'eth', pair: 'p', time: 1_700_000_000 + block, block_number: block, sell: 0 },
    ...{ version, is_deleted: isDeleted },
  })

it('fills trades by wallet from the stored ones, without those a reorg removed', async () => {
  await store.migrate()
  // As before the migration.
  const views = ['wallet_trade_rows_fill', 'orphaned_block_rows_fill', 'wallet_trade_rows', 'orphaned_block_rows']
  for (const one of views) await store.command(`DROP TABLE ${one}`)
  await store.command("DELETE FROM migrations WHERE name = '0013_wallets'")
  const history = [stored(1, 'ann', 1), stored(2, 'ann', 2), stored(2, '', 3, 1), stored(2, 'ben', 4), stored(3, '', 5)]
  for (const one of history) await store.insert('trade_rows', one)
  expect(await store.migrate()).toEqual(['0013_wallets'])
  // Inserts after the migration, one of them a repetition.
  for (const one of [stored(3, 'ann', 6), stored(1, 'ann', 1)]) await store.insert('trade_rows', one)
  const rows = await store.query('SELECT wallet, block_number FROM wallet_trades ORDER BY block_number')
  expect(rows).toEqual([
    { wallet: 'ann', block_number: '1' },
    { wallet: 'ben', block_number: '2' },
    { wallet: 'ann', block_number: '3' },
  ])
})
