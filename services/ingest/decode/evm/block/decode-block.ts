/** One block's logs → its events, and the book moved on to it. Pure but for the book: everything it needs was learned before. */
import type { Event } from '../../../../core/domain/records.js'
import type { EvmBlock, EvmLog } from '../log.js'
import { BadLog, type Happening, type Protocol, type Refusal } from '../protocol.js'
import { pairId, type Venue, type VenueState } from '../venue.js'
import type { Book, KnownVenue } from './book.js'
import { EventList, openingPlace, placeOf } from './event-list.js'
import { graduatedTo } from './graduated-to.js'
import { addHappening } from './happening-events.js'
import { atBlock, type Learned, tokenEvent } from './learned.js'
import { createdVenue, type DecodeRules, isInScope, isWellMade, venueRef } from './rules.js'
import { addTransfers } from './transfers.js'

export type LostLog = { log: EvmLog; reason: string; detail: string }

export type DecodedBlock = { events: Event[]; lost: LostLog[] }

export function decodeBlock(block: EvmBlock, book: Book, learned: Learned, rules: DecodeRules): DecodedBlock {
  return new BlockDecoder(block, book, learned, rules).decode()
}

type Touched = {
  /** But for its state, which moves with every log. */
  known: KnownVenue
  state: VenueState
  protocol: Protocol
  happenings: Happening[]
  /** Its last log so far. */
  last: EvmLog
  hasRefused?: true
}

class BlockDecoder {
  private readonly events = new EventList()
  private readonly lost: LostLog[] = []
  /** Venues with logs in this block, in the order of their first. */
  private readonly touched = new Map<string, Touched>()

  constructor(
    private readonly block: EvmBlock,
    private readonly book: Book,
    private readonly learned: Learned,
    private readonly rules: DecodeRules,
  ) {}

  decode(): DecodedBlock {
    const { block, book, learned, rules, events } = this
    // Before pools are announced: a token's transfers count from the block after its pool was met.
    addTransfers(block, book, learned, rules, events)
    let ofTransaction = new Set<Touched>()
    let txHash = ''
    for (const log of block.logs) {
      if (log.txHash !== txHash) {
        this.settle(ofTransaction)
        ofTransaction = new Set()
        txHash = log.txHash
      }
      try {
        this.create(log)
        const touched = this.apply(log)
        if (touched !== undefined) ofTransaction.add(touched)
      } catch (error) {
        this.lose(log, error)
      }
    }
    this.settle(ofTransaction)
    this.close()
    return { events: events.finish(), lost: this.lost }
  }

  private create(log: EvmLog): void {
    const venue = createdVenue(log, this.rules)
    if (venue === null || this.book.venue(venue.id) !== undefined || this.touched.has(venue.id)) return
    const protocol = this.rules.protocolNamed(venue.protocol)
    if (protocol === undefined) return
    this.announceTokens(venue, log, 'at_log')
    const pairs = venue.tokens.length === 2 ? [venue.id] : []
    if (pairs.length > 0) this.events.add({ ...poolEvent(venue, 0, 1), ...placeOf(log) })
    const state = protocol.emptyState(venue)
    const known: KnownVenue = { venue, state, pairs, funded: false }
    this.touched.set(venue.id, { known, state, protocol, happenings: [], last: log })
  }

  private apply(log: EvmLog): Touched | undefined {
    const ref = venueRef(log, this.rules)
    if (ref === null) return undefined
    const touched = this.touched.get(ref.id) ?? this.meet(ref.id, log)
    if (touched === undefined || !ref.candidates.includes(touched.protocol)) return undefined
    try {
      const { state, happenings } = touched.protocol.apply(log, touched.known.venue, touched.state)
      touched.state = state
      touched.last = log
      touched.happenings.push(...happenings)
    } catch (error) {
      touched.state = touched.protocol.refuse?.(log, touched.state) ?? touched.state
      touched.hasRefused = true
      this.lose(log, error)
    }
    return touched
  }

  /** A venue's first log of the block. */
  private meet(id: string, log: EvmLog): Touched | undefined {
    const known = this.book.venue(id) ?? this.announce(id, log)
    const protocol = known === undefined ? undefined : this.rules.protocolNamed(known.venue.protocol)
    if (known === undefined || protocol === undefined) return undefined
    const touched: Touched = { known, state: known.state, protocol, happenings: [], last: log }
    this.touched.set(id, touched)
    return touched
  }

  private announce(id: string, log: EvmLog): KnownVenue | undefined {
    const found = this.learned.venues.get(id)
    if (found === undefined) return undefined
    if ('refused' in found) {
      if (this.isMissed(id, log, found)) this.lost.push({ log, reason: 'pool_undescribed', detail: found.refused })
      // Told once, not with every log of a busy pool.
      if (found.isOurs === true) this.learned.venues.delete(id)
      return undefined
    }
    const { venue, state } = found
    if (!isWellMade(venue) || !isInScope(this.rules.scope, venue)) return undefined
    this.announceTokens(venue, log, 'at_start')
    const pairs = venue.tokens.length === 2 ? [id] : []
    if (pairs.length > 0) this.events.open({ ...poolEvent(venue, 0, 1), ...openingPlace(log) })
    return { venue, state, pairs, funded: null }
  }

  /** Whether a pool that cannot be followed is one that was asked for, by name or with its whole exchange. */
  private isMissed(id: string, { address }: EvmLog, { isOurs }: Refusal): boolean {
    const { scope, contracts } = this.rules
    const amm = contracts.contracts.get(address)?.amm ?? ''
    return scope.pools.has(id) || (isOurs === true && isInScope(scope, { id, amm, tokens: [] }))
  }

  private announceTokens(venue: Venue, log: EvmLog, where: 'at_log' | 'at_start'): void {
    for (const token of venue.tokens) {
      const known = this.book.token(token)
      if (known === undefined) {
        const event = tokenEvent(token, this.learned)
        if (where === 'at_start') this.events.open({ ...event, ...openingPlace(log) })
        else this.events.add({ ...event, ...placeOf(log) })
      }
      if (known?.traded !== true) this.book.putToken(token, { traded: true })
    }
  }

  private settle(ofTransaction: Iterable<Touched>): void {
    for (const touched of ofTransaction) {
      const { known, protocol } = touched
      if (protocol.settle === undefined) continue
      const { state, happenings } = protocol.settle(known.venue, touched.state)
      touched.state = state
      touched.happenings.push(...happenings)
    }
  }

  /** What the block's end tells: reserves that logs do not, the first liquidity, pairs of several tokens. */
  private close(): void {
    for (const [id, touched] of this.touched) {
      const happenings = inOrder(touched.happenings)
      let before = this.book.venue(id)?.state.reserves ?? null
      const told = this.withPools(touched.known.venue, this.withReadReserves(touched, happenings))
      for (const happening of told) {
        touched.known = this.tell(touched, happening, before)
        before = happening.reserves ?? before
      }
      if (touched.known.venue.tokens.length > 2) this.correctOtherPairs(touched.known, told)
      const isUntold = before === null && touched.known.funded === null
      if (isUntold && touched.hasRefused !== true) this.tellFirstReserves(touched)
      this.book.putVenue(id, { ...touched.known, state: touched.state })
    }
  }

  private withPools(venue: Venue, happenings: readonly Happening[]): readonly Happening[] {
    if (!happenings.some(({ kind }) => kind === 'launch')) return happenings
    return happenings.map((happening) => {
      if (happening.kind !== 'launch' || happening.stage !== 'graduated') return happening
      return { ...happening, pool: graduatedTo(happening, venue, this.touched.values()) ?? happening.pool }
    })
  }

  private withReadReserves(touched: Touched, happenings: readonly Happening[]): readonly Happening[] {
    const { known, protocol } = touched
    if (protocol.readReserves === undefined) return happenings
    const read = this.learned.reserves.get(atBlock(this.block.number, known.venue.id)) ?? null
    touched.state = { ...touched.state, reserves: read }
    const last = happenings.findLastIndex(({ kind }) => kind !== 'launch' && kind !== 'token')
    return happenings.map((happening, index) => ({ ...happening, reserves: index === last ? read : null }))
  }

  private tell({ known, protocol }: Touched, happening: Happening, before: VenueState['reserves']): KnownVenue {
    const { venue } = known
    let { pairs, funded } = known
    if (happening.kind === 'swap') {
      const pair = pairId(venue, happening.tokenIn, happening.tokenOut)
      if (!pairs.includes(pair)) {
        const event = poolEvent(venue, happening.tokenIn, happening.tokenOut)
        this.events.add({ ...event, ...placeOf(happening.log) })
        pairs = [...pairs, pair]
      }
    }
    const isFirst = happening.kind === 'liquidity' && happening.change === 'add' && funded === false
    const wallet = this.block.senders.get(happening.log.txHash)
    const isPricedByTrades = protocol.isPricedByTrades?.(venue) === true
    addHappening(this.events, { venue, pairs, happening, wallet, isFirst, before, isPricedByTrades })
    if (isFirst) funded = true
    return pairs === known.pairs && funded === known.funded ? known : { ...known, pairs, funded }
  }

  /** Of a venue met in mid-life by logs that changed nothing: what was read of it is the first anybody hears. */
  private tellFirstReserves({ known: { venue, pairs }, state: { reserves }, last }: Touched): void {
    if (reserves !== null) this.tellReserves(venue, pairs, { log: last, reserves, sender: last.address })
  }

  /** A trade of two tokens changes the reserves of every pair that has one of them. */
  private correctOtherPairs({ venue, pairs }: KnownVenue, told: readonly Happening[]): void {
    const last = told.findLast(({ reserves }) => reserves !== null)
    if (last?.kind !== 'swap') return
    const others = pairs.filter((pair) => pair !== pairId(venue, last.tokenIn, last.tokenOut))
    this.tellReserves(venue, others, last)
  }

  /** Reserves that no log of these pairs told. */
  private tellReserves(
    venue: Venue,
    pairs: readonly string[],
    { log, reserves, sender }: { log: EvmLog; reserves: VenueState['reserves']; sender: string },
  ): void {
    const happening: Happening = { kind: 'reserves', log, reserves, sender }
    const wallet = this.block.senders.get(log.txHash)
    const told = { venue, pairs, happening, wallet, isFirst: false, before: null, isPricedByTrades: false }
    addHappening(this.events, told)
  }

  /** A stranger's log that only looks like one of ours is nobody's loss. */
  private lose(log: EvmLog, error: unknown): void {
    const { address } = log
    const isVenue = this.book.venue(address) !== undefined || this.touched.has(address)
    const isOurs = isVenue || this.rules.contracts.contracts.has(address)
    if (!isOurs) return
    const reason = error instanceof BadLog ? 'bad_log' : 'decoder_failed'
    this.lost.push({ log, reason, detail: error instanceof Error ? error.message : String(error) })
  }
}

/** Those of a transaction that had to wait for its end come behind others. */
function inOrder(happenings: Happening[]): Happening[] {
  for (let place = 1; place < happenings.length; place++) {
    const [before, one] = [happenings[place - 1], happenings[place]]
    if (before !== undefined && one !== undefined && one.log.logIndex < before.log.logIndex)
      return happenings.sort((a, b) => a.log.logIndex - b.log.logIndex)
  }
  return happenings
}

function poolEvent(venue: Venue, first: number, second: number) {
  const [low, high] = first < second ? [first, second] : [second, first]
  return {
    type: 'pool' as const,
    pool: pairId(venue, low, high),
    amm: venue.amm,
    token0: venue.tokens[low] ?? '',
    token1: venue.tokens[high] ?? '',
    fee: venue.fee,
    creator: venue.creator,
  }
}
