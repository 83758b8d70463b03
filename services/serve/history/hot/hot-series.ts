import type { BlockUpdate, PairUpdate } from '../../../core/domain/records.js'
import type { AppliedUpdate } from '../../memory/apply-update.js'
import { isAtOrBefore, type Position } from '../../memory/candle-overlay.js'
import type { ServedChain } from '../../memory/served-chain.js'

/** What an update changes in a series: a pair's entry, or (without one) the update itself: a retract, a token's change. */
export type SeriesChange = { update: BlockUpdate; entry: PairUpdate | undefined }

/** How a kind of series is loaded and kept current. */
export type SeriesKind<Series> = {
  name: string
  /** Must read memory before its first await: later updates are applied to what it returns. */
  load(): Promise<Series>
  /** False: the change makes it invalid. */
  apply(series: Series, change: SeriesChange): boolean
  /** False: it must be loaded again. */
  isCurrent?(series: Series, state: ServedChain): boolean
  bytesOf(series: Series): number
}

/** Undefined: ask the store. */
export type Found<Series> = Promise<Series | undefined> | Series | undefined

type Slot = {
  chain: string
  id: string
  kind: SeriesKind<unknown>
  series: unknown
  loading: Promise<unknown> | undefined
  /** Changes that arrived while it was loading. */
  pending: SeriesChange[]
  bytes: number
}

/** The series of one chain. Valid for this epoch up to this seq. */
type HotChain = Position & {
  /** By pair or token, then by kind. */
  slots: Map<string, Map<string, Slot>>
  /** Updates are missing: only the store has everything, once it has flushed up to here. */
  notBefore: Position | undefined
  /** Seq of the last update of each token since `since` that is not flushed yet. */
  touched: Map<string, number>
  since: number
  flushedSeq: number
}

function newChain({ epoch, seq }: Position, notBefore: Position | undefined): HotChain {
  return { epoch, seq, slots: new Map(), notBefore, touched: new Map(), since: seq, flushedSeq: -1 }
}

/** Series of all chains within one budget; the least recently used ones are dropped. */
export interface HotSeries {
  /** The series of a pair or token; loads it if it is missing and `mayLoad`. */
  of<Series>(state: ServedChain, id: string, kind: SeriesKind<Series>, mayLoad?: boolean): Found<Series>
  apply(applied: AppliedUpdate): void
  /** Whether the store has every change of a token. */
  isFlushed(state: ServedChain, token: string): boolean
  readonly bytes: number
  readonly size: number
}

/** For the maps and objects around a series. */
const BYTES_A_SLOT = 500

export function createHotSeries(maxBytes: number): HotSeries {
  const chains = new Map<string, HotChain>()
  /** Least recently used first. */
  const used = new Set<Slot>()
  let bytes = 0

  function drop(slot: Slot): void {
    if (!used.delete(slot)) return
    bytes -= slot.bytes
    const ofId = chains.get(slot.chain)?.slots.get(slot.id)
    if (ofId?.get(slot.kind.name) !== slot) return
    ofId.delete(slot.kind.name)
    if (ofId.size === 0) chains.get(slot.chain)?.slots.delete(slot.id)
  }

  function clear(chain: HotChain): void {
    for (const ofId of [...chain.slots.values()]) for (const slot of [...ofId.values()]) drop(slot)
  }

  /** The chain's series, empty if they do not belong to its present state. */
  function chainOf({ chain: name, epoch, seq }: ServedChain): HotChain {
    const known = chains.get(name)
    if (known?.epoch === epoch && known.seq === seq) return known
    if (known !== undefined) clear(known)
    const fresh = newChain({ epoch, seq }, known?.notBefore)
    chains.set(name, fresh)
    return fresh
  }

  function measure(slot: Slot): void {
    const now = BYTES_A_SLOT + slot.kind.bytesOf(slot.series)
    bytes += now - slot.bytes
    slot.bytes = now
  }

  function shrink(): void {
    for (const slot of used) {
      if (bytes <= maxBytes) return
      if (slot.loading === undefined) drop(slot)
    }
  }

  function currentSlot<Series>(
    { slots }: HotChain,
    state: ServedChain,
    id: string,
    kind: SeriesKind<Series>,
  ): Slot | undefined {
    const slot = slots.get(id)?.get(kind.name)
    if (slot === undefined || slot.loading !== undefined) return slot
    if (kind.isCurrent?.(slot.series as Series, state) ?? true) return slot
    drop(slot)
    return undefined
  }

  /** Forgets which tokens changed once the store has the changes. */
  function forgetFlushed(chain: HotChain, { flushed }: ServedChain): void {
    if (flushed.epoch !== chain.epoch || flushed.seq === chain.flushedSeq) return
    chain.flushedSeq = flushed.seq
    for (const [token, seq] of chain.touched) if (seq <= flushed.seq) chain.touched.delete(token)
  }

  function open<Series>(chain: HotChain, name: string, id: string, given: SeriesKind<Series>): Slot {
    const kind = given as unknown as SeriesKind<unknown>
    const slot: Slot = { chain: name, id, kind, series: undefined, loading: undefined, pending: [], bytes: 0 }
    let ofId = chain.slots.get(id)
    if (ofId === undefined) {
      ofId = new Map()
      chain.slots.set(id, ofId)
    }
    ofId.set(kind.name, slot)
    used.add(slot)
    slot.loading = load(slot)
    return slot
  }

  /** Undefined if the series was dropped meanwhile. */
  async function load(slot: Slot): Promise<unknown> {
    try {
      const series = await slot.kind.load()
      if (!used.has(slot)) return undefined
      slot.series = series
      slot.loading = undefined
      measure(slot)
      for (const what of slot.pending.splice(0)) change(slot, what)
      shrink()
      return series
    } catch (error) {
      drop(slot)
      throw error
    }
  }

  function change(slot: Slot, what: SeriesChange): void {
    if (slot.loading !== undefined) {
      slot.pending.push(what)
      return
    }
    if (!slot.kind.apply(slot.series, what)) drop(slot)
    else if (used.has(slot)) measure(slot)
  }

  function follow({ slots, touched }: HotChain, update: BlockUpdate): void {
    for (const entry of update.pairs) {
      for (const slot of [...(slots.get(entry.pair)?.values() ?? [])]) change(slot, { update, entry })
    }
    if (update.kind === 'retract') {
      for (const ofId of [...slots.values()])
        for (const slot of [...ofId.values()]) change(slot, { update, entry: undefined })
    }
    const tokens = new Set(update.tokens.map(({ token }) => token))
    for (const { token } of update.main_pair_changes) tokens.add(token)
    for (const token of tokens) {
      touched.set(token, update.seq)
      if (update.kind === 'retract') continue
      for (const slot of [...(slots.get(token)?.values() ?? [])]) change(slot, { update, entry: undefined })
    }
    for (const { pair, gone: isGone } of update.retracted) {
      if (isGone) for (const slot of [...(slots.get(pair)?.values() ?? [])]) drop(slot)
    }
  }

  return {
    of<Series>(state: ServedChain, id: string, kind: SeriesKind<Series>, mayLoad = true): Found<Series> {
      if (maxBytes === 0) return undefined
      const chain = chainOf(state)
      if (chain.notBefore !== undefined) {
        if (!isAtOrBefore(chain.notBefore, state.flushed)) return undefined
        chain.notBefore = undefined
      }
      const known = currentSlot(chain, state, id, kind)
      if (known === undefined && !mayLoad) return undefined
      const slot = known ?? open(chain, state.chain, id, kind)
      if (known !== undefined && used.delete(slot)) used.add(slot)
      return (slot.loading ?? slot.series) as Found<Series>
    },
    apply({ state, update, missingUpdates }) {
      const chain = chains.get(state.chain)
      const isNext = chain?.epoch === update.epoch && missingUpdates === 0
      if (chain === undefined || !isNext) {
        if (chain !== undefined) clear(chain)
        const { epoch, seq } = update
        const notBefore = missingUpdates > 0 ? { epoch, seq: seq - 1 } : undefined
        chains.set(state.chain, newChain({ epoch, seq }, notBefore))
        return
      }
      chain.seq = update.seq
      forgetFlushed(chain, state)
      follow(chain, update)
      shrink()
    },
    isFlushed(state, token) {
      const { since, touched, epoch } = chainOf(state)
      return state.flushed.epoch === epoch && state.flushed.seq >= Math.max(since, touched.get(token) ?? since)
    },
    get bytes() {
      return bytes
    },
    get size() {
      return used.size
    },
  }
}
