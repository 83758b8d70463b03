import type { PairInfo, TokenInfo } from '../../core/domain/records.js'
import { type CandleOverlay, createCandleOverlay, isAtOrBefore, type Position } from './candle-overlay.js'
import { type CreatedTokens, createCreatedTokens } from './created-tokens.js'
import { createEventOverlay, type EventOverlay } from './event-overlay.js'
import { createNameIndex, type NameIndex } from './name-index.js'
import { createOpenCandles, DETACH_AFTER_UPDATES, type OpenCandles } from './open-candles.js'
import { PairState } from './pair-state.js'
import { createRecentTrades, type RecentTrades } from './recent-trades.js'
import { TokenState } from './token-state.js'

export { PairState, TokenState }

/** Below any update's seq. */
export const NOTHING_APPLIED = -1

export type LastReorg = { at_block: number; to_block: number; depth: number; time: number }

/** What REST and push need beside pairs and tokens: where each has a thread of its own, each keeps only its part. */
export type Keeps = {
  /** For REST: what the store does not have yet, and the trades of the last minutes. */
  history: boolean
  /** For push: the open candles, and recent updates to replay. */
  pushes: boolean
}

export const KEEPS_ALL: Keeps = { history: true, pushes: true }

export type ServedChain = {
  readonly chain: string
  readonly keeps: Keeps
  /** Of its last change of any kind; no two changes of a process have the same. */
  revision: number
  /** Of the last change that shows in answers about ranges that are final: an epoch, a token's name, a curve of a pair. */
  namesRevision: number
  epoch: number
  seq: number
  /** Loaded pairs and tokens may be as of later updates, up to this seq: their rows are stored before the progress. */
  loadedThrough: number
  head: { number: number; hash: string; timeS: number }
  /** The highest block time so far: "now" in every response about this chain. */
  nowS: number
  finalized: number
  lastReorg: LastReorg | null
  pairs: Map<string, PairState>
  tokens: Map<string, TokenState>
  /** Those whose bytes may still be part of a chunk of the log. */
  fresh: FreshStates
  /** For REST. */
  created: CreatedTokens
  /** For REST: tokens by symbol, name and address. */
  names: NameIndex
  targetPairs: PairsByToken
  quotePairs: PairsByToken
  recent: RecentTrades
  candles: CandleOverlay
  events: EventOverlay
  /** The store has everything up to here. */
  flushed: Position
  /** Open candles, flushed or not. */
  open: OpenCandles
  /** Gaps in seq since startup; each is also logged and counted. */
  gaps: number
  lastGap: { epoch: number; after: number; before: number } | null
  /** Wall clock of the last applied update. */
  appliedAtMs: number
  /** Why the chain stopped, if it did. */
  stopped: string | null
}

export type FreshStates = { states: (PairState | TokenState)[]; updates: number }

let revision = 0
const nextRevision = (): number => ++revision

/** Of the newest change of any chain. */
export const newestRevision = (): number => revision

export function markChanged(state: ServedChain): void {
  state.revision = nextRevision()
}

export function markRenamed(state: ServedChain): void {
  state.namesRevision = nextRevision()
}

export function createServedChain(chain: string, keeps: Keeps = KEEPS_ALL): ServedChain {
  return {
    chain,
    keeps,
    revision: nextRevision(),
    namesRevision: nextRevision(),
    epoch: 0,
    seq: NOTHING_APPLIED,
    loadedThrough: NOTHING_APPLIED,
    head: { number: 0, hash: '', timeS: 0 },
    nowS: 0,
    finalized: 0,
    lastReorg: null,
    pairs: new Map(),
    tokens: new Map(),
    fresh: { states: [], updates: 0 },
    created: createCreatedTokens(),
    names: createNameIndex(),
    targetPairs: createPairsByToken(),
    quotePairs: createPairsByToken(),
    recent: createRecentTrades(),
    candles: createCandleOverlay(),
    events: createEventOverlay(),
    flushed: { epoch: -1, seq: -1 },
    open: createOpenCandles(),
    gaps: 0,
    lastGap: null,
    appliedAtMs: 0,
    stopped: null,
  }
}

/** Clears the state of an older epoch. The gap count stays: it is per process. */
export function resetServedChain(state: ServedChain, epoch: number): void {
  state.epoch = epoch
  state.seq = NOTHING_APPLIED
  state.pairs.clear()
  state.tokens.clear()
  state.fresh.states = []
  state.created.clear()
  state.names = createNameIndex()
  state.targetPairs.clear()
  state.quotePairs.clear()
  state.recent.clear()
  state.candles.clear()
  state.open.clear()
  state.events.clear()
  markRenamed(state)
}

/** Drops what the store has flushed. */
export function trimFlushed(state: ServedChain, flushed: Position): void {
  state.candles.trim(flushed)
  state.events.trim(flushed)
  if (isAtOrBefore(flushed, state.flushed)) return
  state.flushed = { epoch: flushed.epoch, seq: flushed.seq }
  markChanged(state)
}

export function targetToken({ target, token0, token1 }: PairInfo): string {
  return target === 0 ? token0 : token1
}

export function quoteToken({ target, token0, token1 }: PairInfo): string {
  return target === 0 ? token1 : token0
}

/** Sets a pair's state. A pair's target token never changes. */
export function putPair(state: ServedChain, pair: PairState, known: PairState | undefined): void {
  state.fresh.states.push(pair)
  if (known !== undefined) known.isReplaced = true
  else {
    if (isCurve(pair.pair)) markRenamed(state)
    state.targetPairs.add(targetToken(pair.info), pair.pair)
    state.quotePairs.add(quoteToken(pair.info), pair.pair)
  }
  state.pairs.set(pair.pair, pair)
}

/** Sets a token's state. */
export function putToken(state: ServedChain, token: TokenState, known: TokenState | undefined): void {
  state.fresh.states.push(token)
  if (known !== undefined) known.isReplaced = true
  if (state.keeps.history) {
    state.names.put(token, known)
    state.created.put(token, known)
  }
  state.tokens.set(token.token, token)
}

/** Called after each update. */
export function detachFresh({ fresh }: ServedChain): void {
  fresh.updates += 1
  if (fresh.updates % DETACH_AFTER_UPDATES !== 0) return
  for (const one of fresh.states) if (!one.isReplaced) one.detach()
  fresh.states = []
}

export function dropToken(state: ServedChain, token: string): void {
  const known = state.tokens.get(token)
  if (known === undefined) return
  state.names.drop(known)
  state.created.drop(known)
  state.tokens.delete(token)
}

export function dropPair(state: ServedChain, pair: PairState): void {
  if (isCurve(pair.pair)) markRenamed(state)
  state.targetPairs.remove(targetToken(pair.info), pair.pair)
  state.quotePairs.remove(quoteToken(pair.info), pair.pair)
  state.pairs.delete(pair.pair)
}

/** A bonding curve without a pool address is the pair `<token>_fo`. */
export const curvePair = (token: string): string => `${token}${CURVE_SUFFIX}`
const CURVE_SUFFIX = '_fo'

/** The answers about a token's other pairs name its curve. */
function isCurve(pair: string): boolean {
  return pair.endsWith(CURVE_SUFFIX)
}

/** Null: unknown decimals; undefined: unknown pair. */
export function targetDecimals(state: ServedChain, pair: string): number | null | undefined {
  const info = state.pairs.get(pair)?.info
  return info === undefined ? undefined : (state.tokens.get(targetToken(info))?.info.decimals ?? null)
}

/** Info of a token without any known facts. */
export const UNKNOWN_TOKEN: TokenInfo = {
  ...{ name: null, symbol: null, decimals: null, total_supply: null, owner: null, risk: null, logo_url: null },
  ...{ links: null, created_at: 0, launch_platform: null, launch_stage: null, launch_progress: Number.NaN },
  ...{ launch_pool: null, launch_at: 0, burnt_supply: null, launch_price: null, holders_since: null },
}

const NONE: readonly string[] = []

/** Pairs by the token on one side (target or quote), in the order they were added. */
export interface PairsByToken {
  /** Adds a new pair. */
  add(token: string, pair: string): void
  remove(token: string, pair: string): void
  of(token: string): readonly string[]
  clear(): void
}

export function createPairsByToken(): PairsByToken {
  const byToken = new Map<string, string[]>()
  return {
    add(token, pair) {
      const pairs = byToken.get(token)
      if (pairs === undefined) byToken.set(token, [pair])
      else pairs.push(pair)
    },
    remove(token, pair) {
      const left = (byToken.get(token) ?? NONE).filter((one) => one !== pair)
      if (left.length === 0) byToken.delete(token)
      else byToken.set(token, left)
    },
    of: (token) => byToken.get(token) ?? NONE,
    clear: () => byToken.clear(),
  }
}
