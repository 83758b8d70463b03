import { eventsOf } from '../../../core/domain/pair-events.js'
import type { BlockUpdate, PairUpdate, Trade } from '../../../core/domain/records.js'
import { type ServedChain, targetToken } from '../../memory/served-chain.js'
import {
  type FirstBuyers,
  isFirstBlock,
  type Launch,
  type LaunchRates,
  ratesOf,
  UNKNOWN_RATES,
} from '../first-buyers.js'

/** What a wallet bought (or, below 0, sold) of the token in a block. */
export type KeptChange = { block: number; wallet: string; raw: bigint }

export type LoadedLaunch = {
  /** The token's first pair. */
  pair: string | undefined
  /** Undefined: not in the history. */
  launch: Launch | undefined
  buyers: FirstBuyers
  /** The update up to which everything is included. */
  seq: number
  /** Changes of blocks up to this one are never undone. */
  floor: number
}

const BYTES_A_LAUNCH = 600
const BYTES_A_WALLET = 300
const BYTES_A_CHANGE = 120
/** With more, those that are final meanwhile are settled. */
const MANY_CHANGES = 64
/** Where finality lags. A reorg of more blocks makes the launch be read again. */
const MOST_OPEN_BLOCKS = 1_024

/** The block up to which changes need not be undone. */
export function settledUpTo(finalized: number, head: number): number {
  return Math.max(finalized, head - MOST_OPEN_BLOCKS)
}

/** The first buyers of a token, and what they kept of it. */
export class HotLaunch {
  readonly pair: string | undefined
  readonly launch: Launch | undefined
  private readonly buyers: FirstBuyers
  private readonly kept: Map<string, bigint>
  /** Of blocks that a reorg may orphan. */
  private open: KeptChange[] = []
  private seq: number
  private floor: number
  private invalid = false
  /** The token's pairs of which `pair` is known to be the first. */
  private checked: { pairs: readonly string[]; count: number } | undefined
  private last: { supply: string; rates: LaunchRates } | undefined

  constructor({ pair, launch, buyers, seq, floor }: LoadedLaunch, changes: Iterable<KeptChange>) {
    this.pair = pair
    this.launch = launch
    this.buyers = buyers
    this.seq = seq
    this.floor = floor
    this.kept = new Map([...buyers.snipers, ...buyers.insiders].map((wallet) => [wallet, 0n]))
    for (const change of changes) this.add(change)
  }

  get bytes(): number {
    return BYTES_A_LAUNCH + this.kept.size * BYTES_A_WALLET + this.open.length * BYTES_A_CHANGE
  }

  /** `supply`: raw. */
  rates(supply: string | null): LaunchRates {
    if (supply === null || this.launch === undefined) return UNKNOWN_RATES
    if (this.last?.supply !== supply) this.last = { supply, rates: ratesOf(this.buyers, this.kept, BigInt(supply)) }
    return this.last.rates
  }

  /** `pairs`: those of the token. Lists of pairs grow in place, and are replaced when one is removed. */
  isOfFirst(pairs: readonly string[], findFirst: () => string | undefined): boolean {
    if (this.checked?.pairs === pairs && this.checked.count === pairs.length) return true
    if (findFirst() !== this.pair) return false
    this.checked = { pairs, count: pairs.length }
    return true
  }

  /** An update changed who the first buyers are, or too much to undo. */
  get isInvalid(): boolean {
    return this.invalid
  }

  /** `entries`: those of pairs whose target is the token. False: it is invalid and must be read again. */
  apply(update: BlockUpdate, entries: readonly PairUpdate[]): boolean {
    if (update.seq <= this.seq) return true
    this.seq = update.seq
    this.invalid = update.kind === 'retract' ? !this.undo(update.number) : !this.follow(update, entries)
    return !this.invalid
  }

  private follow(update: BlockUpdate, entries: readonly PairUpdate[]): boolean {
    if (entries.some((entry) => entry.pair === this.pair && this.isPartOfLaunch(entry, update.number))) return false
    if (this.kept.size === 0) return true
    for (const entry of entries) for (const trade of eventsOf(entry).trades) this.add(changeOf(trade, update.number))
    if (this.open.length > MANY_CHANGES) this.settle(settledUpTo(update.finalized_number, update.number))
    return true
  }

  private isPartOfLaunch(entry: PairUpdate, block: number): boolean {
    const events = eventsOf(entry)
    if (this.launch === undefined)
      return events.liquidityCount > 0 && events.liquidity.some(({ kind }) => kind === 'create')
    return events.tradeCount > 0 && isFirstBlock(this.launch, block)
  }

  private add(change: KeptChange): void {
    const before = this.kept.get(change.wallet)
    if (before === undefined) return
    this.kept.set(change.wallet, before + change.raw)
    if (change.block > this.floor) this.open.push(change)
    this.last = undefined
  }

  private undo(toBlock: number): boolean {
    if (toBlock < this.floor || (this.launch !== undefined && isFirstBlock(this.launch, toBlock + 1))) return false
    const undone = this.open.filter(({ block }) => block > toBlock)
    if (undone.length === 0) return true
    this.open = this.open.filter(({ block }) => block <= toBlock)
    for (const { wallet, raw } of undone) this.kept.set(wallet, (this.kept.get(wallet) ?? 0n) - raw)
    this.last = undefined
    return true
  }

  private settle(upToBlock: number): void {
    if (upToBlock <= this.floor) return
    this.floor = upToBlock
    this.open = this.open.filter(({ block }) => block > upToBlock)
  }
}

export function changeOf({ wallet, sell, amount_in, amount_out }: Trade, block: number): KeptChange {
  return { block, wallet, raw: sell ? -BigInt(amount_in) : BigInt(amount_out) }
}

const entriesOfUpdates = new WeakMap<BlockUpdate, Map<string, PairUpdate[]>>()
const NONE: readonly PairUpdate[] = []

/** The entries of an update whose target is the token. */
export function entriesOf({ pairs }: ServedChain, update: BlockUpdate, token: string): readonly PairUpdate[] {
  let byToken = entriesOfUpdates.get(update)
  if (byToken === undefined) {
    byToken = new Map()
    for (const entry of update.pairs) {
      const info = entry.info ?? pairs.get(entry.pair)?.info
      if (info === undefined) continue
      const target = targetToken(info)
      const known = byToken.get(target)
      if (known === undefined) byToken.set(target, [entry])
      else known.push(entry)
    }
    entriesOfUpdates.set(update, byToken)
  }
  return byToken.get(token) ?? NONE
}
