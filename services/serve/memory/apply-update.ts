import { ReadWindows, windowsIn } from '../../core/domain/kept-figures.js'
import { packWindows } from '../../core/domain/packed-windows.js'
import { eventsOf } from '../../core/domain/pair-events.js'
import type {
  BlockUpdate,
  MovedPair,
  MovedToken,
  PairUpdate,
  TokenInfo,
  TokenUpdate,
} from '../../core/domain/records.js'
import type { OpenCandle } from './open-candles.js'
import {
  detachFresh,
  dropPair,
  dropToken,
  markChanged,
  markRenamed,
  PairState,
  putPair,
  putToken,
  resetServedChain,
  type ServedChain,
  TokenState,
  targetDecimals,
  UNKNOWN_TOKEN,
} from './served-chain.js'
import type { WindowsSource } from './token-state.js'

export type Outcome =
  | { kind: 'applied'; applied: AppliedUpdate }
  /** Duplicate: republished after a crash or a lost acknowledgement. */
  | { kind: 'seen' }
  /** From an older epoch. */
  | { kind: 'stale' }

/** An applied update, with the earlier state that pushes need. */
export type AppliedUpdate = {
  state: ServedChain
  update: BlockUpdate
  /** Pairs removed by a retract, in their last state. */
  removedPairs: ReadonlyMap<string, PairState>
  /** Candles whose buckets this update closed. */
  closedCandles: readonly OpenCandle[]
  /** Open candles of removed pairs. */
  removedCandles: readonly OpenCandle[]
  /** Updates missing before this one. */
  missingUpdates: number
  /** When its block arrived and when it was appended, by the wall clock, where known. */
  arrivedMs?: number | undefined
  appendedMs?: number | undefined
}

/** Applies one complete update. The only writer of a chain's state. */
export function applyUpdate(state: ServedChain, update: BlockUpdate, wallMs: number): Outcome {
  if (update.epoch < state.epoch) return { kind: 'stale' }
  if (update.epoch > state.epoch) resetServedChain(state, update.epoch)
  if (update.seq <= state.seq) return { kind: 'seen' }
  const missingUpdates = countMissing(state, update)
  const { keeps } = state
  const closedCandles = keeps.pushes ? state.open.takeEnded(update.now) : []
  for (const pair of update.pairs) applyPair(state, update, pair)
  for (const moved of update.moved_pairs) movePair(state, moved, update.now)
  for (const token of update.tokens) applyToken(state, token)
  for (const moved of update.moved_tokens) moveToken(state, moved)
  for (const change of update.main_pair_changes) {
    const token = state.tokens.get(change.token)
    if (token !== undefined) token.main_pair = change.new_pair
  }
  if (keeps.history) {
    state.recent.apply(update, (pair) => targetDecimals(state, pair))
    state.events.apply(update)
  }
  const { removedPairs, removedCandles } = removeRetracted(state, update)
  detachFresh(state)
  moveHead(state, update, wallMs)
  return { kind: 'applied', applied: { state, update, removedPairs, closedCandles, removedCandles, missingUpdates } }
}

function countMissing(state: ServedChain, update: BlockUpdate): number {
  // An epoch starts at seq 0 or 1; a later first seq means that earlier updates are missing.
  const missing = Math.max(0, update.seq - Math.max(state.seq, 0) - 1)
  if (missing > 0) {
    state.gaps += 1
    state.lastGap = { epoch: update.epoch, after: state.seq, before: update.seq }
  }
  return missing
}

function applyPair(state: ServedChain, update: BlockUpdate, pair: PairUpdate): void {
  const known = state.pairs.get(pair.pair)
  const { candles } = eventsOf(pair)
  if (state.keeps.history) state.candles.put(pair.pair, candles, update)
  if (state.keeps.pushes) state.open.note(pair.pair, candles, update.now)
  const info = pair.info ?? known?.info
  // Without its info (an earlier update is missing) a pair cannot be served: its target token is unknown.
  if (info === undefined) return
  putPair(state, PairState.of(pair, info, update.now), known)
}

/** Only time has passed for this pair. */
function movePair(state: ServedChain, moved: MovedPair, nowS: number): void {
  const known = state.pairs.get(moved.pair)
  if (known !== undefined) putPair(state, known.at(moved, nowS), known)
}

function applyToken(state: ServedChain, token: TokenUpdate): void {
  const known = state.tokens.get(token.token)
  const info = token.info ?? known?.info ?? UNKNOWN_TOKEN
  const isRenamed = known !== undefined && known.info !== info && hasOtherName(known.info, info)
  if (isRenamed) markRenamed(state)
  const windows = windowsOf(state, token, token.main_pair) ?? known?.source ?? NO_TRADES
  putToken(state, new TokenState(token, info, windows), known)
}

function hasOtherName(a: TokenInfo, b: TokenInfo): boolean {
  return a.symbol !== b.symbol || a.decimals !== b.decimals
}

function moveToken(state: ServedChain, moved: MovedToken): void {
  const known = state.tokens.get(moved.token)
  if (known !== undefined) putToken(state, known.at(windowsOf(state, moved, known.main_pair)), known)
}

const NO_TRADES = new ReadWindows(packWindows([]))

/** Windows that are not repeated are those of the main pair's entry, which is applied already. */
function windowsOf(
  state: ServedChain,
  entry: TokenUpdate | MovedToken,
  mainPair: string | null,
): WindowsSource | undefined {
  const own = windowsIn(entry)
  return own.isEmpty ? state.pairs.get(mainPair ?? '') : own
}

function removeRetracted(
  state: ServedChain,
  update: BlockUpdate,
): Pick<AppliedUpdate, 'removedPairs' | 'removedCandles'> {
  const removedPairs = new Map<string, PairState>()
  const removedCandles: OpenCandle[] = []
  for (const { pair, gone: isGone } of update.retracted) {
    if (!isGone) continue
    const last = state.pairs.get(pair)
    if (last !== undefined) {
      removedPairs.set(pair, last)
      dropPair(state, last)
    }
    if (state.keeps.history) state.candles.hidePair(pair, update)
    if (state.keeps.pushes) removedCandles.push(...state.open.takeOf(pair))
  }
  for (const token of update.gone_tokens) dropToken(state, token)
  return { removedPairs, removedCandles }
}

function moveHead(state: ServedChain, update: BlockUpdate, wallMs: number): void {
  if (update.kind === 'retract') {
    const at = state.head.number
    state.lastReorg = { at_block: at, to_block: update.number, depth: at - update.number, time: update.time }
  }
  state.seq = update.seq
  state.head = { number: update.number, hash: update.hash, timeS: update.time }
  state.nowS = update.now
  state.finalized = update.finalized_number
  state.appliedAtMs = wallMs
  markChanged(state)
}
