import type { ServedChain } from '../../memory/served-chain.js'
import type { QueryLanes } from '../query-lanes.js'
import { type Flush, type NativeBalances, readNativeBalances, readTopHolders, type TopHolders } from '../top-holders.js'
import type { HotSeries, SeriesKind } from './hot-series.js'

type Stored<Facts> = {
  facts: Facts
  readAtMs: number
  /** When it was read, the store had every change: balances reach it only with a flush. */
  isFlushed: boolean
  /** An update changed it since. */
  isTouched: boolean
}

/** How long facts are used after they were read, whatever changes: the store is flushed at most once per second too. */
export type HoldersHold = { holdMs: number; nowMs: () => number }

const BYTES_A_HOLDER = 500
const BYTES_A_BALANCE = 200

/** `isHeld`: the store may have newer ones. */
export type Held<Facts> = { facts: Facts; isHeld: boolean }

export interface HotHolders {
  topHolders(state: ServedChain, token: string): Promise<Held<TopHolders>>
  /** Balances of the native coin of these holders of the token. */
  nativeBalances(state: ServedChain, native: string, token: string, holders: TopHolders): Promise<Held<NativeBalances>>
}

/** Kept until an update changes the token: every change of a balance or a trade has the token in its update. */
export function createHotHolders(
  lanes: QueryLanes,
  flush: Flush,
  series: HotSeries,
  { holdMs, nowMs }: HoldersHold,
): HotHolders {
  async function stored<Facts>(state: ServedChain, token: string, read: () => Promise<Facts>): Promise<Stored<Facts>> {
    const isFlushed = series.isFlushed(state, token)
    const facts = await read()
    return { facts, readAtMs: nowMs(), isFlushed, isTouched: false }
  }

  const isNewest = <Facts>({ isFlushed, isTouched }: Stored<Facts>) => isFlushed && !isTouched

  const isCurrent = <Facts>(kept: Stored<Facts>) => isNewest(kept) || nowMs() - kept.readAtMs < holdMs

  const touch = <Facts>(kept: Stored<Facts>) => {
    kept.isTouched = true
    return true
  }

  return {
    async topHolders(state, token) {
      const read = () => readTopHolders(lanes, flush, state, token)
      const kind: SeriesKind<Stored<TopHolders>> = {
        name: 'holders',
        load: () => stored(state, token, read),
        apply: touch,
        isCurrent,
        bytesOf: ({ facts }) => facts.balances.length * BYTES_A_HOLDER,
      }
      const kept = await series.of(state, token, kind)
      if (kept === undefined) return { facts: await read(), isHeld: false }
      return { facts: kept.facts, isHeld: !isNewest(kept) }
    },
    async nativeBalances(state, native, token, holders) {
      const read = async () => ({
        holders,
        balances: await readNativeBalances(lanes, flush, state.chain, native, holders),
      })
      const kind: SeriesKind<Stored<Awaited<ReturnType<typeof read>>>> = {
        name: `native/${token}`,
        load: () => stored(state, native, read),
        apply: touch,
        isCurrent: (kept) => kept.facts.holders === holders && isCurrent(kept),
        bytesOf: ({ facts }) => facts.balances.size * BYTES_A_BALANCE,
      }
      const kept = await series.of(state, native, kind)
      // Another request may have loaded it for holders that have changed since.
      if (kept?.facts.holders !== holders) return { facts: (await read()).balances, isHeld: false }
      return { facts: kept.facts.balances, isHeld: !isNewest(kept) }
    },
  }
}
