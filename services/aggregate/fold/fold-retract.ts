/** Applies a retract: undoes the orphaned blocks by their journals and publishes again what those blocks had published. */
import { K1 } from '../../core/domain/buckets.js'
import type { BlockUpdate } from '../../core/domain/records.js'
import type { Holding } from '../state/balances.js'
import { type BucketRing, JOURNALED } from '../state/bucket-ring.js'
import { ByHolder } from '../state/by-holder.js'
import type { FoldState } from '../state/fold-state.js'
import { type BlockJournal, OP, type TextOp } from '../state/journal.js'
import { TOKEN } from '../state/tokens.js'
import type { FoldResult, HolderChange } from './block-changes.js'
import { updateHead } from './fold-block.js'
import { UndoneHolderHours } from './holder-hours.js'
import { type CandleKey, restoredCandles } from './pack-candles.js'
import { UndoneHours } from './pair-hours.js'
import { pairInfo, pairUpdate, splitRetracted, tokenUpdate } from './update-entries.js'

/** True when the chain can return to that block. */
export function canRetractTo(state: FoldState, hash: string): boolean {
  return state.journals.some((journal) => journal.head.parentHash === hash)
}

export function foldRetract(state: FoldState, toHash: string): FoldResult {
  state.beforeChange?.all()
  const undone: BlockJournal[] = []
  const mains = new Map<string, string | null>()
  const undo = new Undo(state)
  const hours = new UndoneHours(state)
  const counts = new UndoneHolderHours(state)
  while (state.head !== null && state.head.hash !== toHash) {
    const journal = state.journals.pop()
    if (journal === undefined) break
    for (const token of journal.mainPairs) if (!mains.has(token)) mains.set(token, mainPairOf(state, token))
    hours.add(journal)
    counts.add(journal)
    undo.block(journal)
    undone.push(journal)
    if (journal.head.parentHash === toHash) break
  }
  state.seq += 1
  return {
    update: retractUpdate(state, undone, undo, mains),
    moved: { pairs: [], tokens: [] },
    pairHours: [...hours.restored()],
    holderHours: [...counts.restored()],
    holders: undo.holderChanges(),
    dead: [],
    goneCandles: [...undo.gonePairs].flatMap((pair) =>
      [...(undo.candles.get(pair)?.values() ?? [])].map((key) => ({ pair, ...key })),
    ),
    goneEvents: undone.flatMap((journal) => journal.events),
    goneMainPairs: undone.flatMap((journal) =>
      journal.mainPairs.map((token) => ({ token, block: journal.head.number })),
    ),
    swaps: 0,
  }
}

class Undo {
  /** Candles the orphaned blocks had changed, by pair address (ids of undone pairs are reused). */
  readonly candles = new Map<string, Map<string, CandleKey>>()
  readonly gonePairs = new Set<string>()
  readonly goneTokens = new Set<string>()
  private readonly holdings = new ByHolder<Holding>()

  constructor(private readonly state: FoldState) {}

  block(journal: BlockJournal): void {
    const { state } = this
    for (const { holder, id, wallet, buyS, sellS } of journal.wallets.toReversed()) {
      const windows = holder === 'pair' ? state.activePair(id).windows : state.tokens.windows[id]
      windows?.setWallet(wallet, buyS, sellS)
      if (holder === 'pair') state.changedPairs.add(id)
      else state.changedTokens.add(id)
    }
    const { stack } = journal
    while (stack.length > 0) this.step(journal, stack.pop())
    state.recycle(stack)
    for (const text of journal.texts.toReversed()) this.text(text)
    for (let at = journal.holdings.length - 1; at >= 0; at -= 1) {
      const of = journal.holdings[at] as Holding
      state.balances.set(of.token, of.holder, journal.balances[at] ?? null)
      this.holdings.set(of.token, of.holder, of)
    }
    state.head = journal.before.head
    if (state.head === null) state.firstBlock = null
    state.nowS = journal.before.nowS
    state.finalizedNumber = journal.before.finalizedNumber
  }

  holderChanges(): HolderChange[] {
    const { state } = this
    return Array.from(this.holdings.entries(), ([token, holder, of]) => {
      const restored = state.balance(token, holder) ?? { of, raw: null, updatedAtS: 0 }
      return { ...restored, seq: state.seq }
    })
  }

  private step({ stack }: BlockJournal, op: number): void {
    const { state } = this
    const id = stack.pop()
    if (op === OP.pairRow) {
      state.pairs.rows.popRow(id, stack)
      state.changedPairs.add(id)
      return
    }
    if (op === OP.tokenRow) {
      state.tokens.rows.popRow(id, stack)
      state.changedTokens.add(id)
      return
    }
    const ofToken = stack.pop() === 1
    const interval = stack.pop()
    const ring = ofToken ? this.tokenRing(id, interval) : (state.activePair(id).rings[interval] as BucketRing)
    const timeS = op === OP.newBucket ? stack.pop() : stack.peek(JOURNALED)
    const index = ring.indexOf(timeS)
    if (op === OP.newBucket) ring.remove(index)
    else {
      stack.popSlice(ring.data, ring.at(index), JOURNALED)
      ring.changed(timeS)
    }
    if (ofToken) state.changedTokens.add(id)
    else {
      state.changedPairs.add(id)
      this.note(state.pairs.address[id] as string, { interval, timeS })
    }
  }

  private tokenRing(id: number, interval: number): BucketRing {
    const windows = this.state.tokens.windows[id]
    if (windows === null || windows === undefined) throw new Error(`cannot undo: token ${id} has no windows of its own`)
    return interval === K1 ? windows.minutes : windows.hours
  }

  private note(pair: string, key: CandleKey): void {
    let keys = this.candles.get(pair)
    if (keys === undefined) {
      keys = new Map()
      this.candles.set(pair, keys)
    }
    keys.set(`${key.interval}:${key.timeS}`, key)
  }

  private text(op: TextOp): void {
    const { state } = this
    switch (op.op) {
      case 'newPair': {
        const id = state.pairs.length - 1
        this.gonePairs.add(state.pairs.address[id] as string)
        state.tokens.popPair(state.pairs.targetToken(id), state.pairs.quoteToken(id))
        state.pairs.active[id]?.dispose()
        state.pairs.pop()
        state.changedPairs.add(id)
        return
      }
      case 'newToken':
        state.changedTokens.add(state.tokens.length - 1)
        this.goneTokens.add(state.tokens.address[state.tokens.length - 1] as string)
        return state.tokens.pop()
      case 'pairText':
        state.pairs.text[op.id] = op.old
        return
      case 'tokenText':
        state.tokens.text[op.id] = op.old
        return
      case 'split':
        state.tokens.windows[op.id]?.dispose()
        state.tokens.windows[op.id] = null
    }
  }
}

function mainPairOf(state: FoldState, token: string): string | null {
  const id = state.tokens.find(token)
  const main = id === undefined ? -1 : state.tokens.rows.get(id, TOKEN.mainPair)
  return main < 0 ? null : (state.pairs.address[main] ?? null)
}

function retractUpdate(
  state: FoldState,
  undone: BlockJournal[],
  undo: Undo,
  mainsBefore: Map<string, string | null>,
): BlockUpdate {
  const pairIds = [...new Set(undone.flatMap((journal) => journal.publishedPairs))].sort((a, b) => a - b)
  const tokenIds = [...new Set(undone.flatMap((journal) => journal.publishedTokens))].sort((a, b) => a - b)
  const pairs = pairIds
    .filter((id) => id < state.pairs.length)
    .map((id) => {
      const entry = pairUpdate(state, id)
      entry.info = pairInfo(state, id)
      entry.candles = restoredCandles(state, id, [...(undo.candles.get(entry.pair)?.values() ?? [])])
      return entry
    })
  const changes = [...mainsBefore].map(([token, old]) => ({ token, old_pair: old, new_pair: mainPairOf(state, token) }))
  return {
    ...updateHead(state, 'retract'),
    pairs,
    tokens: tokenIds.filter((id) => id < state.tokens.length).map((id) => tokenUpdate(state, id, true)),
    main_pair_changes: changes.filter((change) => change.old_pair !== change.new_pair),
    retracted: retractedPairs(undone, undo.gonePairs),
    gone_tokens: [...undo.goneTokens],
    moved_pairs: [],
    moved_tokens: [],
  }
}

function retractedPairs(undone: BlockJournal[], gonePairs: ReadonlySet<string>): BlockUpdate['retracted'] {
  const ids = new Map<string, string[]>([...gonePairs].map((pair) => [pair, []]))
  for (const journal of undone.toReversed()) {
    for (const { pair, id } of journal.events) {
      const known = ids.get(pair)
      if (known === undefined) ids.set(pair, [id])
      else known.push(id)
    }
  }
  return [...ids].flatMap(([pair, list]) => splitRetracted({ pair, ids: list, gone: gonePairs.has(pair) }))
}
