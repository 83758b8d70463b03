/** Venue events → the record events of the venue's pairs, and the list that collects a block's events. */
import type { Event, LiquidityKind } from '../../../../core/domain/records.js'
import { tradedSqrtPrice } from '../../traded-price.js'
import type { EvmLog } from '../log.js'
import type { VenueEvent } from '../protocol.js'
import { pairId, type Venue, type VenueState } from '../venue.js'

export type EventInput = {
  venue: Venue
  /** The venue's published pairs. */
  pairs: readonly string[]
  venueEvent: VenueEvent
  /** The signer; undefined if only logs are available: then the log's sender is used. */
  wallet: string | undefined
  /** The first liquidity the venue ever had. */
  isFirst: boolean
  /** The reserves before it, where known. */
  before: VenueState['reserves']
  /** Whether the price is not the ratio of the reserves. */
  isPricedByTrades: boolean
}

export function addVenueEvent(events: EventList, input: EventInput): void {
  const { venue, pairs, venueEvent, wallet, isFirst, before } = input
  const { log } = venueEvent
  switch (venueEvent.kind) {
    case 'swap': {
      const { tokenIn, tokenOut, sender, recipient } = venueEvent
      // Field by field, position included: the hottest line of a backfill, and one shape for all.
      events.add({
        type: 'swap',
        tx_index: log.txIndex,
        log_index: log.logIndex,
        sub: 0,
        tx_hash: log.txHash,
        pool: pairId(venue, tokenIn, tokenOut),
        amm: venue.amm,
        sender,
        recipient,
        wallet: wallet ?? sender,
        token_in: venue.tokens[tokenIn] ?? '',
        amount_in: venueEvent.amountIn.toString(),
        token_out: venue.tokens[tokenOut] ?? '',
        amount_out: venueEvent.amountOut.toString(),
        reserve0: reserveOf(venueEvent.reserves, Math.min(tokenIn, tokenOut)),
        reserve1: reserveOf(venueEvent.reserves, Math.max(tokenIn, tokenOut)),
        sqrt_price: (input.isPricedByTrades ? tradedPrice(venueEvent) : venueEvent.sqrtPrice)?.toString() ?? null,
        profile: null,
      })
      return
    }
    case 'liquidity': {
      const kind = isFirst ? 'create' : venueEvent.change
      return addLiquidity(events, venue, pairs, venueEvent, { kind, amounts: venueEvent.amounts, wallet })
    }
    case 'reserves': {
      // No provider's liquidity moved, so the amounts are zero; the event carries the new reserves.
      const none = venue.tokens.map(() => 0n)
      const isLess = venueEvent.reserves?.some((reserve, place) => reserve < (before?.[place] ?? 0n)) ?? false
      return addLiquidity(events, venue, pairs, venueEvent, { kind: isLess ? 'remove' : 'add', amounts: none, wallet })
    }
    case 'launch': {
      const { token, platform, stage, progress, pool } = venueEvent
      return events.add({ type: 'launch', ...placeOf(log), token, platform, stage, progress, pool })
    }
    case 'token': {
      const { token, name, symbol, decimals, totalSupply } = venueEvent
      const total_supply = totalSupply?.toString() ?? null
      return events.add({ type: 'token', ...placeOf(log), token, name, symbol, decimals, total_supply })
    }
  }
}

type Moved = { kind: LiquidityKind; amounts: readonly bigint[]; wallet: string | undefined }

function addLiquidity(
  events: EventList,
  venue: Venue,
  pairs: readonly string[],
  { log, sender, reserves }: Extract<VenueEvent, { kind: 'liquidity' | 'reserves' }>,
  { kind, amounts, wallet }: Moved,
): void {
  for (let low = 0; low < venue.tokens.length; low += 1) {
    for (let high = low + 1; high < venue.tokens.length; high += 1) {
      const pool = pairId(venue, low, high)
      if (!pairs.includes(pool)) continue
      events.add({
        type: 'liquidity',
        ...placeOf(log),
        pool,
        amm: venue.amm,
        kind,
        sender,
        wallet: wallet ?? sender,
        amount0: (amounts[low] ?? 0n).toString(),
        amount1: (amounts[high] ?? 0n).toString(),
        reserve0: reserveOf(reserves, low),
        reserve1: reserveOf(reserves, high),
      })
    }
  }
}

function tradedPrice({ tokenIn, tokenOut, amountIn, amountOut }: Extract<VenueEvent, { kind: 'swap' }>): bigint | null {
  return tokenIn < tokenOut ? tradedSqrtPrice('evm', amountIn, amountOut) : tradedSqrtPrice('evm', amountOut, amountIn)
}

function reserveOf(reserves: VenueState['reserves'], place: number): string | null {
  return reserves?.[place]?.toString() ?? null
}

type Graduation = Extract<VenueEvent, { kind: 'launch' }>
type Funded = Iterable<{ known: { venue: Venue }; events: readonly VenueEvent[] }>

/** The pool a launch's liquidity went to: the one of its two tokens that was funded in the same transaction. Undefined: none that is followed. */
export function graduatedTo({ log }: Graduation, curve: Venue, touched: Funded): string | undefined {
  for (const { known, events } of touched) {
    const { id, tokens } = known.venue
    if (id === curve.id || tokens.length !== 2 || !curve.tokens.every((token) => tokens.includes(token))) continue
    const isFunded = (one: VenueEvent) =>
      one.kind === 'liquidity' && one.change === 'add' && one.log.txHash === log.txHash
    if (events.some(isFunded)) return id
  }
  return undefined
}

export type Place = Pick<Event, 'tx_index' | 'log_index' | 'sub' | 'tx_hash'>

/** `sub` is set by the list. */
export function placeOf({ txIndex, logIndex, txHash }: EvmLog): Place {
  return { tx_index: txIndex, log_index: logIndex, sub: 0, tx_hash: txHash }
}

/** Before the block's first log; `log` is the one that revealed the fact. */
export function openingPlace({ txHash }: EvmLog): Place {
  return { tx_index: 0, log_index: 0, sub: 0, tx_hash: txHash }
}

/** Collects a block's events: each at its log's position, those that open the block first. */
export class EventList {
  private readonly opening: Event[] = []
  private readonly events: Event[] = []

  add(event: Event): void {
    this.events.push(event)
  }

  /** Facts that hold before the block's first log. */
  open(event: Event): void {
    this.opening.push(event)
  }

  /** In order, each at a unique position. */
  finish(): Event[] {
    const { opening, events } = this
    events.sort(byPlace)
    const all = opening.length === 0 ? events : opening.concat(events)
    let before: Event | undefined
    for (const event of all) {
      // Most are alone at their position, where it is 0 already.
      if (before !== undefined && byPlace(event, before) === 0) event.sub = before.sub + 1
      before = event
    }
    return all
  }
}

function byPlace(a: Event, b: Event): number {
  return a.tx_index - b.tx_index || a.log_index - b.log_index
}
