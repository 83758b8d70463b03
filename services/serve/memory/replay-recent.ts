import type { PairUpdate, TokenInfo, Update } from '../../core/domain/records.js'
import { type EventLog, updatesTopic } from '../../core/log/port.js'
import type { Store } from '../../core/store/port.js'
import type { Applied } from './apply-update.js'
import { isAtOrBefore } from './candle-overlay.js'
import { loadOpenCandles } from './load-recent.js'
import { createUpdateAssembler, decodeUpdates, type UpdateCodec } from './read-updates.js'
import { type ChainState, type PairState, pairStateOf, UNDESCRIBED } from './served-chain.js'

/** Pairs and tokens as they were right after an update. */
export type StateView = {
  pair(address: string): PairState | undefined
  info(token: string): TokenInfo
  mainPair(token: string): string | null
}

export function viewOf(state: ChainState): StateView {
  return {
    pair: (address) => state.pairs.get(address),
    info: (token) => state.tokens.get(token)?.info ?? UNDESCRIBED,
    mainPair: (token) => state.tokens.get(token)?.main_pair ?? null,
  }
}

/** An update the state had when it was loaded, with what pushes need to know of its moment. */
export type Recalled = Pick<Applied, 'update' | 'gone' | 'closed' | 'ended'> & {
  view: StateView
  /** What was recalled before it does not count: something about it cannot be known any more. */
  startsAnew: boolean
}

/** How much of the past is worth recalling. */
export type RecallLimits = { seconds: number; bytes: number }

export type RecallDeps = {
  log: EventLog
  store: Store
  codec: UpdateCodec
  recall: RecallLimits
  onRecalled: (state: ChainState, past: Recalled) => void
}

const BATCH_RECORDS = 256
/** Read before what is worth recalling: from some of it on it is sure which candles were open. */
const MARGIN_RECORDS = 32

/**
 * Goes once more through the last updates a loaded state has, so that what they pushed can be pushed again. Open candles
 * are taken as they were before them, and are current afterwards.
 */
export async function recallPast(deps: RecallDeps, state: ChainState): Promise<void> {
  const past = createPast(state)
  let highestNowS = Number.NaN
  let last: Update | undefined
  let startsAnew = true
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
      startsAnew = true
    } else {
      startsAnew = !past.take(update) || startsAnew
      deps.onRecalled(state, { ...past.step(update), startsAnew })
      startsAnew = false
    }
    last = update
  }
  if (last?.seq !== state.seq) await loadOpenCandles(deps.store, state, { ...state, now: state.nowS })
}

/** Whole updates up to the state's own, from where they are worth recalling. */
async function* tail({ log, codec, recall }: RecallDeps, state: ChainState): AsyncGenerator<Update> {
  const topic = updatesTopic(state.chain)
  const { start, end, bytes } = await log.info(topic)
  const meanBytes = Math.max(1, bytes / Math.max(1, end - start))
  const inTime = await log.offsetAt(topic, Math.max(0, state.nowS - recall.seconds) * 1000)
  const assemble = createUpdateAssembler()
  let from = Math.max(start, inTime - MARGIN_RECORDS, Math.floor(end - recall.bytes / meanBytes))
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
function createPast(state: ChainState) {
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
    step(update: Update): Omit<Recalled, 'startsAnew'> {
      const closed = state.open.takeEnded(update.now)
      for (const { pair, candles } of update.pairs) state.open.note(pair, candles, update.now)
      const gone = new Map<string, PairState>()
      for (const { pair, gone: isGone } of update.retracted) {
        if (!isGone) continue
        const lastState = view.pair(pair)
        if (lastState !== undefined) gone.set(pair, lastState)
        pairs.set(pair, undefined)
      }
      const ended = update.retracted.flatMap((one) => (one.gone ? state.open.takeOf(one.pair) : []))
      return { update, gone, closed, ended, view }
    },
    clear(): void {
      for (const kept of [pairs, infos, mains]) kept.clear()
      assumed.clear()
    },
  }
}
