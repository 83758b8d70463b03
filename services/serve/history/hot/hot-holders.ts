import type { ServedChain } from '../../memory/served-chain.js'
import { createHolderReads } from '../holder-reads.js'
import type { QueryLanes } from '../query-lanes.js'
import { type Flush, type NativeBalances, readTopHolders, type TopHolders, walletsOf } from '../top-holders.js'
import type { HotSeries, SeriesKind } from './hot-series.js'
import { HotTopHolders } from './hot-top-holders.js'

/** How long facts are used after they were read, whatever changes: the store is flushed at most once per second too. */
export type HoldersHold = { holdMs: number; nowMs: () => number }

const BYTES_A_HOLDER = 500
const BYTES_A_BALANCE = 200

/** `isCurrent`: while no update is applied, another reading would give the same. */
export type Holders = TopHolders & { natives: NativeBalances; isCurrent: () => boolean }

export interface HotHolders {
  /** The largest holders of a token. `native`: the token whose balances they are wanted with, if any. */
  holders(state: ServedChain, token: string, native: string | undefined): Promise<Holders>
}

type Natives = {
  wallets: ReadonlySet<string>
  balances: NativeBalances
  readAtMs: number
  /** When it was read, the store had every change: balances reach it only with a flush. */
  isFlushed: boolean
  /** An update changed it since. */
  isTouched: boolean
}
type Kept = { readAtMs: number; isNewest: boolean }
/** Facts, and whether another reading would give the same. */
type Held<Facts> = { facts: Facts; isCurrent: () => boolean }

/** A token that was asked for lately. */
type Followed = {
  state: ServedChain
  token: string
  native: string | undefined
  isReading: boolean
  last: Holders | undefined
  askedMs: number
}
/** More of them would make the queries long that all wait for. */
const MOST_FOLLOWED = 50
const FOLLOWED_HOLDS = 2

const ALWAYS = () => true
const NO_NATIVES: Held<NativeBalances> = { facts: new Map(), isCurrent: ALWAYS }

/** Kept until an update changes the token: every change of a balance or a trade has the token in its update. */
export function createHotHolders(
  lanes: QueryLanes,
  flush: Flush,
  series: HotSeries,
  { holdMs, nowMs }: HoldersHold,
): HotHolders {
  const reads = createHolderReads(lanes)
  /** Tokens by chain and address, least recently asked for first. */
  const followed = new Map<string, Followed>()

  const isCurrent = ({ isNewest, readAtMs }: Kept) => isNewest || nowMs() - readAtMs < holdMs

  async function topHolders(state: ServedChain, token: string): Promise<Held<TopHolders>> {
    const kind: SeriesKind<HotTopHolders> = {
      name: 'holders',
      async load() {
        const isFlushed = () => series.isFlushed(state, token)
        const holders = new HotTopHolders({ lanes, reads, flush, nowMs }, state, token, isFlushed)
        await holders.refresh()
        return holders
      },
      apply(holders, { update }) {
        holders.touch(update)
        return true
      },
      bytesOf: ({ holders }) => holders * BYTES_A_HOLDER,
    }
    const found = series.of(state, token, kind)
    const kept = await found
    if (kept === undefined) return { facts: await readTopHolders(lanes, flush, state, token), isCurrent: ALWAYS }
    // What was loaded for this request is as new as it can be.
    if (!(found instanceof Promise) && !isCurrent(kept)) await kept.refresh()
    const { facts } = kept
    return { facts, isCurrent: () => kept.facts === facts && isCurrent(kept) }
  }

  async function nativeBalances(
    state: ServedChain,
    native: string,
    token: string,
    wallets: readonly string[],
  ): Promise<Held<NativeBalances>> {
    const { chain } = state
    const read = async () => {
      await flush(chain)
      return reads.balances({ chain, token: native, wallets })
    }
    const keptOf = ({ readAtMs, isFlushed, isTouched }: Natives): Kept => ({
      readAtMs,
      isNewest: isFlushed && !isTouched,
    })
    const hasAll = (natives: Natives) => wallets.every((wallet) => natives.wallets.has(wallet))
    const kind: SeriesKind<Natives> = {
      name: `native/${token}`,
      async load() {
        const isFlushed = series.isFlushed(state, native)
        const balances = await read()
        return { wallets: new Set(wallets), balances, readAtMs: nowMs(), isFlushed, isTouched: false }
      },
      apply(natives) {
        natives.isTouched = true
        return true
      },
      isCurrent: (natives) => hasAll(natives) && isCurrent(keptOf(natives)),
      bytesOf: (natives) => natives.wallets.size * BYTES_A_BALANCE,
    }
    const natives = await series.of(state, native, kind)
    // Another request may have loaded it for holders that have changed since.
    if (natives === undefined || !hasAll(natives)) return { facts: await read(), isCurrent: ALWAYS }
    return { facts: natives.balances, isCurrent: () => isCurrent(keptOf(natives)) }
  }

  async function read(state: ServedChain, token: string, native: string | undefined): Promise<Holders> {
    const top = await topHolders(state, token)
    const wallets = walletsOf(top.facts.balances)
    const natives = native === undefined ? NO_NATIVES : await nativeBalances(state, native, token, wallets)
    const isBothCurrent = () => top.isCurrent() && natives.isCurrent()
    return { ...top.facts, natives: natives.facts, isCurrent: isBothCurrent }
  }

  /** Reads those that were asked for lately together with the one that has to be read now: that takes hardly longer. */
  function readOthers(state: ServedChain): void {
    for (const [key, one] of followed) {
      if (nowMs() - one.askedMs >= FOLLOWED_HOLDS * holdMs) followed.delete(key)
      else if (one.state === state && !one.isReading && one.last?.isCurrent() === false)
        void readFollowed(one).catch(() => undefined)
    }
  }

  async function readFollowed(one: Followed): Promise<Holders> {
    one.isReading = true
    try {
      one.last = await read(one.state, one.token, one.native)
      return one.last
    } finally {
      one.isReading = false
    }
  }

  function follow(state: ServedChain, token: string, native: string | undefined): Followed {
    const key = `${state.chain} ${token}`
    const known = followed.get(key)
    followed.delete(key)
    const isSame = known?.state === state && known.native === native
    const one = isSame ? known : { state, token, native, isReading: false, last: undefined, askedMs: 0 }
    one.askedMs = nowMs()
    followed.set(key, one)
    for (const oldest of followed.keys()) if (followed.size > MOST_FOLLOWED) followed.delete(oldest)
    return one
  }

  return {
    holders(state, token, native) {
      const one = follow(state, token, native)
      if (one.last?.isCurrent() === false) readOthers(state)
      return readFollowed(one)
    },
  }
}
