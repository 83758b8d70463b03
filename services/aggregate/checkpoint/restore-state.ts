/** Restores the fold's state from a checkpoint. */
import type { ChainFacts } from '../../core/domain/chains.js'
import { noteRestoredTrades, type TradedAt } from '../fold/moved-windows.js'
import { type Balance, type Holding, holdingOf, newHolding, parseBalance } from '../state/balances.js'
import type { BucketRing } from '../state/bucket-ring.js'
import { ByHolder } from '../state/by-holder.js'
import { type FoldSettings, FoldState, type RestingState } from '../state/fold-state.js'
import type { BlockJournal, TextOp } from '../state/journal.js'
import { ActivePair, PAIR, type PairText } from '../state/pairs.js'
import { type SharedSpace, WALLET_REACH_S, Windows } from '../state/rolling-windows.js'
import type { TokenText } from '../state/tokens.js'
import { UndoStack } from '../state/undo-stack.js'
import { BucketReader, WholeRowReader } from './bucket-image.js'
import { restoreSmall, type SmallImage } from './small-image.js'
import {
  balanceKey,
  META_KEY,
  type Meta,
  type OldStoredRings,
  type StoredJournal,
  type StoredRings,
} from './state-image.js'
import { padded, type StateStore, stateDamaged, unpack } from './state-store.js'
import { loadChunks, loadWindows, restoreBefore } from './windows-image.js'

export function readMeta(store: StateStore): Meta | undefined {
  const kept = store.get(META_KEY)
  return kept === undefined ? undefined : unpack<Meta>(kept).fields
}

/** Reads state that is only in the store; `pending`: balances captured but not yet written. */
export function restingState(store: StateStore, pending = new ByHolder<Balance | null>()): RestingState {
  return {
    activePair: (id, space) => loadActivePair(store, id, space),
    balance(token, holder) {
      const waiting = pending.get(token, holder)
      if (waiting !== undefined) return waiting ?? undefined
      const kept = store.get(balanceKey(token, holder))
      return kept === undefined ? undefined : parseBalance(newHolding(token, holder), unpack<string>(kept).fields)
    },
  }
}

/** Step by step; the store must not change meanwhile. */
export function* restoringState(
  facts: ChainFacts,
  settings: FoldSettings,
  meta: Meta,
  store: StateStore,
  resting: RestingState,
): Generator<void, FoldState> {
  const state = new FoldState(facts, settings, meta.epoch, resting)
  state.seq = meta.seq
  state.head = meta.head
  state.firstBlock = meta.firstBlock
  state.nowS = meta.nowS
  state.finalNowS = meta.finalNowS
  state.highNowS = meta.highNowS
  state.finalizedNumber = meta.finalizedNumber
  for (let id = 0; id < meta.tokens; id += 1) {
    restoreToken(state, store, id)
    yield
  }
  for (let id = 0; id < meta.pairs; id += 1) {
    restorePair(state, store, id)
    yield
  }
  for (const seq of meta.journals) {
    state.journals.push(readJournal(store, seq))
    yield
  }
  yield* wakingRecentPairs(state)
  return state
}

function restoreToken(state: FoldState, store: StateStore, id: number): void {
  const owner = `t/${padded(id)}`
  const { fields, numbers } = unpack<TokenText & { address: string }>(mustGet(store, owner))
  const { address, ...text } = fields
  state.tokens.add(address, 0)
  state.tokens.rows.setRow(id, numbers)
  state.tokens.text[id] = text
  const windows = new Windows(state)
  if (loadWindows(owner, windows, state.names, store)) state.tokens.windows[id] = windows
}

function restorePair(state: FoldState, store: StateStore, id: number): void {
  const { fields, numbers } = unpack<PairText & { address: string }>(mustGet(store, `p/${padded(id)}`))
  const { address, ...text } = fields
  state.pairs.add(address, text)
  state.pairs.rows.setRow(id, numbers)
  state.tokens.addPair(state.pairs.targetToken(id), state.pairs.quoteToken(id), id)
}

export function loadActivePair(store: StateStore, id: number, space: SharedSpace): ActivePair | undefined {
  const owner = `p/${padded(id)}`
  const kept = store.get(`r/${owner}`)
  if (kept === undefined) return undefined
  const active = new ActivePair(space)
  active.isStored = true
  const { fields, numbers } = unpack<StoredRings | OldStoredRings | SmallImage>(kept)
  if ('wallets' in fields) {
    restoreSmall(active, fields, numbers, space.names)
    return active
  }
  const buckets = 'busy' in fields ? new BucketReader(numbers) : new WholeRowReader(numbers)
  for (const { interval, count, before, chunks } of 'busy' in fields ? fields.busy : fields) {
    const ring = active.rings[interval] as BucketRing
    restoreBefore(ring, before)
    if (chunks === undefined) ring.append(buckets.take(count))
    else {
      ring.chunks = chunks
      loadChunks(owner, 'seconds', ring, store)
    }
  }
  loadWindows(owner, active.windows, space.names, store)
  return active
}

function readJournal(store: StateStore, seq: number): BlockJournal {
  const { fields, numbers } = unpack<StoredJournal>(mustGet(store, `j/${padded(seq)}`))
  const { toldPairs: publishedPairs, toldTokens: publishedTokens, texts: stored, ...rest } = fields
  const texts: TextOp[] = []
  const holdings: Holding[] = []
  const balances: (Balance | null)[] = []
  for (const op of stored) {
    if (op.op !== 'holder') texts.push(op)
    else {
      const of = holdingOf(op.key)
      holdings.push(of)
      balances.push(op.old === null ? null : parseBalance(of, op.old))
    }
  }
  return {
    ...rest,
    texts,
    holdings,
    balances,
    publishedPairs,
    publishedTokens,
    stack: new UndoStack(numbers, numbers.length),
  }
}

/** Pairs with buckets in a window must be in memory: their windows lose buckets as time passes. */
function* wakingRecentPairs(state: FoldState): Generator<void> {
  const minutes: TradedAt[] = []
  for (let id = 0; id < state.pairs.length; id += 1) {
    const tradedAtS = state.pairs.rows.get(id, PAIR.newestTradeAtS)
    if (tradedAtS === 0) continue
    state.pairs.resting.add(id)
    if (tradedAtS < state.finalNowS - WALLET_REACH_S) continue
    const active = state.activePair(id)
    collectTimes(active.windows.minutes, id, minutes)
    yield
  }
  noteRestoredTrades(state, minutes)
}

function collectTimes(ring: BucketRing, pair: number, into: TradedAt[]): void {
  for (let index = 0; index < ring.count; index += 1) into.push({ timeS: ring.time(index), pair })
}

function mustGet(store: StateStore, key: string): Uint8Array {
  const value = store.get(key)
  if (value === undefined) throw stateDamaged('', `the value of ${key} is missing`)
  return value
}
