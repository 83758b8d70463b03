import type { Store } from '../../core/store/port.js'
import type { ChainState } from '../memory/served-chain.js'
import type { MainPairSwitch } from '../memory/event-overlay.js'
import type { Segment } from './candle-history.js'
import type { HistoryInterval } from './intervals.js'

/** Which pair's candles are the token's: in each bucket those of the pair that is main at its end. */
export async function mainPairSegments(
  store: Store,
  state: ChainState,
  token: string,
  interval: HistoryInterval,
): Promise<Segment[]> {
  const segments: Segment[] = []
  for (const { pair, timeS } of await mainPairSwitches(store, state, token)) {
    const fromS = interval.startOf(timeS)
    // A switch later in the same bucket, or one whose time went back, replaces what it overlaps.
    while ((segments.at(-1)?.fromS ?? -1) >= fromS) segments.pop()
    const last = segments.at(-1)
    if (last !== undefined) last.toS = fromS - 1
    segments.push({ pair: pair ?? '', fromS, toS: Number.MAX_SAFE_INTEGER })
  }
  return segments.filter(({ pair }) => pair !== '')
}

/** In block order: the store's, with the unflushed ones laid over them. */
async function mainPairSwitches(store: Store, state: ChainState, token: string): Promise<MainPairSwitch[]> {
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
