/** What the store lets go of, by chain time: the rows of older epochs, and second candles past their keeping. */
import type { Store } from '../core/store/port.js'
import { rowVersion, TABLES, type TableName } from '../core/store/tables.js'

export async function forgetOlderEpochs(store: Store, chain: string, epoch: number): Promise<void> {
  for (const table of Object.keys(TABLES) as TableName[]) {
    await store.command(`DELETE FROM ${table} WHERE chain = {chain:String} AND version < {version:UInt64}`, {
      chain,
      version: rowVersion(epoch, 0),
    })
  }
}

export async function forgetSecondCandles(store: Store, chain: string, beforeS: number): Promise<void> {
  await store.command(
    "DELETE FROM candle_rows WHERE chain = {chain:String} AND interval = 's1' AND time < toDateTime({before:UInt32}, 'UTC')",
    { chain, before: Math.max(0, Math.floor(beforeS)) },
  )
}
