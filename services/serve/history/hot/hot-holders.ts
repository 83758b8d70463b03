import type { ServedChain } from '../../memory/served-chain.js'
import type { QueryLanes } from '../query-lanes.js'
import { type Flush, type NativeBalances, readNativeBalances, readTopHolders, type TopHolders } from '../top-holders.js'
import type { HotSeries, SeriesKind } from './hot-series.js'

/** Balances reach the store only with a flush: an answer from before it is valid until the next. */
type Stored<Facts> = { facts: Facts; flushedSeq: number; isFinal: boolean }

const BYTES_A_HOLDER = 500
const BYTES_A_BALANCE = 200

export interface HotHolders {
  topHolders(state: ServedChain, token: string): Promise<TopHolders>
  /** Balances of the native coin of these holders of the token. */
  nativeBalances(state: ServedChain, native: string, token: string, holders: TopHolders): Promise<NativeBalances>
}

/** Kept until an update changes the token: every change of a balance or a trade has the token in its update. */
export function createHotHolders(lanes: QueryLanes, flush: Flush, series: HotSeries): HotHolders {
  async function stored<Facts>(state: ServedChain, token: string, read: () => Promise<Facts>): Promise<Stored<Facts>> {
    const isFinal = series.isFlushed(state, token)
    const { seq: flushedSeq } = state.flushed
    return { facts: await read(), flushedSeq, isFinal }
  }

  const isCurrent = <Facts>({ isFinal, flushedSeq }: Stored<Facts>, state: ServedChain) =>
    isFinal || flushedSeq === state.flushed.seq

  return {
    async topHolders(state, token) {
      const read = () => readTopHolders(lanes, flush, state, token)
      const kind: SeriesKind<Stored<TopHolders>> = {
        name: 'holders',
        load: () => stored(state, token, read),
        apply: () => false,
        isCurrent,
        bytesOf: ({ facts }) => facts.balances.length * BYTES_A_HOLDER,
      }
      return (await series.of(state, token, kind))?.facts ?? read()
    },
    async nativeBalances(state, native, token, holders) {
      const read = async () => ({
        holders,
        balances: await readNativeBalances(lanes, flush, state.chain, native, holders),
      })
      const kind: SeriesKind<Stored<Awaited<ReturnType<typeof read>>>> = {
        name: `native/${token}`,
        load: () => stored(state, native, read),
        apply: () => false,
        isCurrent: (kept) => kept.facts.holders === holders && isCurrent(kept, state),
        bytesOf: ({ facts }) => facts.balances.size * BYTES_A_BALANCE,
      }
      const kept = await series.of(state, native, kind)
      // Another request may have loaded it for holders that have changed since.
      return kept?.facts.holders === holders ? kept.facts.balances : (await read()).balances
    },
  }
}
