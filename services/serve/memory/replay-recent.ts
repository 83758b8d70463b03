import { eventsOf } from '../../core/domain/pair-events.js'
import type { BlockUpdate, MovedPair, PairInfo, PairUpdate, TokenInfo } from '../../core/domain/records.js'
import { type EventLog, updatesTopic } from '../../core/log/port.js'
import type { Store } from '../../core/store/port.js'
import type { AppliedUpdate } from './apply-update.js'
import { isAtOrBefore } from './candle-overlay.js'
import { loadOpenCandles } from './load-recent.js'
import { createOpenCandles, type OpenCandles } from './open-candles.js'
import { readUpdates, type UpdateCodec } from './read-updates.js'
import { PairState, type ServedChain, UNKNOWN_TOKEN } from './served-chain.js'

/** Pairs and tokens right after an update. */
export type StateView = {
  pair(address: string): PairState | undefined
  info(token: string): TokenInfo
  mainPair(token: string): string | null
}

export function viewOf(state: ServedChain): StateView {
  return {
    pair: (address) => state.pairs.get(address),
    info: (token) => state.tokens.get(token)?.info ?? UNKNOWN_TOKEN,
    mainPair: (token) => state.tokens.get(token)?.main_pair ?? null,
  }
}

/** An update already in the loaded state, with the state that its pushes need. */
export type ReplayedUpdate = Pick<AppliedUpdate, 'update' | 'removedPairs' | 'closedCandles' | 'removedCandles'> & {
  view: StateView
  /** The replayed updates up to this seq, which may be this one, are not as they were: -1 if all are. */
  inexactThrough: number
}

/** How much history to replay. */
export type ReplayLimits = { seconds: number; bytes: number }

export type ReplayDeps = {
  log: EventLog
  store: Store
  codec: UpdateCodec
  replay: ReplayLimits
  onReplayed: (state: ServedChain, past: ReplayedUpdate) => void
}

/** Extra records read first, to find an update after which the open candles are certain. */
const MARGIN_RECORDS = 32

/**
 * Replays the recent updates of a loaded state so that their pushes can be sent again. Starts with the candles that were
 * open before them. False if it did not come to the state's last update: its open candles are then not known from it.
 */
export async function replayRecent(deps: ReplayDeps, state: ServedChain): Promise<boolean> {
  const open = createOpenCandles()
  const past = createPastView(state, open)
  let highestNowS = Number.NaN
  let last: BlockUpdate | undefined
  for await (const update of tail(deps, state)) {
    if (update.epoch !== state.epoch || (last !== undefined && update.seq <= last.seq)) continue
    // Open candles are certain only after an update that advances the chain time: none of them was pushed as closed.
    const isSure = update.now > highestNowS && isAtOrBefore(update, state.flushed)
    highestNowS = Math.max(update.now, Number.isNaN(highestNowS) ? update.now : highestNowS)
    if (last?.seq === update.seq - 1) {
      deps.onReplayed(state, past.step(update))
    } else {
      deps.onReplayed(state, past.begin(update))
      if (!isSure) continue
      await loadOpenCandles(deps.store, state.chain, open, update)
    }
    last = update
  }
  if (last?.seq !== state.seq) return false
  state.open = open
  return true
}

/**
 * Complete updates within the replay limits, up to the state's position. Begins as long again before: what a pair was when
 * its candle closed is known only after an update that has the pair.
 */
async function* tail({ log, codec, replay }: ReplayDeps, state: ServedChain): AsyncGenerator<BlockUpdate> {
  const topic = updatesTopic(state.chain)
  const { start, end, bytes } = await log.info(topic)
  const meanBytes = Math.max(1, bytes / Math.max(1, end - start))
  const inTime = await log.offsetAt(topic, Math.max(0, state.nowS - 2 * replay.seconds) * 1000)
  const from = Math.max(start, inTime - MARGIN_RECORDS, Math.floor(end - replay.bytes / meanBytes))
  for await (const update of readUpdates({ log, codec }, topic, from)) {
    if (!isAtOrBefore(update, state)) return
    yield update
  }
}

/** Pairs and tokens as of the replayed update; the others as in the loaded state. */
function createPastView(state: ServedChain, open: OpenCandles) {
  const pairs = new Map<string, PairState | undefined>()
  /** Those of `pairs` of which only the windows are known; the rest is as in the loaded state. */
  const moved = new Set<string>()
  /** Pairs that a replayed update was the first to have. */
  const born = new Set<string>()
  const infos = new Map<string, TokenInfo>()
  const mains = new Map<string, string | null>()
  /** Tokens used before a replayed update carried their info. */
  const assumed = new Set<string>()
  /** Pairs used before a replayed update had them, with the seq of their last use. */
  const assumedPairs = new Map<string, number>()
  const now = viewOf(state)
  const view: StateView = {
    pair: (address) => (pairs.has(address) ? pairs.get(address) : now.pair(address)),
    info: (token) => infos.get(token) ?? now.info(token),
    mainPair: (token) => (mains.has(token) ? (mains.get(token) ?? null) : now.mainPair(token)),
  }

  function takePair(pair: PairUpdate, nowS: number): void {
    const info = pair.info ?? view.pair(pair.pair)?.info
    if (info === undefined) return
    pairs.set(pair.pair, PairState.of(pair, info, nowS))
    moved.delete(pair.pair)
    if (pair.info !== null) born.add(pair.pair)
    assumeTokens(info)
  }

  function assumeTokens({ token0, token1 }: PairInfo): void {
    for (const token of [token0, token1]) if (!infos.has(token)) assumed.add(token)
  }

  function takeMoved(change: MovedPair, nowS: number): void {
    const known = view.pair(change.pair)
    if (known === undefined) return
    if (!pairs.has(change.pair)) moved.add(change.pair)
    pairs.set(change.pair, known.at(change, nowS))
  }

  function assume(pair: string, seq: number): void {
    if (pairs.has(pair) && !moved.has(pair)) return
    assumedPairs.set(pair, seq)
    const known = now.pair(pair)
    if (known !== undefined) assumeTokens(known.info)
  }

  /** The seq up to which a pair's assumed state, which this update changes, was used. */
  function usesOf(pair: string): number {
    const usedAt = assumedPairs.get(pair) ?? -1
    assumedPairs.delete(pair)
    return usedAt
  }

  /** False if new info shows that the info assumed earlier may have been wrong. */
  function takeInfos(update: BlockUpdate): boolean {
    let isSure = true
    for (const { token, info, main_pair } of update.tokens) {
      mains.set(token, main_pair)
      if (info === null) continue
      // On a bonding curve only the progress changes; a retract repeats earlier info.
      const isProgress =
        update.kind === 'retract' || (info.launch_platform !== null && info.launch_stage !== 'graduated')
      if (assumed.has(token) && !infos.has(token) && !isProgress) isSure = false
      infos.set(token, info)
    }
    return isSure
  }

  /** Returns the seq up to which earlier steps were inexact, as this update shows: -1 if none. */
  function take(update: BlockUpdate): number {
    let inexactThrough = takeInfos(update) ? -1 : update.seq - 1
    for (const { pair } of [...update.pairs, ...update.moved_pairs, ...update.retracted])
      inexactThrough = Math.max(inexactThrough, usesOf(pair))
    for (const pair of update.pairs) takePair(pair, update.now)
    for (const change of update.moved_pairs) takeMoved(change, update.now)
    for (const { token, new_pair } of update.main_pair_changes) mains.set(token, new_pair)
    return inexactThrough
  }

  return {
    /** Forgets what it knows of earlier updates. This one is not exact: what it closed is unknown. */
    begin(update: BlockUpdate): ReplayedUpdate {
      for (const kept of [pairs, moved, born, infos, mains, assumed, assumedPairs]) kept.clear()
      take(update)
      const nothing = { removedPairs: new Map(), closedCandles: [], removedCandles: [] }
      return { update, ...nothing, view, inexactThrough: update.seq }
    },
    /** Repeats what applying the update did, open candles included. */
    step(update: BlockUpdate): ReplayedUpdate {
      let inexactThrough = take(update)
      const closedCandles = open.takeEnded(update.now)
      for (const { pair } of closedCandles) assume(pair, update.seq)
      for (const entry of update.pairs) open.note(entry.pair, eventsOf(entry).candles, update.now)
      const removedPairs = new Map<string, PairState>()
      for (const { pair, gone: isGone } of update.retracted) {
        if (!isGone) continue
        const lastState = view.pair(pair)
        if (lastState !== undefined) removedPairs.set(pair, lastState)
        // The store no longer has the candles it had open before the first replayed update.
        if (!born.has(pair)) inexactThrough = update.seq
        pairs.set(pair, undefined)
      }
      const removedCandles = update.retracted.flatMap((one) => (one.gone ? open.takeOf(one.pair) : []))
      return { update, removedPairs, closedCandles, removedCandles, view, inexactThrough }
    },
  }
}
