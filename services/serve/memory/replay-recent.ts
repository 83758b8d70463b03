import type { PairUpdate, TokenInfo, Update } from '../../core/domain/records.js'
import { type EventLog, updatesTopic } from '../../core/log/port.js'
import type { Store } from '../../core/store/port.js'
import type { AppliedUpdate } from './apply-update.js'
import { isAtOrBefore } from './candle-overlay.js'
import { loadOpenCandles } from './load-recent.js'
import { createUpdateAssembler, decodeUpdates, type UpdateCodec } from './read-updates.js'
import { type PairState, pairStateOf, type ServedChain, UNKNOWN_TOKEN } from './served-chain.js'

/** Pairs and tokens as they were right after an update. */
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

/** An update the state had when it was loaded, with what pushes need to know of its moment. */
export type ReplayedUpdate = Pick<AppliedUpdate, 'update' | 'removedPairs' | 'closedCandles' | 'removedCandles'> & {
  view: StateView
  /** What was recalled before it does not count: something about it cannot be known any more. */
  isFirst: boolean
}

/** How much of the past is worth recalling. */
export type ReplayLimits = { seconds: number; bytes: number }

export type ReplayDeps = {
  log: EventLog
  store: Store
  codec: UpdateCodec
  replay: ReplayLimits
  onReplayed: (state: ServedChain, past: ReplayedUpdate) => void
}

const BATCH_RECORDS = 256
/** Read before what is worth recalling: from some of it on it is sure which candles were open. */
const MARGIN_RECORDS = 32

/**
 * Goes once more through the last updates a loaded state has, so that what they pushed can be pushed again. Open candles
 * are taken as they were before them, and are current afterwards.
 */
export async function replayRecent(deps: ReplayDeps, state: ServedChain): Promise<void> {
  const past = createPastView(state)
  let highestNowS = Number.NaN
  let last: Update | undefined
  let isFirst = true
  for await (const update of tail(deps, state)) {
    if (update.epoch !== state.epoch || (last !== undefined && update.seq <= last.seq)) continue
    // Only from a time that no block before had reached is it sure that no open candle had been told closed.
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

/** Whole updates up to the state's own, from where they are worth recalling. */
async function* tail({ log, codec, replay }: ReplayDeps, state: ServedChain): AsyncGenerator<Update> {
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

/** Pairs and tokens as updates of the past told them, on what the loaded state says of the others. */
function createPastView(state: ServedChain) {
  const pairs = new Map<string, PairState | undefined>()
  const infos = new Map<string, TokenInfo>()
  const mains = new Map<string, string | null>()
  /** Tokens named before the updates told their facts. */
  const assumed = new Set<string>()
  const now = viewOf(state)
  const view: StateView = {
    pair: (address) => (pairs.has(address) ? pairs.get(address) : now.pair(address)),
    info: (token) => infos.get(token) ?? now.info(token),
    mainPair: (token) => (mains.has(token) ? (mains.get(token) ?? null) : now.mainPair(token)),
  }

  function takePair(pair: PairUpdate): void {
    const info = pair.info ?? view.pair(pair.pair)?.info
    if (info === undefined) return
    pairs.set(pair.pair, pairStateOf(pair, info))
    for (const token of [info.token0, info.token1]) if (!infos.has(token)) assumed.add(token)
  }

  /** False where facts told now show that those assumed before may have been others. */
  function takeInfos(update: Update): boolean {
    let isSure = true
    for (const { token, info, main_pair } of update.tokens) {
      mains.set(token, main_pair)
      if (info === null) continue
      // Of a launch on its curve only the progress moves; a retract tells again what was.
      const isProgress =
        update.kind === 'retract' || (info.launch_platform !== null && info.launch_stage !== 'graduated')
      if (assumed.has(token) && !infos.has(token) && !isProgress) isSure = false
      infos.set(token, info)
    }
    return isSure
  }

  return {
    take(update: Update): boolean {
      const isSure = takeInfos(update)
      for (const pair of update.pairs) takePair(pair)
      for (const { token, new_pair } of update.main_pair_changes) mains.set(token, new_pair)
      return isSure
    },
    /** What applying the update did, the open candles included. */
    step(update: Update): Omit<ReplayedUpdate, 'isFirst'> {
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
