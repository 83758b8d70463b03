import { eventsOf } from '../../../core/domain/pair-events.js'
import type { BlockUpdate } from '../../../core/domain/records.js'
import { rowVersion } from '../../../core/store/tables.js'
import type { ServedChain } from '../../memory/served-chain.js'
import { largestBalancesOf } from '../balances.js'
import type { HolderReads } from '../holder-reads.js'
import type { WalletTrades } from '../holder-trades.js'
import type { QueryLanes } from '../query-lanes.js'
import { type Flush, MAX_HOLDERS, type TopHolders, walletsOf } from '../top-holders.js'
import { entriesOf } from './hot-launch.js'
import { SortedBalances } from './sorted-balances.js'
import { WalletMarks } from './wallet-marks.js'

/** Holders may sell all they have before the rest must be read again. */
const KEPT_HOLDERS = 2 * MAX_HOLDERS
const NO_HOLDERS: TopHolders = { balances: [], trades: new Map() }

export type HolderSources = { lanes: QueryLanes; reads: HolderReads; flush: Flush; nowMs: () => number }

/**
 * A token's largest holders and what they traded. Updates tell whose trades changed, but carry no balances: those that changed
 * since the last reading are read, by their version.
 */
export class HotTopHolders {
  facts = NO_HOLDERS
  readAtMs = Number.NEGATIVE_INFINITY
  /** The store had every change of the token when it was read, and no update changed it since. */
  isNewest = false
  private isTouched = true
  private refreshing: Promise<void> | undefined
  private balances: SortedBalances | undefined
  /** Of rows that were stored for certain when the balances were read. */
  private readVersion = 0
  /** Of each wallet, undefined if it has none. */
  private trades = new Map<string, WalletTrades | undefined>()
  private readonly marks = new WalletMarks()

  constructor(
    private readonly sources: HolderSources,
    private readonly state: ServedChain,
    private readonly token: string,
    private readonly isFlushed: () => boolean,
  ) {}

  get wallets(): readonly string[] {
    return walletsOf(this.facts.balances)
  }

  get holders(): number {
    return this.balances?.size ?? 0
  }

  touch(update: BlockUpdate): void {
    this.isTouched = true
    this.isNewest = false
    if (update.kind === 'retract') return this.marks.noteAll(update.seq)
    for (const entry of entriesOf(this.state, update, this.token)) {
      const events = eventsOf(entry)
      if (events.tradeCount === 0) continue
      for (const { wallet } of events.trades) if (this.trades.has(wallet)) this.marks.note(wallet, update.seq)
    }
  }

  /** Reads what changed. Requests that come meanwhile share the reading. */
  refresh(): Promise<void> {
    this.refreshing ??= this.read().finally(() => {
      this.refreshing = undefined
    })
    return this.refreshing
  }

  private async read(): Promise<void> {
    const { state, sources } = this
    const { epoch, flushed } = state
    // Before the first query: what is flushed while it runs may be missing in its answer.
    const isFlushed = this.isFlushed()
    const storedSeq = flushed.epoch === epoch ? flushed.seq : -1
    this.isTouched = false
    try {
      await sources.flush(state.chain)
      const balances = await this.readBalances(epoch)
      await this.readTrades(walletsOf(balances), isFlushed, storedSeq)
      this.readVersion = rowVersion(epoch, storedSeq)
      this.facts = { balances, trades: this.knownTrades() }
      this.isNewest = isFlushed && !this.isTouched
      this.readAtMs = sources.nowMs()
    } catch (error) {
      // Some may have been taken over and others not.
      this.balances = undefined
      throw error
    }
  }

  private async readBalances(epoch: number): Promise<TopHolders['balances']> {
    const { lanes, reads } = this.sources
    const { chain } = this.state
    if (this.balances !== undefined) {
      this.balances.apply(await reads.changes({ chain, token: this.token, afterVersion: this.readVersion }))
      const first = this.balances.first(MAX_HOLDERS)
      if (first !== undefined) return first
    }
    const { balances, hasOlder } = await largestBalancesOf(lanes.cheap, { chain, epoch }, this.token, KEPT_HOLDERS)
    const isAll = balances.length < KEPT_HOLDERS
    // The rows of an older epoch are deleted without newer ones in their place.
    this.balances = hasOlder ? undefined : new SortedBalances(balances, isAll, KEPT_HOLDERS)
    return balances.slice(0, MAX_HOLDERS)
  }

  private async readTrades(wallets: readonly string[], isFlushed: boolean, storedSeq: number): Promise<void> {
    const { state, marks, trades } = this
    const isNew = (wallet: string) => !trades.has(wallet)
    const wanted = wallets.filter((wallet) => isNew(wallet) || marks.has(wallet))
    const pairs = state.targetPairs.of(this.token)
    const read = await this.sources.reads.trades({ chain: state.chain, pairs, wallets: wanted })
    // Which wallets changed is known of those that were followed already.
    const newSeq = isFlushed && !this.isTouched ? -1 : state.seq
    marks.read(wanted, storedSeq, isNew, newSeq)
    this.trades = new Map(wallets.map((wallet) => [wallet, read.get(wallet) ?? trades.get(wallet)]))
    for (const wallet of wanted) this.trades.set(wallet, read.get(wallet))
    marks.keep((wallet) => this.trades.has(wallet))
  }

  private knownTrades(): Map<string, WalletTrades> {
    const known = new Map<string, WalletTrades>()
    for (const [wallet, trades] of this.trades) if (trades !== undefined) known.set(wallet, trades)
    return known
  }
}
