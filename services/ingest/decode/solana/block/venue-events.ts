/** Venue events → events of the log, preceded by the pool and its tokens where they are new. */
import type { Event } from '../../../../core/domain/records.js'
import { tradedSqrtPrice } from '../../traded-price.js'
import { WRAPPED_SOL } from '../native-programs.js'
import type { Pool, Program, VenueEvent } from '../program-decoder.js'
import type { SolanaTransaction } from '../transaction.js'
import type { Book } from './book.js'
import { isPoolWanted, type SolanaRules } from './decode-rules.js'
import { profileOf } from './wallet-profile.js'

const WRAPPED_SOL_DECIMALS = 9

type Of<Kind extends VenueEvent['kind']> = Extract<VenueEvent, { kind: Kind }>

/** Filled in as events are added. Frequent events are built with all fields at once: growing objects and spreads are slow. */
const PLACE = { tx_index: 0, log_index: 0, sub: 0, tx_hash: '' }

/** A pool with a trade or a change of liquidity, and its reserves after the last; null: unknown. */
export type SeenPool = Pick<Pool, 'pool' | 'token0' | 'token1'> & { reserve0: bigint | null; reserve1: bigint | null }

export class VenueEventWriter {
  /** By address, in the order they were first seen. */
  readonly seen = new Map<string, SeenPool>()

  constructor(
    private readonly events: EventList,
    private readonly book: Book,
    private readonly rules: SolanaRules,
  ) {}

  write(venueEvent: VenueEvent, transaction: SolanaTransaction, program: Program): void {
    switch (venueEvent.kind) {
      case 'swap':
        return this.swap(venueEvent, transaction, program)
      case 'liquidity':
        return this.liquidity(venueEvent, transaction)
      case 'pool':
        this.announce(venueEvent.pool, venueEvent, transaction)
        return
      case 'launch':
        return this.launch(venueEvent, transaction)
      case 'token': {
        const { token, name, symbol } = venueEvent
        const decimals = venueEvent.decimals ?? this.decimalsOf(token, transaction)
        return this.token(token, name, symbol, decimals, venueEvent, transaction)
      }
    }
  }

  private swap(venueEvent: Of<'swap'>, transaction: SolanaTransaction, { isPricedByTrades }: Program): void {
    const { pool, reserve0, reserve1 } = venueEvent
    const sqrtPrice = venueEvent.sqrtPrice ?? (isPricedByTrades === true ? tradedPrice(venueEvent) : null)
    if (!this.announce(pool, venueEvent, transaction)) return
    this.note(venueEvent)
    const wallet = walletOf(transaction, venueEvent.sender, venueEvent.recipient)
    const decimals0 = this.decimalsOf(pool.token0, transaction)
    const decimals1 = this.decimalsOf(pool.token1, transaction)
    this.events.add(transaction, venueEvent.instruction.order, {
      type: 'swap',
      tx_index: 0,
      log_index: 0,
      sub: 0,
      tx_hash: '',
      pool: pool.pool,
      amm: pool.amm,
      sender: venueEvent.sender,
      recipient: venueEvent.recipient,
      wallet,
      token_in: venueEvent.tokenIn,
      amount_in: venueEvent.amountIn.toString(),
      token_out: venueEvent.tokenOut,
      amount_out: venueEvent.amountOut.toString(),
      reserve0: reserve0 === null ? null : reserve0.toString(),
      reserve1: reserve1 === null ? null : reserve1.toString(),
      sqrt_price: sqrtPrice === null ? null : sqrtPrice.toString(),
      profile:
        decimals0 === null || decimals1 === null
          ? null
          : profileOf(
              transaction,
              wallet,
              { mint: pool.token0, decimals: decimals0 },
              { mint: pool.token1, decimals: decimals1 },
            ),
    })
  }

  private liquidity(venueEvent: Of<'liquidity'>, transaction: SolanaTransaction): void {
    const { pool, reserve0, reserve1 } = venueEvent
    if (!this.announce(pool, venueEvent, transaction)) return
    this.note(venueEvent)
    this.events.add(transaction, venueEvent.instruction.order, {
      type: 'liquidity',
      tx_index: 0,
      log_index: 0,
      sub: 0,
      tx_hash: '',
      pool: pool.pool,
      amm: pool.amm,
      kind: venueEvent.change,
      sender: venueEvent.sender,
      wallet: walletOf(transaction, venueEvent.sender, venueEvent.sender),
      amount0: venueEvent.amount0.toString(),
      amount1: venueEvent.amount1.toString(),
      reserve0: reserve0 === null ? null : reserve0.toString(),
      reserve1: reserve1 === null ? null : reserve1.toString(),
    })
  }

  private note({ pool: { pool, token0, token1 }, reserve0, reserve1 }: Of<'swap' | 'liquidity'>): void {
    this.seen.set(pool, { pool, token0, token1, reserve0, reserve1 })
  }

  private launch(
    { token, platform, stage, progress, pool, instruction }: Of<'launch'>,
    transaction: SolanaTransaction,
  ) {
    // Its curve is out of scope.
    if (this.book.token(token) === undefined) return
    this.events.add(transaction, instruction.order, {
      type: 'launch',
      tx_index: 0,
      log_index: 0,
      sub: 0,
      tx_hash: '',
      token,
      platform,
      stage,
      progress,
      pool,
    })
  }

  /** False: out of scope. */
  private announce(pool: Pool, venueEvent: VenueEvent, transaction: SolanaTransaction): boolean {
    if (!isPoolWanted(this.rules.scope, pool)) return false
    this.announceToken(pool.token0, venueEvent, transaction)
    this.announceToken(pool.token1, venueEvent, transaction)
    if (this.book.hasPool(pool.pool)) return true
    const { amm, token0, token1, fee, creator } = pool
    this.book.putPool(pool.pool, [token0, token1])
    const event = { type: 'pool' as const, ...PLACE, pool: pool.pool, amm, token0, token1, fee, creator }
    this.events.add(transaction, venueEvent.instruction.order, event)
    return true
  }

  private announceToken(mint: string, venueEvent: VenueEvent, transaction: SolanaTransaction): void {
    let known = this.book.token(mint)
    if (known === undefined || known.decimals === null) {
      this.token(mint, null, null, this.decimalsOf(mint, transaction), venueEvent, transaction)
      known = this.book.token(mint)
    }
    if (known !== undefined && !known.traded) this.book.putToken(mint, { decimals: known.decimals, traded: true })
  }

  private token(
    token: string,
    name: string | null,
    symbol: string | null,
    decimals: number | null,
    { instruction }: VenueEvent,
    transaction: SolanaTransaction,
  ): void {
    const known = this.book.token(token)
    const isNew = known === undefined || name !== null || (known.decimals === null && decimals !== null)
    if (!isNew) return
    this.book.putToken(token, { decimals: decimals ?? known?.decimals ?? null, traded: known?.traded ?? false })
    const event = { type: 'token' as const, ...PLACE, token, name, symbol, decimals, total_supply: null }
    this.events.add(transaction, instruction.order, event)
  }

  private decimalsOf(mint: string, { postTokens, preTokens }: SolanaTransaction): number | null {
    if (mint === WRAPPED_SOL) return WRAPPED_SOL_DECIMALS
    const known = this.book.token(mint)?.decimals ?? null
    if (known !== null) return known
    for (const balance of postTokens.values()) if (balance.mint === mint) return balance.decimals
    for (const balance of preTokens.values()) if (balance.mint === mint) return balance.decimals
    return null
  }
}

/** The trader if they signed; if a program or a paying service trades for them, the fee payer. */
function walletOf({ signers, feePayer }: SolanaTransaction, sender: string, recipient: string): string {
  if (signers.includes(sender)) return sender
  return signers.includes(recipient) ? recipient : feePayer
}

function tradedPrice({ pool, tokenIn, amountIn, amountOut }: Of<'swap'>): bigint | null {
  return tokenIn === pool.token0
    ? tradedSqrtPrice('solana', amountIn, amountOut)
    : tradedSqrtPrice('solana', amountOut, amountIn)
}

type InTransaction = { index: number; signature: string }

/** A block's events in the order they are added: by transaction, then by instruction in execution order. */
export class EventList {
  private readonly events: Event[] = []
  private txIndex = -1
  private order = -1
  private sub = 0

  /** Sets its position. An event that would go backwards within its transaction is placed right after the last one. */
  add({ index, signature }: InTransaction, order: number, event: Event): void {
    const isSame = index === this.txIndex && order <= this.order
    this.sub = isSame ? this.sub + 1 : 0
    if (!isSame) this.order = order
    this.txIndex = index
    event.tx_index = index
    event.log_index = this.order
    event.sub = this.sub
    event.tx_hash = signature
    this.events.push(event)
  }

  finish(): Event[] {
    return this.events
  }
}
