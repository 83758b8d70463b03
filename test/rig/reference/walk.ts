/** The only sequential part: the meaning of an event depends on the prices before it. */
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import type { Event, LaunchEvent, LiquidityEvent, PoolEvent, SwapEvent } from '../../../services/core/domain/records.js'
import { toAmount } from './amounts.js'
import { type Book, newBook, type Pool, type ReferenceHour, tokenOf } from './book.js'
import { burntSupply } from './burnt.js'
import { revalueDepth } from './depth.js'
import type { SurvivingBlock } from './lines.js'
import { rerankMainPairs, setMainPair } from './main-pair.js'
import { findReferencePrices, rankOf, usdPrice } from './prices.js'
import { applySwap, takeReserves } from './swap.js'

const MAX_TIME_BACK_S = 3600

export function walk(blocks: readonly SurvivingBlock[], facts: ChainFacts): Book {
  const book = newBook(facts)
  for (const block of blocks) applyBlock(book, block)
  return book
}

function applyBlock(book: Book, block: SurvivingBlock): void {
  if (block.time < book.now - MAX_TIME_BACK_S) throw new Error(`block ${block.number} is more than an hour behind now`)
  book.block = block.number
  book.blockTime = block.time
  book.now = Math.max(book.now, block.time)
  findReferencePrices(book)
  const touchedPools = new Set<Pool>()
  const touchedTokens = new Set<string>()
  let index = 0
  for (const event of block.events) {
    const pool = applyEvent(book, event, index)
    if (event.type === 'launch') touchedTokens.add(event.token)
    if (pool === null) continue
    touchedPools.add(pool)
    touchedTokens.add(pool.target)
    if (event.type !== 'pool') index++
  }
  revalueDepth(book, [...touchedPools])
  findReferencePrices(book)
  rerankMainPairs(book, [...touchedTokens])
  for (const pool of touchedPools)
    book.pairHours.set(`${pool.pool}|${Math.floor(book.now / 3600) * 3600}`, hourOf(book, pool))
}

function hourOf(book: Book, { usd, tvl, liquidityUsd, target }: Pool): ReferenceHour {
  const { totalSupply, decimals } = tokenOf(book, target)
  const supply = totalSupply === null ? Number.NaN : toAmount(totalSupply, decimals)
  const burnt = BigInt(burntSupply(book, target) ?? 0)
  const left = totalSupply === null ? null : BigInt(totalSupply) - burnt
  const supplyLeft = left === null ? Number.NaN : toAmount(String(left > 0n ? left : 0n), decimals)
  return { priceUsd: usd, tvlUsd: tvl, liquidityUsd, supply, supplyLeft }
}

/** Returns the pool the event touched, or null. `index`: swaps and liquidity events applied in the block so far. */
function applyEvent(book: Book, event: Event, index: number): Pool | null {
  switch (event.type) {
    case 'pool':
      return applyPool(book, event)
    case 'swap':
    case 'liquidity': {
      const pool = book.pools.get(event.pool)
      if (pool === undefined) return bury(book, event, 'pool_unknown')
      if (event.type === 'liquidity') return applyLiquidity(book, pool, event, idOf(book, event, index))
      const tokens = [pool.token0, pool.token1]
      const fits =
        tokens.includes(event.token_in) && tokens.includes(event.token_out) && event.token_in !== event.token_out
      if (!fits) return bury(book, event, 'pool_mismatch')
      applySwap(book, pool, event, idOf(book, event, index))
      return pool
    }
    case 'launch':
      applyLaunch(book, event)
      return null
    case 'token': {
      const token = tokenOf(book, event.token)
      if (token.decimals === null && event.decimals !== null) {
        const { tx_index, log_index, sub } = event
        book.decimalsSince.set(event.token, { block_number: book.block, tx_index, log_index, sub })
      }
      token.name = event.name ?? token.name
      token.symbol = event.symbol ?? token.symbol
      token.decimals = event.decimals ?? token.decimals
      token.totalSupply = event.total_supply ?? token.totalSupply
      return null
    }
    case 'meta': {
      const token = tokenOf(book, event.token)
      token.totalSupply = event.total_supply ?? token.totalSupply
      return null
    }
    case 'balance': {
      const key = `${event.token}|${event.holder}`
      tokenOf(book, event.token)
      const before = book.holders.get(key) ?? 0n
      const after = event.balance === null ? before + BigInt(event.delta ?? 0) : BigInt(event.balance)
      book.holders.set(key, after)
      if (before > 0n !== after > 0n)
        book.holderHours.set(`${event.token}|${Math.floor(book.now / 3600) * 3600}`, holdersOf(book, event.token))
      return null
    }
  }
}

function holdersOf({ holders }: Book, token: string): number {
  let count = 0
  for (const [key, balance] of holders) if (balance > 0n && key.startsWith(`${token}|`)) count += 1
  return count
}

function bury(book: Book, event: SwapEvent | LiquidityEvent, reason: 'pool_unknown' | 'pool_mismatch'): null {
  const position = `${event.tx_index}:${event.log_index}:${event.sub}`
  book.dead.push({ block: book.block, position, reason })
  return null
}

function idOf(book: Book, event: SwapEvent | LiquidityEvent, index: number): string {
  if (book.facts.family !== 'evm') return `${book.block}-${index}`
  return `${book.block}-${event.log_index}${event.sub > 0 ? `.${event.sub}` : ''}`
}

function applyPool(book: Book, event: PoolEvent): Pool | null {
  if (book.pools.has(event.pool)) return null
  const token0 = tokenOf(book, event.token0)
  const token1 = tokenOf(book, event.token1)
  const [rank0, rank1] = [rankOf(book, event.token0), rankOf(book, event.token1)]
  let targetIsToken0 = rank1 > rank0
  if (rank0 === rank1) targetIsToken0 = !(token0.mainPair !== null && token1.mainPair === null)
  const pool: Pool = {
    ...{ pool: event.pool, amm: event.amm, token0: event.token0, token1: event.token1, targetIsToken0 },
    target: targetIsToken0 ? event.token0 : event.token1,
    quote: targetIsToken0 ? event.token1 : event.token0,
    ...{ fee: event.fee, creator: event.creator, createdAt: book.blockTime, createdBlock: book.block },
    ...{ reserve0: null, reserve1: null, knownSqrtPrice: null, knownReserves: null, initReserves: null },
    ...{ usd: Number.NaN, native: Number.NaN, quotePrice: Number.NaN },
    ...{ tvl: Number.NaN, liquidityUsd: Number.NaN, liquidityNative: Number.NaN },
    isCreated: false,
    trades: [],
  }
  book.pools.set(event.pool, pool)
  if (book.awaited.get(event.pool) === pool.target) setMainPair(book, pool.target, pool)
  book.awaited.delete(event.pool)
  return pool
}

function applyLiquidity(book: Book, pool: Pool, event: LiquidityEvent, id: string): Pool {
  const { kind, wallet, reserve0, reserve1 } = event
  if (kind === 'create' && pool.trades.length === 0) pool.isCreated = true
  const [price0_usd, price1_usd] = [usdPrice(book, pool.token0), usdPrice(book, pool.token1)]
  book.liquidity.push({
    pair: pool.pool,
    block_number: book.block,
    id,
    kind,
    wallet,
    reserve0,
    reserve1,
    price0_usd,
    price1_usd,
  })
  pool.initReserves ??= { reserve0, reserve1 }
  takeReserves(pool, reserve0, reserve1)
  return pool
}

function applyLaunch(book: Book, event: LaunchEvent): void {
  const token = tokenOf(book, event.token)
  token.launchStage = event.stage
  if (event.pool === null) return
  if (event.stage !== 'graduated') {
    token.curvePools.add(event.pool)
    return
  }
  token.graduatedTo = event.pool
  const pool = book.pools.get(event.pool)
  if (pool === undefined) book.awaited.set(event.pool, event.token)
  else if (pool.target === event.token) setMainPair(book, event.token, pool)
}
