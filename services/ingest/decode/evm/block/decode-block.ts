/**
 * Decodes one block's logs into its events and moves the book to that block. Pure but for the book: everything it needs
 * was prefetched.
 */
import type { Event } from '../../../../core/domain/records.js'
import type { EvmBlock, EvmLog } from '../log.js'
import { BadLog, type Protocol, type Refusal, type VenueEvent } from '../protocol.js'
import { pairId, type Venue, type VenueState } from '../venue.js'
import type { Book, KnownVenue } from './book.js'
import { createdVenue, type DecodeRules, isInScope, isWellMade, venueRef } from './decode-rules.js'
import { atBlock, type Prefetched, tokenEvent } from './prefetched.js'
import { addTransfers, supplyEvent } from './transfers.js'
import { addVenueEvent, EventList, graduatedTo, openingPlace, placeOf } from './venue-events.js'

export type LostLog = { log: EvmLog; reason: string; detail: string }

export type DecodedBlock = { events: Event[]; lost: LostLog[] }

export function decodeBlock(block: EvmBlock, book: Book, prefetched: Prefetched, rules: DecodeRules): DecodedBlock {
  return new BlockDecoder(block, book, prefetched, rules).decode()
}

/** A venue with logs in this block. `known` lags: `state` is the current one. `last`: its last log so far. */
type Touched = {
  known: KnownVenue
  state: VenueState
  protocol: Protocol
  events: VenueEvent[]
  last: EvmLog
  hasRefused?: true
}

class BlockDecoder {
  private readonly eventList = new EventList()
  private readonly lost: LostLog[] = []
  /** In the order of each venue's first log. */
  private readonly touched = new Map<string, Touched>()

  constructor(
    private readonly block: EvmBlock,
    private readonly book: Book,
    private readonly prefetched: Prefetched,
    private readonly rules: DecodeRules,
  ) {}

  decode(): DecodedBlock {
    const { block, book, prefetched, rules, eventList } = this
    // Before pools are announced: a token's transfers count from the block after its first pool.
    addTransfers(block, book, prefetched, rules, eventList)
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
        this.addLoss(log, error)
      }
    }
    this.settle(ofTransaction)
    this.close()
    return { events: eventList.finish(), lost: this.lost }
  }

  private create(log: EvmLog): void {
    const venue = createdVenue(log, this.rules)
    if (venue === null || this.book.venue(venue.id) !== undefined || this.touched.has(venue.id)) return
    const protocol = this.rules.protocolNamed(venue.protocol)
    if (protocol === undefined) return
    this.announceTokens(venue, log, 'at_log')
    const pairs = venue.tokens.length === 2 ? [venue.id] : []
    if (pairs.length > 0) this.eventList.add({ ...poolEvent(venue, 0, 1), ...placeOf(log) })
    const state = protocol.emptyState(venue)
    const known: KnownVenue = { venue, state, pairs, funded: false }
    this.touched.set(venue.id, { known, state, protocol, events: [], last: log })
  }

  private apply(log: EvmLog): Touched | undefined {
    const ref = venueRef(log, this.rules)
    if (ref === null) return undefined
    const touched = this.touched.get(ref.id) ?? this.touch(ref.id, log)
    if (touched === undefined || !ref.candidates.includes(touched.protocol)) return undefined
    try {
      const { state, events } = touched.protocol.apply(log, touched.known.venue, touched.state)
      touched.state = state
      touched.last = log
      touched.events.push(...events)
    } catch (error) {
      touched.state = touched.protocol.refuse?.(log, touched.state) ?? touched.state
      touched.hasRefused = true
      this.addLoss(log, error)
    }
    return touched
  }

  /** Opens a venue at its first log of the block. */
  private touch(id: string, log: EvmLog): Touched | undefined {
    const known = this.book.venue(id) ?? this.announce(id, log)
    const protocol = known === undefined ? undefined : this.rules.protocolNamed(known.venue.protocol)
    if (known === undefined || protocol === undefined) return undefined
    const touched: Touched = { known, state: known.state, protocol, events: [], last: log }
    this.touched.set(id, touched)
    return touched
  }

  private announce(id: string, log: EvmLog): KnownVenue | undefined {
    const found = this.prefetched.venues.get(id)
    if (found === undefined) return undefined
    if ('refused' in found) {
      if (this.isWanted(id, log, found)) this.lost.push({ log, reason: 'pool_undescribed', detail: found.refused })
      // Reported once, not with every log of a busy pool.
      if (found.isOurs === true) this.prefetched.venues.delete(id)
      return undefined
    }
    const { venue, state } = found
    if (!isWellMade(venue) || !isInScope(this.rules.scope, venue)) return undefined
    this.announceTokens(venue, log, 'at_start')
    const pairs = venue.tokens.length === 2 ? [id] : []
    if (pairs.length > 0) this.eventList.open({ ...poolEvent(venue, 0, 1), ...openingPlace(log) })
    return { venue, state, pairs, funded: null }
  }

  /** Whether a pool that cannot be followed was configured, by name or through its exchange. */
  private isWanted(id: string, { address }: EvmLog, { isOurs }: Refusal): boolean {
    const { scope, contracts } = this.rules
    const amm = contracts.contracts.get(address)?.amm ?? ''
    return scope.pools.has(id) || (isOurs === true && isInScope(scope, { id, amm, tokens: [] }))
  }

  private announceTokens(venue: Venue, log: EvmLog, where: 'at_log' | 'at_start'): void {
    for (const token of venue.tokens) {
      const known = this.book.token(token)
      if (known === undefined) {
        const event = tokenEvent(token, this.prefetched)
        if (where === 'at_start') this.eventList.open({ ...event, ...openingPlace(log) })
        else this.eventList.add({ ...event, ...placeOf(log) })
      }
      if (known?.traded !== true) this.book.putToken(token, { traded: true })
    }
  }

  private settle(ofTransaction: Iterable<Touched>): void {
    for (const touched of ofTransaction) {
      const { known, protocol } = touched
      if (protocol.settle === undefined) continue
      const { state, events } = protocol.settle(known.venue, touched.state)
      touched.state = state
      touched.events.push(...events)
    }
  }

  /** Adds each venue's events at the block's end, with reserves read there, first liquidity and pairs of several tokens. */
  private close(): void {
    for (const [id, touched] of this.touched) {
      const events = inOrder(touched.events)
      let before = this.book.venue(id)?.state.reserves ?? null
      const complete = this.withPools(touched.known.venue, this.withReadReserves(touched, events))
      for (const venueEvent of complete) {
        touched.known = this.addEvents(touched, venueEvent, before)
        before = venueEvent.reserves ?? before
      }
      if (touched.known.venue.tokens.length > 2) this.correctOtherPairs(touched.known, complete)
      const isUnfunded = before === null && touched.known.funded === null
      if (isUnfunded && touched.hasRefused !== true) this.addFirstReserves(touched)
      this.addShares(touched)
      this.book.putVenue(id, { ...touched.known, state: touched.state })
    }
  }

  private withPools(venue: Venue, events: readonly VenueEvent[]): readonly VenueEvent[] {
    if (!events.some(({ kind }) => kind === 'launch')) return events
    return events.map((venueEvent) => {
      if (venueEvent.kind !== 'launch' || venueEvent.stage !== 'graduated') return venueEvent
      return { ...venueEvent, pool: graduatedTo(venueEvent, venue, this.touched.values()) ?? venueEvent.pool }
    })
  }

  private withReadReserves(touched: Touched, events: readonly VenueEvent[]): readonly VenueEvent[] {
    const { known, protocol } = touched
    if (protocol.readReserves === undefined) return events
    const read = this.prefetched.reserves.get(atBlock(this.block.number, known.venue.id)) ?? null
    touched.state = { ...touched.state, reserves: read }
    const last = events.findLastIndex(({ kind }) => kind !== 'launch' && kind !== 'token')
    return events.map((venueEvent, index) => ({ ...venueEvent, reserves: index === last ? read : null }))
  }

  private addEvents({ known, protocol }: Touched, venueEvent: VenueEvent, before: VenueState['reserves']): KnownVenue {
    const { venue } = known
    let { pairs, funded } = known
    if (venueEvent.kind === 'swap') {
      const pair = pairId(venue, venueEvent.tokenIn, venueEvent.tokenOut)
      if (!pairs.includes(pair)) {
        const event = poolEvent(venue, venueEvent.tokenIn, venueEvent.tokenOut)
        this.eventList.add({ ...event, ...placeOf(venueEvent.log) })
        pairs = [...pairs, pair]
      }
    }
    const isFirst = venueEvent.kind === 'liquidity' && venueEvent.change === 'add' && funded === false
    const wallet = this.block.senders.get(venueEvent.log.txHash)
    const isPricedByTrades = protocol.isPricedByTrades?.(venue) === true
    addVenueEvent(this.eventList, { venue, pairs, venueEvent, wallet, isFirst, before, isPricedByTrades })
    if (isFirst) funded = true
    return pairs === known.pairs && funded === known.funded ? known : { ...known, pairs, funded }
  }

  /** For a venue without a seen creation whose logs changed nothing: publishes the reserves that were read. */
  private addFirstReserves({ known: { venue, pairs }, state: { reserves }, last }: Touched): void {
    if (reserves !== null) this.addReserves(venue, pairs, { log: last, reserves, sender: last.address })
  }

  private addShares({ known: { venue }, last }: Touched): void {
    const supply = this.prefetched.shares.get(atBlock(this.block.number, venue.id)) ?? null
    if (supply !== null) this.eventList.add(supplyEvent(venue.id, supply, last))
  }

  /** A trade of two tokens changes the reserves of every pair that has one of them. */
  private correctOtherPairs({ venue, pairs }: KnownVenue, venueEvents: readonly VenueEvent[]): void {
    const last = venueEvents.findLast(({ reserves }) => reserves !== null)
    if (last?.kind !== 'swap') return
    const others = pairs.filter((pair) => pair !== pairId(venue, last.tokenIn, last.tokenOut))
    this.addReserves(venue, others, last)
  }

  /** Adds reserves that no log of these pairs states. */
  private addReserves(
    venue: Venue,
    pairs: readonly string[],
    { log, reserves, sender }: { log: EvmLog; reserves: VenueState['reserves']; sender: string },
  ): void {
    const venueEvent: VenueEvent = { kind: 'reserves', log, reserves, sender }
    const wallet = this.block.senders.get(log.txHash)
    const input = { venue, pairs, venueEvent, wallet, isFirst: false, before: null, isPricedByTrades: false }
    addVenueEvent(this.eventList, input)
  }

  /** A bad log becomes a dead letter only if it comes from a known venue or contract; others merely look like ours. */
  private addLoss(log: EvmLog, error: unknown): void {
    const { address } = log
    const isVenue = this.book.venue(address) !== undefined || this.touched.has(address)
    const isOurs = isVenue || this.rules.contracts.contracts.has(address)
    if (!isOurs) return
    const reason = error instanceof BadLog ? 'bad_log' : 'decoder_failed'
    this.lost.push({ log, reason, detail: error instanceof Error ? error.message : String(error) })
  }
}

/** Events that waited for their transaction's end come after later ones: sort by log index. */
function inOrder(events: VenueEvent[]): VenueEvent[] {
  for (let place = 1; place < events.length; place++) {
    const [before, one] = [events[place - 1], events[place]]
    if (before !== undefined && one !== undefined && one.log.logIndex < before.log.logIndex)
      return events.sort((a, b) => a.log.logIndex - b.log.logIndex)
  }
  return events
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
