/** The fold's whole state of one chain, and the current block's journal: every change goes through `touch…`. */
import type { ChainFacts } from '../../core/domain/chains.js'
import type { Balance } from './balances.js'
import { BUCKET_WIDTH, type BucketRing, JOURNALED, TIME } from './bucket-ring.js'
import { BucketRows } from './bucket-rows.js'
import { ByHolder } from './by-holder.js'
import { type BlockJournal, type Head, HOLDER_CODE, type Holder, OP } from './journal.js'
import { ActivePair, PairTable } from './pairs.js'
import type { SharedSpace, Windows } from './rolling-windows.js'
import { TokenTable } from './tokens.js'
import { UndoStack } from './undo-stack.js'
import { WalletNames } from './wallets.js'

/** Reads state that is not in memory: idle pairs' candles and holders' balances. */
export interface RestingState {
  activePair(id: number, space: SharedSpace): ActivePair | undefined
  balance(token: string, holder: string): Balance | undefined
}

/** Told before a pair or token changes, before a journal's data is given to another, and before anything is undone. */
export interface BeforeChange {
  pair(id: number): void
  token(id: number): void
  journal(journal: BlockJournal): void
  all(): void
}

export type FoldSettings = {
  /** How far a block's time may be behind the chain's now. */
  maxTimeBackS: number
  /** At most this many journals are kept, even where finality lags. */
  journalBlocks: number
}

const FIRST_STACK_VALUES = 1024
const MAX_FREE_STACKS = 8

export class FoldState {
  readonly names = new WalletNames()
  readonly buckets = new BucketRows(BUCKET_WIDTH)
  readonly tokens: TokenTable
  readonly pairs = new PairTable()
  readonly journals: BlockJournal[] = []
  seq = 0
  head: Head | null = null
  firstBlock: Head | null = null
  nowS = 0
  /** The chain's now at its last final block: what is older than its windows is never needed again. */
  finalNowS = 0
  /** The highest now ever, orphaned blocks included: orders what checkpoints write. */
  highNowS = 0
  finalizedNumber = 0
  /** Balances changed since the last checkpoint; null: removed by a reorg. */
  readonly balances = new ByHolder<Balance | null>()
  readonly changedPairs = new Set<number>()
  readonly changedTokens = new Set<number>()
  /** A checkpoint that still copies the state. */
  beforeChange: BeforeChange | null = null
  /** Pairs that traded in a minute, to find windows that move without a trade. */
  readonly tradedMinutes = new Map<number, Set<number>>()
  /** Tokens the current block has changed, in order. */
  touchedTokens: number[] = []
  private readonly pairTouched: number[] = []
  private readonly tokenTouched: number[] = []
  private current: BlockJournal | null = null
  private readonly freeStacks: UndoStack[] = []

  constructor(
    readonly facts: ChainFacts,
    readonly settings: FoldSettings,
    readonly epoch: number,
    private readonly resting: RestingState,
  ) {
    this.tokens = new TokenTable(facts)
  }

  get journal(): BlockJournal {
    if (this.current === null) throw new Error('no block is being applied: call beginBlock first')
    return this.current
  }

  beginBlock(head: Head, finalizedNumber: number): void {
    const before = { head: this.head, nowS: this.nowS, finalizedNumber: this.finalizedNumber }
    this.seq += 1
    this.head = head
    this.firstBlock ??= head
    this.nowS = Math.max(this.nowS, head.timeS)
    this.highNowS = Math.max(this.highNowS, this.nowS)
    this.finalizedNumber = Math.max(this.finalizedNumber, finalizedNumber)
    this.touchedTokens = []
    this.current = {
      ...{
        seq: this.seq,
        head,
        nowS: this.nowS,
        before,
        stack: this.freeStacks.pop() ?? new UndoStack(new Float64Array(FIRST_STACK_VALUES)),
      },
      ...{
        texts: [],
        holdings: [],
        balances: [],
        wallets: [],
        events: [],
        mainPairs: [],
        publishedPairs: [],
        touchedPairs: 0,
        publishedTokens: [],
      },
    }
  }

  /** Keeps the block's journal and drops those of final blocks. */
  endBlock(): void {
    this.journals.push(this.journal)
    this.current = null
    while (this.journals.length > 0) {
      const oldest = this.journals[0] as BlockJournal
      if (oldest.head.number > this.finalizedNumber && this.journals.length <= this.settings.journalBlocks) break
      this.finalNowS = oldest.nowS
      this.journals.shift()
      this.beforeChange?.journal(oldest)
      this.recycle(oldest.stack)
    }
  }

  /** Undo stacks are large: a new block reuses the one of a block that is final or undone. */
  recycle(stack: UndoStack): void {
    stack.length = 0
    if (this.freeStacks.length < MAX_FREE_STACKS) this.freeStacks.push(stack)
  }

  touchPair(id: number): void {
    if (this.pairTouched[id] === this.seq) return
    this.pairTouched[id] = this.seq
    this.beforeChange?.pair(id)
    const { stack } = this.journal
    this.pairs.rows.pushRow(id, stack)
    stack.push(id)
    stack.push(OP.pairRow)
    this.changedPairs.add(id)
  }

  touchToken(id: number): void {
    if (this.tokenTouched[id] === this.seq) return
    this.tokenTouched[id] = this.seq
    this.beforeChange?.token(id)
    const { stack } = this.journal
    this.tokens.rows.pushRow(id, stack)
    stack.push(id)
    stack.push(OP.tokenRow)
    this.changedTokens.add(id)
    this.touchedTokens.push(id)
  }

  /** A row just added has nothing to restore. */
  markNewPair(id: number): void {
    this.pairTouched[id] = this.seq
    this.journal.texts.push({ op: 'newPair' })
    this.changedPairs.add(id)
  }

  markNewToken(id: number): void {
    this.tokenTouched[id] = this.seq
    this.journal.texts.push({ op: 'newToken' })
    this.changedTokens.add(id)
    this.touchedTokens.push(id)
  }

  touchBucket(holder: Holder, id: number, ring: BucketRing, ringIndex: number, index: number): void {
    const { stack } = this.journal
    stack.pushSlice(ring.data, ring.at(index), JOURNALED)
    stack.push(ringIndex)
    stack.push(HOLDER_CODE[holder])
    stack.push(id)
    stack.push(OP.bucket)
    ring.changed(ring.data[ring.at(index) + TIME] as number)
  }

  noteNewBucket(holder: Holder, id: number, ringIndex: number, timeS: number): void {
    const { stack } = this.journal
    stack.push(timeS)
    stack.push(ringIndex)
    stack.push(HOLDER_CODE[holder])
    stack.push(id)
    stack.push(OP.newBucket)
  }

  activePair(id: number): ActivePair {
    const known = this.pairs.active[id]
    if (known !== null && known !== undefined) return known
    const kept = this.pairs.resting.delete(id) ? this.resting.activePair(id, this) : undefined
    const active = kept ?? new ActivePair(this)
    this.pairs.active[id] = active
    return active
  }

  /** The windows a token's statistics come from: its own, or those of its only pair. */
  tokenWindows(id: number): Windows | null {
    const own = this.tokens.windows[id]
    if (own !== null && own !== undefined) return own
    const only = this.tokens.pairsOf(id)[0]
    return only === undefined ? null : (this.pairs.active[only]?.windows ?? null)
  }

  balance(token: string, holder: string): Balance | undefined {
    const changed = this.balances.get(token, holder)
    if (changed !== undefined) return changed ?? undefined
    return this.resting.balance(token, holder)
  }
}
