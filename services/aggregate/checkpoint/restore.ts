/** The state as a checkpoint has it. */
import type { ChainFacts } from '../../core/domain/chains.js'
import { noteTradedAgain, type TradedAt } from '../fold/decay.js'
import { BUCKET_WIDTH } from '../state/bucket.js'
import { ChainState, type FoldSettings, type RestingState } from '../state/chain-state.js'
import type { BlockJournal } from '../state/journal.js'
import { ActivePair, PAIR, type PairText } from '../state/pairs.js'
import type { Ring } from '../state/ring.js'
import { Tape } from '../state/tape.js'
import type { TokenText } from '../state/tokens.js'
import type { WalletNames } from '../state/wallets.js'
import { WALLET_REACH_S, Windows } from '../state/windows.js'
import { META_KEY, type Meta, type RingWords } from './image.js'
import { padded, unpack } from './pack.js'
import type { StateStore } from './state-store.js'
import { loadChunks, loadWindows, restoreBefore } from './windows-image.js'

export function readMeta(store: StateStore): Meta | undefined {
  const kept = store.get(META_KEY)
  return kept === undefined ? undefined : unpack<Meta>(kept).words
}

/** Reads what rests in the store; `pending` holds balances captured but not yet written. */
export function restingState(store: StateStore, pending: ReadonlyMap<string, string | null>): RestingState {
  return {
    activePair: (id, names) => loadActivePair(store, id, names),
    balance(key) {
      const waiting = pending.get(key)
      if (waiting !== undefined) return waiting ?? undefined
      const kept = store.get(`h/${key}`)
      return kept === undefined ? undefined : unpack<string>(kept).words
    },
  }
}

export function restoreState(
  facts: ChainFacts,
  settings: FoldSettings,
  meta: Meta,
  store: StateStore,
  resting: RestingState,
): ChainState {
  const state = new ChainState(facts, settings, meta.epoch, resting)
  state.seq = meta.seq
  state.head = meta.head
  state.firstBlock = meta.firstBlock
  state.nowS = meta.nowS
  state.finalNowS = meta.finalNowS
  state.highNowS = meta.highNowS
  state.finalizedNumber = meta.finalizedNumber
  for (let id = 0; id < meta.tokens; id += 1) restoreToken(state, store, id)
  for (let id = 0; id < meta.pairs; id += 1) restorePair(state, store, id)
  for (const seq of meta.journals) state.journals.push(readJournal(store, seq))
  wakeRecentPairs(state)
  return state
}

function restoreToken(state: ChainState, store: StateStore, id: number): void {
  const owner = `t/${padded(id)}`
  const { words, numbers } = unpack<TokenText & { address: string }>(must(store, owner))
  const { address, ...text } = words
  state.tokens.add(address, 0)
  state.tokens.rows.setRow(id, numbers)
  state.tokens.text[id] = text
  const windows = new Windows(state.names)
  if (loadWindows(owner, windows, state.names, store)) state.tokens.windows[id] = windows
}

function restorePair(state: ChainState, store: StateStore, id: number): void {
  const { words, numbers } = unpack<PairText & { address: string }>(must(store, `p/${padded(id)}`))
  const { address, ...text } = words
  state.pairs.add(address, text)
  state.pairs.rows.setRow(id, numbers)
  state.tokens.addPair(state.pairs.targetToken(id), state.pairs.quoteToken(id), id)
}

export function loadActivePair(store: StateStore, id: number, names: WalletNames): ActivePair | undefined {
  const owner = `p/${padded(id)}`
  const kept = store.get(`r/${owner}`)
  if (kept === undefined) return undefined
  const active = new ActivePair(names)
  const { words, numbers } = unpack<RingWords>(kept)
  let at = 0
  for (const { interval, count, before, chunks } of words) {
    const ring = active.rings[interval] as Ring
    restoreBefore(ring, before)
    if (chunks !== undefined) {
      ring.chunks = chunks
      loadChunks(owner, 'seconds', ring, store)
      continue
    }
    ring.append(numbers.subarray(at, at + count * BUCKET_WIDTH))
    at += count * BUCKET_WIDTH
  }
  loadWindows(owner, active.windows, names, store)
  return active
}

function readJournal(store: StateStore, seq: number): BlockJournal {
  const { words, numbers } = unpack<Omit<BlockJournal, 'tape'>>(must(store, `j/${padded(seq)}`))
  return { ...words, tape: new Tape(numbers, numbers.length) }
}

/** Pairs with buckets in a window are needed in memory: their windows lose buckets as time goes on. */
function wakeRecentPairs(state: ChainState): void {
  const minutes: TradedAt[] = []
  for (let id = 0; id < state.pairs.length; id += 1) {
    const tradedAtS = state.pairs.rows.get(id, PAIR.newestTradeAtS)
    if (tradedAtS === 0) continue
    state.pairs.resting.add(id)
    if (tradedAtS < state.finalNowS - WALLET_REACH_S) continue
    const active = state.activePair(id)
    collectTimes(active.windows.minutes, id, minutes)
  }
  noteTradedAgain(state, minutes)
}

function collectTimes(ring: Ring, pair: number, into: TradedAt[]): void {
  for (let index = 0; index < ring.count; index += 1) into.push({ timeS: ring.time(index), pair })
}

function must(store: StateStore, key: string): Uint8Array {
  const value = store.get(key)
  if (value === undefined) throw new Error(`the checkpoint has no ${key}`)
  return value
}
