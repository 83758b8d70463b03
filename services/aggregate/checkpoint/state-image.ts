/** A checkpoint as a set of keyed changes: what changed since the last one. */
import { K1, K60, S1 } from '../../core/domain/buckets.js'
import { type ChainMoney, INTERVALS } from '../../core/domain/chains.js'
import { moneyOf } from '../../core/domain/money.js'
import { type Balance, balanceText, holderKey } from '../state/balances.js'
import type { BucketRing } from '../state/bucket-ring.js'
import type { ByHolder } from '../state/by-holder.js'
import type { BeforeChange, FoldState } from '../state/fold-state.js'
import type { BlockJournal, TextOp } from '../state/journal.js'
import { type ActivePair, PAIR } from '../state/pairs.js'
import type { StoredHistory } from './applied-history.js'
import { BucketWriter } from './bucket-image.js'
import { type SmallImage, smallImage } from './small-image.js'
import { pack, packText, padded, type StateChange, type StateStore, unpack } from './state-store.js'
import {
  chunkKey,
  erased,
  ringImage,
  storedCloses,
  type WindowFacts,
  windowsErased,
  windowsImage,
} from './windows-image.js'

/** The input position and the state's own numbers: the fields of the `meta` key. */
export type Meta = {
  epoch: number
  fingerprint: string
  /** What the fingerprint is of, besides the rules. Absent in checkpoints of earlier versions. */
  money?: ChainMoney
  /** Offset of the first record of the blocks topic that is not in the state. */
  position: number
  seq: number
  head: FoldState['head']
  firstBlock: FoldState['head']
  nowS: number
  finalNowS: number
  highNowS: number
  finalizedNumber: number
  pairs: number
  tokens: number
  /** Seqs whose journals are kept. */
  journals: number[]
}

export const META_KEY = 'meta'
/** Rings stored whole, since they have few buckets. The others are stored with the windows. */
export const WHOLE_RINGS = INTERVALS.map((_, interval) => interval).filter((i) => i !== S1 && i !== K1 && i !== K60)

/** `chunks`: the ring's buckets are stored in chunks of time, like a window's. */
export type StoredRing = { interval: number; count: number; before: (number | null)[]; chunks?: readonly number[] }
export type StoredRings = { busy: StoredRing[] }
/** As written at first: every row whole. */
export type OldStoredRings = StoredRing[]

const BALANCES_PER_STEP = 16

/** `keptJournals`: seqs in the last checkpoint. */
type CaptureFacts = Pick<Meta, 'position' | 'fingerprint'> & { keptJournals: readonly number[] }

/**
 * A checkpoint of the state as it is when this is made. Pairs, tokens and journals are copied one by one while blocks are applied;
 * the state has each copied before it changes.
 */
export class StateCapture implements BeforeChange {
  readonly changes: StateChange[] = []
  /** Seqs of the journals it has. */
  readonly journals: number[]
  private readonly pairs: Set<number>
  private readonly tokens: Set<number>
  private readonly newJournals: Map<number, BlockJournal>
  /** The clocks decide where wallets are stored, so they are those of the whole capture. */
  readonly windowFacts: WindowFacts
  /** One iterator for all callers: each goes on where the last one stopped. */
  readonly copy = this.copying()

  /** `balances`: changed ones, which no one changes before the write. */
  constructor(
    readonly state: FoldState,
    readonly store: StateStore,
    private readonly balances: ByHolder<Balance | null>,
    history: StoredHistory,
    { position, fingerprint, keptJournals }: CaptureFacts,
  ) {
    const { names, highNowS, finalNowS } = state
    this.windowFacts = { names, highNowS, finalNowS }
    this.pairs = inOrder(state.changedPairs)
    this.tokens = inOrder(state.changedTokens)
    state.changedPairs.clear()
    state.changedTokens.clear()
    // Their ids may be given to others.
    for (const id of this.pairs) if (id >= state.pairs.length) this.pair(id)
    for (const id of this.tokens) if (id >= state.tokens.length) this.token(id)
    const kept = new Set(keptJournals)
    this.newJournals = new Map(state.journals.filter(({ seq }) => !kept.has(seq)).map((one) => [one.seq, one]))
    this.journals = state.journals.map(({ seq }) => seq)
    const current = new Set(this.journals)
    for (const seq of keptJournals) if (!current.has(seq)) this.changes.push({ key: journalKey(seq), value: null })
    this.changes.push(...history.image())
    const meta: Meta = {
      epoch: state.epoch,
      fingerprint,
      money: moneyOf(state.facts),
      position,
      seq: state.seq,
      head: state.head,
      firstBlock: state.firstBlock,
      nowS: state.nowS,
      finalNowS: state.finalNowS,
      highNowS: state.highNowS,
      finalizedNumber: state.finalizedNumber,
      pairs: state.pairs.length,
      tokens: state.tokens.length,
      journals: this.journals,
    }
    this.changes.push({ key: META_KEY, value: pack(meta) })
    state.beforeChange = this
  }

  pair(id: number): void {
    if (this.pairs.delete(id)) pairImage(id, this)
  }

  token(id: number): void {
    if (this.tokens.delete(id)) tokenImage(id, this)
  }

  journal(journal: BlockJournal): void {
    if (this.newJournals.delete(journal.seq))
      this.changes.push({ key: journalKey(journal.seq), value: packJournal(journal) })
  }

  all(): void {
    for (const id of this.pairs) this.pair(id)
    for (const id of this.tokens) this.token(id)
    for (const journal of this.newJournals.values()) this.journal(journal)
  }

  /** Copies what is left; blocks can be applied at each yield. */
  private *copying(): Generator<void, void> {
    for (const id of this.pairs) {
      this.pair(id)
      yield
    }
    for (const id of this.tokens) {
      this.token(id)
      yield
    }
    for (const journal of this.newJournals.values()) {
      this.journal(journal)
      yield
    }
    this.state.beforeChange = null
    let copied = 0
    for (const [token, holder, balance] of this.balances.entries()) {
      this.changes.push({ key: balanceKey(token, holder), value: balance && packText(balanceText(balance)) })
      copied += 1
      if (copied % BALANCES_PER_STEP === 0) yield
    }
  }
}

/** As their keys are sorted in the store, which writes neighbours more quickly. */
const inOrder = (ids: ReadonlySet<number>): Set<number> => new Set(Uint32Array.from(ids).sort())

type ImageParts = Pick<StateCapture, 'state' | 'store' | 'windowFacts' | 'changes'>

function pairImage(id: number, { state, store, windowFacts, changes }: ImageParts): void {
  const owner = `p/${padded(id)}`
  if (id >= state.pairs.length) {
    changes.push(erased(owner), ...activeErased(owner, store))
    return
  }
  const fields = { address: state.pairs.address[id], ...state.pairs.text[id] }
  changes.push({ key: owner, value: pack(fields, state.pairs.rows.view(id)) })
  const active = state.pairs.active[id]
  // An undone pair's id may be reused: what is stored under it belongs to the old pair.
  if (active === null || active === undefined) {
    if (state.pairs.rows.get(id, PAIR.txCount) === 0) changes.push(...activeErased(owner, store))
    return
  }
  if (!active.isStored) changes.push(...activeErased(owner, store))
  active.isStored = true
  const isInChunks = hasChunks(active)
  if (!isInChunks && isSmall(active)) {
    changes.push({ key: `r/${owner}`, value: smallImage(active, state.names) })
    markStored(active)
    return
  }
  if (!isInChunks) markChanged(active)
  const seconds = active.rings[S1] as BucketRing
  ringImage(owner, 'seconds', seconds, changes)
  changes.push({ key: `r/${owner}`, value: ringsImage(active) })
  changes.push(...windowsImage(owner, active.windows, windowFacts, store))
}

/** Deletions of what is stored for a pair with trades. */
function activeErased(owner: string, store: StateStore): StateChange[] {
  const kept = store.get(`r/${owner}`)
  if (kept === undefined) return []
  const { fields } = unpack<StoredRings | OldStoredRings | SmallImage>(kept)
  const rings = 'busy' in fields ? fields.busy : []
  const seconds = rings.find(({ interval }) => interval === S1)?.chunks ?? []
  const chunks = seconds.map((chunk) => erased(chunkKey(owner, 'seconds', chunk)))
  return [erased(`r/${owner}`), ...chunks, ...windowsErased(owner, store)]
}

/**
 * Most pairs trade rarely: all their buckets and wallets together are one value, since a value costs more than its bytes. A pair
 * that outgrows this is stored in chunks of time from then on.
 */
const SMALL_BUCKETS = 48
const SMALL_WALLETS = 48
const CHUNKED_RINGS = [S1, K1, K60] as const

const chunkedRings = ({ rings }: ActivePair) => CHUNKED_RINGS.map((interval) => rings[interval] as BucketRing)

function hasChunks(active: ActivePair): boolean {
  return (
    (active.windows.segments?.times.length ?? 0) > 0 || chunkedRings(active).some(({ chunks }) => chunks.length > 0)
  )
}

function isSmall({ rings, windows }: ActivePair): boolean {
  return rings.reduce((sum, { count }) => sum + count, 0) <= SMALL_BUCKETS && windows.wallets.size <= SMALL_WALLETS
}

function markStored(active: ActivePair): void {
  for (const ring of chunkedRings(active)) ring.changedFrom = Number.POSITIVE_INFINITY
  active.windows.segments = null
}

/** Nothing of the pair is in chunks yet: all of it is to be written. */
function markChanged(active: ActivePair): void {
  for (const ring of chunkedRings(active)) ring.changedFrom = Number.NEGATIVE_INFINITY
  active.windows.segments = null
}

function ringsImage(active: ActivePair): Uint8Array {
  const seconds = active.rings[S1] as BucketRing
  const busy: StoredRing[] = [{ interval: S1, count: 0, before: storedCloses(seconds), chunks: seconds.chunks }]
  const rings = WHOLE_RINGS.map((interval) => ({ interval, ring: active.rings[interval] as BucketRing }))
  const buckets = new BucketWriter(rings.reduce((sum, { ring }) => sum + ring.count, 0))
  for (const { interval, ring } of rings) {
    busy.push({ interval, count: ring.count, before: storedCloses(ring) })
    buckets.add(ring, 0, ring.count)
  }
  const fields: StoredRings = { busy }
  return pack(fields, buckets.finish())
}

function tokenImage(id: number, { state, store, windowFacts, changes }: ImageParts): void {
  const owner = `t/${padded(id)}`
  const gone = id >= state.tokens.length
  const windows = gone ? null : state.tokens.windows[id]
  if (windows === null || windows === undefined) {
    changes.push(...windowsErased(owner, store))
  } else changes.push(...windowsImage(owner, windows, windowFacts, store))
  if (gone) changes.push(erased(owner))
  else {
    const fields = { address: state.tokens.address[id], ...state.tokens.text[id] }
    changes.push({ key: owner, value: pack(fields, state.tokens.rows.view(id)) })
  }
}

export const balanceKey = (token: string, holder: string): string => `h/${holderKey(token, holder)}`

const journalKey = (seq: number): string => `j/${padded(seq)}`

/** A journal's JSON as checkpoints have always stored it: two fields have older names there, and balances are among the texts. */
export type StoredJournal = Omit<
  BlockJournal,
  'stack' | 'texts' | 'holdings' | 'balances' | 'publishedPairs' | 'publishedTokens'
> & {
  texts: (TextOp | { op: 'holder'; key: string; old: string | null })[]
  toldPairs: number[]
  toldTokens: number[]
}

function packJournal({
  stack,
  holdings,
  balances,
  publishedPairs,
  publishedTokens,
  ...rest
}: BlockJournal): Uint8Array {
  const held = holdings.map(({ token, holder }, at) => {
    const old = balances[at] ?? null
    return { op: 'holder' as const, key: holderKey(token, holder), old: old && balanceText(old) }
  })
  const fields: StoredJournal = {
    ...rest,
    ...{ texts: [...rest.texts, ...held], toldPairs: publishedPairs, toldTokens: publishedTokens },
  }
  return pack(fields, stack.values())
}
