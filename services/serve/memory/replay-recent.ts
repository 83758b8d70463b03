import type { BlockUpdate, MovedPair, PairUpdate, TokenInfo } from '../../core/domain/records.js'
import { type EventLog, updatesTopic } from '../../core/log/port.js'
import type { Store } from '../../core/store/port.js'
import type { AppliedUpdate } from './apply-update.js'
import { isAtOrBefore } from './candle-overlay.js'
import { loadOpenCandles } from './load-recent.js'
import { createUpdateAssembler, decodeUpdates, type UpdateCodec } from './read-updates.js'
import { movedPairState, type PairState, pairStateOf, type ServedChain, UNKNOWN_TOKEN } from './served-chain.js'

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
  /** Replay starts here: earlier updates cannot be reproduced exactly. */
  isFirst: boolean
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

const BATCH_RECORDS = 256
/** Extra records read first, to find an update after which the open candles are certain. */
const MARGIN_RECORDS = 32

/**
 * Replays the recent updates of a loaded state so that their pushes can be sent again. Starts with the candles that were
 * open before them; the open candles are current afterwards.
 */
export async function replayRecent(deps: ReplayDeps, state: ServedChain): Promise<void> {
  const past = createPastView(state)
  let highestNowS = Number.NaN
  let last: BlockUpdate | undefined
  let isFirst = true
  for await (const update of tail(deps, state)) {
    if (update.epoch !== state.epoch || (last !== undefined && update.seq <= last.seq)) continue
    // Open candles are certain only after an update that advances the chain time: none of them was pushed as closed.
    const isSure = update.now > highestNowS
    highestNowS = Math.max(update.now, Number.isNaN(highestNowS) ? update.now : highestNowS)
    if (last === undefined || update.seq !== last.seq + 1) {
      if (!isSure) continue
      await loadOpenCandles(deps.store, state, update)
      past.clear()
      past.take(update)
      isFirst = true
    } else {
      isFirst = !past.take(update) || isFirst
      deps.onReplayed(state, { ...past.step(update), isFirst: isFirst })
      isFirst = false
    }
    last = update
  }
  if (last?.seq !== state.seq) await loadOpenCandles(deps.store, state, { ...state, now: state.nowS })
}

/** Complete updates within the replay limits, up to the state's position. */
async function* tail({ log, codec, replay }: ReplayDeps, state: ServedChain): AsyncGenerator<BlockUpdate> {
  const topic = updatesTopic(state.chain)
  const { start, end, bytes } = await log.info(topic)
  const meanBytes = Math.max(1, bytes / Math.max(1, end - start))
  const inTime = await log.offsetAt(topic, Math.max(0, state.nowS - replay.seconds) * 1000)
  const assemble = createUpdateAssembler()
  let from = Math.max(start, inTime - MARGIN_RECORDS, Math.floor(end - replay.bytes / meanBytes))
  for (;;) {
    const records = await log.read(topic, { from, maxRecords: BATCH_RECORDS })
    const parts = await decodeUpdates(codec, topic, records)
    for (const [index, { offset }] of records.entries()) {
      const part = parts[index]
      const update = part === undefined ? undefined : assemble(part, offset)
      if (update === undefined) continue
      if (!isAtOrBefore(update, state)) return
      yield update
    }
    const next = records.at(-1)
    if (next === undefined) return
    from = next.offset + 1
  }
}

/** Pairs and tokens as of the replayed update; the others as in the loaded state. */
function createPastView(state: ServedChain) {
  const pairs = new Map<string, PairState | undefined>()
  const infos = new Map<string, TokenInfo>()
  const mains = new Map<string, string | null>()
  /** Tokens used before a replayed update carried their info. */
  const assumed = new Set<string>()
  const now = viewOf(state)
  const view: StateView = {
    pair: (address) => (pairs.has(address) ? pairs.get(address) : now.pair(address)),
    info: (token) => infos.get(token) ?? now.info(token),
    mainPair: (token) => (mains.has(token) ? (mains.get(token) ?? null) : now.mainPair(token)),
  }

  function takePair(pair: PairUpdate, nowS: number): void {
    const info = pair.info ?? view.pair(pair.pair)?.info
    if (info === undefined) return
    pairs.set(pair.pair, pairStateOf(pair, info, nowS))
    for (const token of [info.token0, info.token1]) if (!infos.has(token)) assumed.add(token)
  }

  function takeMoved(moved: MovedPair, nowS: number): void {
    const known = view.pair(moved.pair)
    if (known !== undefined) pairs.set(moved.pair, movedPairState(known, moved, nowS))
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

  return {
    take(update: BlockUpdate): boolean {
      const isSure = takeInfos(update)
      for (const pair of update.pairs) takePair(pair, update.now)
      for (const moved of update.moved_pairs) takeMoved(moved, update.now)
      for (const { token, new_pair } of update.main_pair_changes) mains.set(token, new_pair)
      return isSure
    },
    /** Repeats what applying the update did, open candles included. */
    step(update: BlockUpdate): Omit<ReplayedUpdate, 'isFirst'> {
      const closedCandles = state.open.takeEnded(update.now)
      for (const { pair, candles } of update.pairs) state.open.note(pair, candles, update.now)
      const removedPairs = new Map<string, PairState>()
      for (const { pair, gone: isGone } of update.retracted) {
        if (!isGone) continue
        const lastState = view.pair(pair)
        if (lastState !== undefined) removedPairs.set(pair, lastState)
        pairs.set(pair, undefined)
      }
      const removedCandles = update.retracted.flatMap((one) => (one.gone ? state.open.takeOf(one.pair) : []))
      return { update, removedPairs, closedCandles, removedCandles, view }
    },
    clear(): void {
      for (const kept of [pairs, infos, mains]) kept.clear()
      assumed.clear()
    },
  }
}
