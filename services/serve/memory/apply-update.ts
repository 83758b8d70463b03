import type { PairUpdate, TokenUpdate, Update } from '../../core/domain/records.js'
import type { OpenCandle } from './open-candles.js'
import {
  dropPair,
  type PairState,
  pairStateOf,
  putPair,
  resetServedChain,
  type ServedChain,
  targetDecimals,
  tokenStateOf,
  UNKNOWN_TOKEN,
} from './served-chain.js'

export type Outcome =
  | { kind: 'applied'; applied: AppliedUpdate }
  /** Duplicate: republished after a crash or a lost acknowledgement. */
  | { kind: 'seen' }
  /** From an older epoch. */
  | { kind: 'stale' }

/** An applied update, with the earlier state that pushes need. */
export type AppliedUpdate = {
  state: ServedChain
  update: Update
  /** Pairs removed by a retract, in their last state. */
  removedPairs: ReadonlyMap<string, PairState>
  /** Candles whose buckets this update closed. */
  closedCandles: readonly OpenCandle[]
  /** Open candles of removed pairs. */
  removedCandles: readonly OpenCandle[]
  /** Updates missing before this one. */
  missingUpdates: number
}

/** Applies one complete update. The only writer of a chain's state. */
export function applyUpdate(state: ServedChain, update: Update, wallMs: number): Outcome {
  if (update.epoch < state.epoch) return { kind: 'stale' }
  if (update.epoch > state.epoch) resetServedChain(state, update.epoch)
  if (update.seq <= state.seq) return { kind: 'seen' }
  const missingUpdates = countMissing(state, update)
  const closedCandles = state.open.takeEnded(update.now)
  for (const pair of update.pairs) applyPair(state, update, pair)
  for (const token of update.tokens) applyToken(state, token)
  for (const change of update.main_pair_changes) {
    const token = state.tokens.get(change.token)
    if (token !== undefined) token.main_pair = change.new_pair
  }
  state.recent.apply(update, (pair) => targetDecimals(state, pair))
  state.events.apply(update)
  const { removedPairs, removedCandles } = removeRetracted(state, update)
  moveHead(state, update, wallMs)
  return { kind: 'applied', applied: { state, update, removedPairs, closedCandles, removedCandles, missingUpdates } }
}

function countMissing(state: ServedChain, update: Update): number {
  // An epoch starts at seq 0 or 1; a later first seq means that earlier updates are missing.
  const missing = Math.max(0, update.seq - Math.max(state.seq, 0) - 1)
  if (missing > 0) {
    state.gaps += 1
    state.lastGap = { epoch: update.epoch, after: state.seq, before: update.seq }
  }
  return missing
}

function applyPair(state: ServedChain, update: Update, pair: PairUpdate): void {
  const known = state.pairs.get(pair.pair)
  for (const candle of pair.candles) state.candles.put(pair.pair, candle, update)
  state.open.note(pair.pair, pair.candles, update.now)
  const info = pair.info ?? known?.info
  // Without its info (an earlier update is missing) a pair cannot be served: its target token is unknown.
  if (info === undefined) return
  putPair(state, pairStateOf(pair, info, update.now))
}

function applyToken(state: ServedChain, token: TokenUpdate): void {
  const info = token.info ?? state.tokens.get(token.token)?.info ?? UNKNOWN_TOKEN
  state.tokens.set(token.token, tokenStateOf(token, info))
}

function removeRetracted(state: ServedChain, update: Update): Pick<AppliedUpdate, 'removedPairs' | 'removedCandles'> {
  const removedPairs = new Map<string, PairState>()
  const removedCandles: OpenCandle[] = []
  for (const { pair, gone: isGone } of update.retracted) {
    if (!isGone) continue
    const last = state.pairs.get(pair)
    if (last !== undefined) {
      removedPairs.set(pair, last)
      dropPair(state, last)
    }
    state.candles.hidePair(pair, update)
    removedCandles.push(...state.open.takeOf(pair))
  }
  for (const token of update.gone_tokens) state.tokens.delete(token)
  return { removedPairs, removedCandles }
}

function moveHead(state: ServedChain, update: Update, wallMs: number): void {
  if (update.kind === 'retract') {
    const at = state.head.number
    state.lastReorg = { at_block: at, to_block: update.number, depth: at - update.number, time: update.time }
  }
  state.seq = update.seq
  state.head = { number: update.number, hash: update.hash, timeS: update.time }
  state.nowS = update.now
  state.finalized = update.finalized_number
  state.appliedAtMs = wallMs
}
