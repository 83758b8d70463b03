/**
 * Follows the buys of smart wallets of a chain while somebody subscribes to its signals, so that the buy that makes one is known when
 * its update is pushed. Trades of a chain that nobody subscribes to are not decoded for it.
 */
import type { Logger } from '../../core/runtime/logger.js'
import type { Store } from '../../core/store/port.js'
import { createQueryLanes } from '../history/query-lanes.js'
import { tradeAction } from '../history/signal-events.js'
import { readBuys, smartWalletsOf } from '../history/smart-buys.js'
import { createSmartWallets } from '../history/smart-wallets.js'
import { loadProgressOf } from '../memory/load-chain.js'
import type { Memory } from '../memory/memory.js'
import { type ServedChain, targetToken } from '../memory/served-chain.js'
import { SMART_BUYS } from '../signals/signal-rules.js'
import { SmartBuyBook, smartDayOf } from '../signals/smart-buy-book.js'
import { targetOf } from '../views/market-facts.js'
import type { ReplayRing } from './replay-ring.js'
import type { UpdateSnapshot } from './update-snapshot.js'

/** Which buys are signals, for pushes of an update and for its replay. */
export interface SmartBuySignals {
  /** Called with each update before it is pushed, in order. `isWanted`: somebody subscribes to the chain's signals. */
  note(update: UpdateSnapshot, isWanted: boolean, ring: Pick<ReplayRing, 'get'>): void
  isSignal(chain: string, token: string, pair: string, id: string): boolean
}

export interface SmartBuyFeed extends SmartBuySignals {
  stop(): void
}

export type SmartBuyDeps = {
  memory: Pick<Memory, 'chain' | 'onAdopted'>
  store: Store
  /** The chain's money, which makes no signals. */
  moneyOf: (chain: string) => readonly string[]
  /** For how long updates can be replayed. */
  ringSeconds: number
  logger: Logger
  nowMs: () => number
}

type Followed = {
  book: SmartBuyBook
  ring: Pick<ReplayRing, 'get'>
  /** The first update that was noted. */
  firstSeq: number
  /** Updates that wait for the buys before them; undefined: those are in. */
  waiting: UpdateSnapshot[] | undefined
  wantedAtS: number
}

const DAY_S = 86_400
const CHECK_EVERY_MS = 30_000
const RETRY_MS = 1_000
/** Of a store that does not answer: what it is asked for begins again later. */
const MOST_WAITING = 1_000
/** A reorg or a block whose time goes back changes nothing older. */
const MARGIN_S = 3_600

export function createSmartBuyFeed(deps: SmartBuyDeps): SmartBuyFeed {
  const { memory, store, moneyOf, logger, ringSeconds } = deps
  const lanes = createQueryLanes(store)
  const smart = createSmartWallets(lanes, async () => new Map(), deps)
  const followed = new Map<string, Followed>()
  const keptS = SMART_BUYS.withinS + ringSeconds + MARGIN_S
  let isChecking = false
  let timer: NodeJS.Timeout | undefined

  memory.onAdopted(({ chain }) => followed.delete(chain))

  /** Ranks for the days of the kept buys and, an hour before it begins, for the next one. Buys of before come from the store. */
  async function check(one: Followed, state: ServedChain): Promise<void> {
    const { chain, nowS } = state
    const ranks = { state, smart, money: moneyOf(chain) }
    const stored = await loadProgressOf(store, chain)
    if (stored === undefined || stored.epoch !== state.epoch) return
    const lastS = nowS + SMART_BUYS.rankedBeforeS
    for (let dayS = smartDayOf(Math.max(1, nowS - keptS)); dayS <= smartDayOf(lastS); dayS += DAY_S) {
      // What the ranking is made of must be stored.
      const isKnown = one.waiting === undefined && one.book.isRanked(dayS)
      if (isKnown || stored.now <= dayS - SMART_BUYS.rankedBeforeS) continue
      const wallets = await smartWalletsOf(ranks, dayS)
      if (one.waiting !== undefined) await fill(one, state, stored.number, dayS, wallets)
      one.book.rank(dayS, wallets)
    }
    if (one.waiting !== undefined) takeWaiting(one, one.waiting, stored.seq)
    one.book.forgetBefore(nowS - keptS)
  }

  async function fill(
    { book }: Followed,
    { chain, nowS, pairs }: ServedChain,
    upTo: number,
    dayS: number,
    wallets: readonly string[],
  ): Promise<void> {
    const money = moneyOf(chain)
    const range = { chain, upTo, from: Math.max(0, dayS, nowS - keptS), to: dayS + DAY_S }
    for (const row of await readBuys(lanes.cheap, range, wallets)) {
      const info = pairs.get(String(row.pair))?.info
      const token = info === undefined ? undefined : targetToken(info)
      if (token !== undefined && !money.includes(token)) book.add([{ ...tradeAction(row), token }])
    }
  }

  /** What is not stored yet is in the ring. */
  function takeWaiting(one: Followed, waiting: readonly UpdateSnapshot[], storedSeq: number): void {
    const between: UpdateSnapshot[] = []
    for (let seq = storedSeq + 1; seq < one.firstSeq; seq += 1) {
      const update = one.ring.get(seq)
      if (update === undefined) return
      between.push(update)
    }
    one.waiting = undefined
    for (const update of [...between, ...waiting]) take(one.book, update)
  }

  function take(book: SmartBuyBook, { chain, number, timeS, retracted, entries }: UpdateSnapshot): void {
    for (const { pair, ids } of retracted) book.remove(pair, ids)
    const money = moneyOf(chain)
    for (const { at, trades } of entries) {
      const token = targetOf(at.pair)
      if (trades.length === 0 || money.includes(token)) continue
      const good = trades.filter(({ sell, flags, wallet }) => !sell && flags === 0 && wallet !== '')
      const { pair } = at.pair
      book.add(
        good.map(({ id, wallet, tx_index, log_index, sub }) => ({
          ...{ pair, id, token, wallet, timeS, blockNumber: number, tx_index, log_index, sub },
        })),
      )
    }
  }

  async function checkAll(): Promise<void> {
    if (isChecking) return
    isChecking = true
    clearTimeout(timer)
    for (const [chain, one] of followed) {
      const state = memory.chain(chain)
      if (state === undefined) continue
      await check(one, state).catch((error: unknown) =>
        logger.warn('cannot rank wallets: no smart buys are pushed', { chain, error }),
      )
    }
    isChecking = false
    const isWaiting = [...followed.values()].some(({ waiting }) => waiting !== undefined)
    if (followed.size > 0) timer = setTimeout(() => void checkAll(), isWaiting ? RETRY_MS : CHECK_EVERY_MS).unref()
  }

  function follow({ chain, seq, nowS }: UpdateSnapshot, ring: Followed['ring']): Followed {
    const one: Followed = { book: new SmartBuyBook(), ring, firstSeq: seq, waiting: [], wantedAtS: nowS }
    followed.set(chain, one)
    void checkAll()
    return one
  }

  return {
    note(update, isWanted, ring) {
      const { chain, nowS } = update
      const known = followed.get(chain)
      if (known === undefined && !isWanted) return
      const one = known ?? follow(update, ring)
      if (isWanted) one.wantedAtS = nowS
      // Whoever left may come back and resume.
      const isLeft = one.wantedAtS < nowS - ringSeconds
      if (isLeft || (one.waiting?.length ?? 0) >= MOST_WAITING) followed.delete(chain)
      else if (one.waiting === undefined) take(one.book, update)
      else one.waiting.push(update)
    },
    isSignal: (chain, token, pair, id) => followed.get(chain)?.book.isSignal(token, pair, id) ?? false,
    stop() {
      followed.clear()
      clearTimeout(timer)
    },
  }
}
