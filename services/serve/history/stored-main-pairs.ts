import type { MainPairChangeAt } from '../memory/event-overlay.js'
import type { ServedChain } from '../memory/served-chain.js'
import type { Queries } from './query-lanes.js'

/** A token's main pair switches in block order: stored switches merged with unflushed ones. */
export async function readMainPairSwitches(
  store: Queries,
  state: ServedChain,
  token: string,
): Promise<MainPairChangeAt[]> {
  const unflushed = state.events.mainPairs(token)
  const rows = await store.query<{ block_number: string; time_s: number; new_pair: string }>(
    `SELECT block_number, toUInt32(time) AS time_s, new_pair FROM main_pair_rows FINAL
     WHERE chain = {chain:String} AND token = {token:String} AND block_number <= {upTo:UInt64} ORDER BY block_number`,
    { chain: state.chain, token, upTo: state.events.storedUpToBlock },
  )
  const stored = rows.map(({ block_number, time_s, new_pair }) => ({
    ...{ blockNumber: Number(block_number), timeS: Number(time_s) },
    pair: new_pair === '' ? null : new_pair,
  }))
  const byBlock = new Map([...stored, ...unflushed].map((one) => [one.blockNumber, one]))
  return [...byBlock.values()].sort((a, b) => a.blockNumber - b.blockNumber)
}
