import type { BlockUpdate, PairUpdate } from '../../../core/domain/records.js'
import type { AppliedUpdate } from '../../memory/apply-update.js'
import { isAtOrBefore, type Position } from '../../memory/candle-overlay.js'
import type { ServedChain } from '../../memory/served-chain.js'

/** What an update changes in a series: a pair's entry, or (without one) the update itself, as a retract. */
export type SeriesChange = { update: BlockUpdate; entry: PairUpdate | undefined }

/** How a kind of series is loaded and kept current. */
export type SeriesKind<Series> = {
  name: string
  /** Must read memory before its first await: later updates are applied to what it returns. */
  load(): Promise<Series>
  apply(series: Series, change: SeriesChange): void
  bytesOf(series: Series): number
}

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

/** The series of one chain, by pair or token, then by kind. Valid for this epoch up to this seq. */
type HotChain = Position & { slots: Map<string, Map<string, Slot>>; notBefore: Position | undefined }

/** Series of all chains within one budget; the least recently used ones are dropped. */
export interface HotSeries {
  /** The series of a pair or token; loads it if it is missing and `mayLoad`. Undefined: ask the store. */
  of<Series>(
    state: ServedChain,
    id: string,
    kindName: string,
    kind: (() => SeriesKind<Series>) | undefined,
  ): Promise<Series | undefined> | Series | undefined
  apply(applied: AppliedUpdate): void
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
    const fresh: HotChain = { epoch, seq, slots: new Map(), notBefore: known?.notBefore }
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

  function open(chain: HotChain, name: string, id: string, kind: SeriesKind<unknown>): Slot {
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
      for (const change of slot.pending) slot.kind.apply(series, change)
      slot.pending = []
      slot.loading = undefined
      measure(slot)
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
    slot.kind.apply(slot.series, what)
    measure(slot)
  }

  function follow({ slots }: HotChain, update: BlockUpdate): void {
    for (const entry of update.pairs) {
      for (const slot of slots.get(entry.pair)?.values() ?? []) change(slot, { update, entry })
    }
    if (update.kind === 'retract') {
      for (const ofId of slots.values()) for (const slot of ofId.values()) change(slot, { update, entry: undefined })
    } else {
      for (const { token } of update.main_pair_changes) {
        for (const slot of slots.get(token)?.values() ?? []) change(slot, { update, entry: undefined })
      }
    }
    for (const { pair, gone: isGone } of update.retracted) {
      if (isGone) for (const slot of [...(slots.get(pair)?.values() ?? [])]) drop(slot)
    }
  }

  return {
    of<Series>(
      state: ServedChain,
      id: string,
      kindName: string,
      kind: (() => SeriesKind<Series>) | undefined,
    ): Promise<Series | undefined> | Series | undefined {
      if (maxBytes === 0) return undefined
      const chain = chainOf(state)
      // After missing updates only the store has everything, once it has flushed them.
      if (chain.notBefore !== undefined) {
        if (!isAtOrBefore(chain.notBefore, state.flushed)) return undefined
        chain.notBefore = undefined
      }
      const known = chain.slots.get(id)?.get(kindName)
      if (known === undefined && kind === undefined) return undefined
      const slot = known ?? open(chain, state.chain, id, (kind as () => SeriesKind<unknown>)())
      if (known !== undefined && used.delete(slot)) used.add(slot)
      return (slot.loading ?? slot.series) as Promise<Series | undefined> | Series
    },
    apply({ state, update, missingUpdates }) {
      const chain = chains.get(state.chain)
      const isNext = chain?.epoch === update.epoch && missingUpdates === 0
      if (chain === undefined || !isNext) {
        if (chain !== undefined) clear(chain)
        const { epoch, seq } = update
        const notBefore = missingUpdates > 0 ? { epoch, seq: seq - 1 } : undefined
        chains.set(state.chain, { epoch, seq, slots: new Map(), notBefore })
        return
      }
      chain.seq = update.seq
      follow(chain, update)
      shrink()
    },
    get bytes() {
      return bytes
    },
    get size() {
      return used.size
    },
  }
}
