/** What a record changes: gathered while its block is applied, and the result for publishing and storing. */
import type { Block, BlockUpdate, Event, PairUpdate, TokenUpdate } from '../../core/domain/records.js'
import type { Balance } from '../state/balances.js'
import type { FoldState } from '../state/fold-state.js'
import type { EventKey } from '../state/journal.js'
import { PAIR } from '../state/pairs.js'
import { BlockPair } from './block-pair.js'
import type { HolderHour } from './holder-hours.js'
import type { CandleKey } from './pack-candles.js'
import type { PairHour } from './pair-hours.js'

/** `raw` null: without the orphaned blocks this was never a holder. */
export type HolderChange = Omit<Balance, 'raw'> & { raw: bigint | null }

export type MainPairTombstone = { token: string; block: number }

export type DeadEvent = { reason: string; detail: string; position: string; block: number; raw: string }

/** What applying one log record gave: the update, and what only the sink needs besides it. */
export type FoldResult = {
  update: BlockUpdate
  /** Whole entries of what the update has as moved. */
  moved: { pairs: PairUpdate[]; tokens: TokenUpdate[] }
  pairHours: PairHour[]
  holderHours: HolderHour[]
  holders: HolderChange[]
  dead: DeadEvent[]
  /** Stored rows that a reorg removed. */
  goneEvents: EventKey[]
  /** Candles of pairs the reorg removed; those of other pairs are in the update. */
  goneCandles: (CandleKey & { pair: string })[]
  goneMainPairs: MainPairTombstone[]
  /** Applied swaps, for progress reports. */
  swaps: number
}

/** What the events of the current block have touched so far. */
export class BlockChanges {
  readonly pairs = new Map<number, BlockPair>()
  /** Tokens to re-rank: targets of touched pools and launched tokens, in order of first touch. */
  readonly rankTokens = new Set<number>()
  /** Tokens whose facts changed. */
  readonly describedTokens = new Set<number>()
  /** Untouched pairs that must be published again, because a token's decimals became known. */
  readonly republishedPairs = new Set<number>()
  /** Tokens whose number of holders changed. */
  readonly countedTokens = new Set<number>()
  readonly mainPairsBefore = new Map<number, number>()
  readonly holders: HolderChange[] = []
  readonly dead: DeadEvent[] = []
  /** Swaps and liquidity events applied so far. */
  poolEvents = 0
  swaps = 0

  constructor(
    readonly state: FoldState,
    readonly block: Block,
  ) {}

  pair(id: number): BlockPair {
    const known = this.pairs.get(id)
    if (known !== undefined) return known
    const fresh = new BlockPair(id, this.state.pairs.rows.get(id, PAIR.priceUsd))
    this.pairs.set(id, fresh)
    this.rankTokens.add(this.state.pairs.targetToken(id))
    return fresh
  }

  eventId(event: { log_index: number; sub?: number }): string {
    if (this.state.facts.family !== 'evm') return `${this.block.number}-${this.poolEvents}`
    const sub = event.sub ?? 0
    return sub === 0 ? `${this.block.number}-${event.log_index}` : `${this.block.number}-${event.log_index}.${sub}`
  }

  drop(event: Event, reason: string, detail: string): void {
    const position = `${event.tx_index}:${event.log_index}:${event.sub ?? 0}`
    const raw = JSON.stringify({ ...event, type: event.type })
    this.dead.push({ reason, detail, position, block: this.block.number, raw })
  }
}
