import type { PairUpdate, TokenUpdate, Update } from '../../core/domain/records.js'
import type { HeldCandle } from './open-candles.js'
import {
  type ChainState,
  dropPair,
  type PairState,
  pairStateOf,
  putPair,
  resetChainState,
  targetDecimals,
  tokenStateOf,
  UNDESCRIBED,
} from './served-chain.js'

export type Outcome =
  | { kind: 'applied'; applied: Applied }
  /** Seen before: a replay after a crash, a lost acknowledgement. */
  | { kind: 'seen' }
  /** Of an epoch that is over. */
  | { kind: 'stale' }

/** An update that is now in memory, with what pushes need to know about the moment before it. */
export type Applied = {
  state: ChainState
  update: Update
  /** Pairs a retract took away, as they last were. */
  gone: ReadonlyMap<string, PairState>
  /** Candles whose buckets ended with it. */
  closed: readonly HeldCandle[]
  /** Open candles of pairs that are gone. */
  ended: readonly HeldCandle[]
  /** Updates missing before it. */
  missing: number
}

/** Applies one whole update. The only writer of a chain's state. */
export function applyUpdate(state: ChainState, update: Update, wallMs: number): Outcome {
  if (update.epoch < state.epoch) return { kind: 'stale' }
  if (update.epoch > state.epoch) resetChainState(state, update.epoch)
  if (update.seq <= state.seq) return { kind: 'seen' }
  const missing = noticeGap(state, update)
  const closed = state.open.takeEnded(update.now)
  for (const pair of update.pairs) applyPair(state, update, pair)
  for (const token of update.tokens) applyToken(state, token)
  for (const change of update.main_pair_changes) {
    const token = state.tokens.get(change.token)
    if (token !== undefined) token.main_pair = change.new_pair
  }
  state.recent.apply(update, (pair) => targetDecimals(state, pair))
  state.events.apply(update)
  const { gone, ended } = forget(state, update)
  moveHead(state, update, wallMs)
  return { kind: 'applied', applied: { state, update, gone, closed, ended, missing } }
}

function noticeGap(state: ChainState, update: Update): number {
  // An epoch's first update has seq 0 or 1; one that begins later is the rest of something cut away.
  const missing = Math.max(0, update.seq - Math.max(state.seq, 0) - 1)
  if (missing > 0) {
    state.gaps += 1
    state.lastGap = { epoch: update.epoch, after: state.seq, before: update.seq }
  }
  return missing
}

function applyPair(state: ChainState, update: Update, pair: PairUpdate): void {
  const known = state.pairs.get(pair.pair)
  for (const candle of pair.candles) state.candles.put(pair.pair, candle, update)
  state.open.note(pair.pair, pair.candles, update.now)
  const info = pair.info ?? known?.info
  // Without its description (an update lost before this one) a pair cannot be served: which token is the target is unknown.
  if (info === undefined) return
  putPair(state, pairStateOf(pair, info))
}

function applyToken(state: ChainState, token: TokenUpdate): void {
  const info = token.info ?? state.tokens.get(token.token)?.info ?? UNDESCRIBED
  state.tokens.set(token.token, tokenStateOf(token, info))
}

function forget(state: ChainState, update: Update): Pick<Applied, 'gone' | 'ended'> {
  const gone = new Map<string, PairState>()
  const ended: HeldCandle[] = []
  for (const { pair, gone: isGone } of update.retracted) {
    if (!isGone) continue
    const last = state.pairs.get(pair)
    if (last !== undefined) {
      gone.set(pair, last)
      dropPair(state, last)
    }
    state.candles.hidePair(pair, update)
    ended.push(...state.open.takeOf(pair))
  }
  for (const token of update.gone_tokens) state.tokens.delete(token)
  return { gone, ended }
}

function moveHead(state: ChainState, update: Update, wallMs: number): void {
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
