/**
 * Compares the state of a tape reader with the contracts' answers; returns the differences. A tape that starts mid-chain
 * knows only what moved since, and only the principal of V4 pools.
 */
import type { Reader } from '../aggregate/reader.js'
import { acceptedBlocks, type RecordingEvent, type RecordingLine } from '../reference/lines.js'
import type { TestToken } from './contracts.js'
import { placeOf } from './market.js'
import type { OpenMarket } from './opening.js'
import { tradeIn } from './trades.js'
import type { PoolTruth, Truth } from './truth.js'
import { type Pool, ZERO } from './world.js'

type SwapEvent = Extract<RecordingEvent, { type: 'swap' }>

export function differencesFromContracts(
  { contracts }: OpenMarket,
  pools: readonly Pool[],
  truth: Truth,
  lines: readonly RecordingLine[],
  reader: Reader,
): string[] {
  const [first] = acceptedBlocks(lines)
  const isWhole = first?.number === 1
  const since: Truth = isWhole ? truth : movedSince(first?.number ?? 0, truth, reader)
  const wrapped = contracts.tokens.weth.address
  const found: string[] = []
  const swaps = swapsOf(lines)
  for (const pool of pools) {
    const expected = since.pools.find(({ pool: place }) => place === placeOf(pool))
    if (expected === undefined) continue
    found.push(...tradeDifferences(pool, since, swaps.get(placeOf(pool)) ?? [], wrapped))
    found.push(...poolDifferences(expected, reader, swaps.get(expected.pool)?.at(-1)?.event))
  }
  const unexpected = [...reader.pairs.keys()].filter((pair) => !pools.some((pool) => placeOf(pool) === pair))
  found.push(...unexpected.map((pair) => `pair ${pair}: not in the market`))
  const v4 = isWhole ? v4Differences(since, reader) : []
  const tokens = Object.values(contracts.tokens).filter(({ address }) => isWhole || reader.tokens.has(address))
  return [...found, ...v4, ...balanceDifferences(since, reader), ...tokenDifferences(tokens, since, reader)]
}

function movedSince(first: number, truth: Truth, reader: Reader): Truth {
  const swaps = new Map(
    [...truth.swaps].map(([pool, logs]) => [pool, logs.filter(({ blockNumber }) => Number(blockNumber) >= first)]),
  )
  const balances = new Map(
    [...truth.balances].map(([token, holders]) => [
      token,
      new Map([...holders].filter(([holder]) => reader.holders.has(`${token}|${holder}`))),
    ]),
  )
  const hasMoved = ({ pool }: PoolTruth) => reader.pairs.has(pool) || (swaps.get(pool)?.length ?? 0) > 0
  return { ...truth, swaps, balances, pools: truth.pools.filter(hasMoved) }
}

type Placed = { block: number; event: SwapEvent }

function swapsOf(lines: readonly RecordingLine[]): Map<string, Placed[]> {
  const byPool = new Map<string, Placed[]>()
  for (const { number, events } of acceptedBlocks(lines)) {
    for (const event of events) {
      if (event.type !== 'swap') continue
      byPool.set(event.pool, [...(byPool.get(event.pool) ?? []), { block: number, event }])
    }
  }
  return byPool
}

/** Every trade of the chain is there, exactly, and each one is a Swap log of the pool. */
function tradeDifferences(pool: Pool, { swaps }: Truth, got: readonly Placed[], wrapped: string): string[] {
  const logs = swaps.get(placeOf(pool)) ?? []
  const name = (block: number, logIndex: number) => `${pool.kind} ${placeOf(pool)} trade ${block}-${logIndex}`
  const byPlace = new Map(got.map(({ block, event }) => [name(block, event.log_index), event]))
  const missing = logs.flatMap((log): string[] => {
    const trade = tradeIn(log, pool, wrapped)
    if (trade === null) return []
    const place = name(trade.block, trade.logIndex)
    const event = byPlace.get(place)
    const expected = [trade.tokenIn, trade.amountIn, trade.tokenOut, trade.amountOut].join(' ')
    const actual =
      event === undefined ? 'nothing' : [event.token_in, event.amount_in, event.token_out, event.amount_out].join(' ')
    return actual === expected ? [] : [`${place}: ${actual}, expected ${expected}`]
  })
  const known = new Set(logs.map(({ blockNumber, logIndex }) => name(Number(blockNumber), Number(logIndex))))
  return [...missing, ...[...byPlace.keys()].filter((place) => !known.has(place)).map((place) => `${place}: never was`)]
}

function poolDifferences(expected: PoolTruth, reader: Reader, last: SwapEvent | undefined): string[] {
  const { pool, kind, reserves, sqrtPrice } = expected
  const pair = reader.pairs.get(pool)
  if (pair === undefined) return [`${kind} ${pool}: missing`]
  const found: string[] = []
  if (reserves !== null && (pair.reserve0 !== String(reserves[0]) || pair.reserve1 !== String(reserves[1]))) {
    found.push(`${kind} ${pool} reserves: ${pair.reserve0} ${pair.reserve1}, expected ${reserves.join(' ')}`)
  }
  if (sqrtPrice !== null && last !== undefined && last.sqrt_price !== String(sqrtPrice)) {
    found.push(`${kind} ${pool} square-root price: ${last.sqrt_price}, expected ${sqrtPrice}`)
  }
  return found
}

/** One contract holds the tokens of all V4 pools, so their reserves add up to its balance. */
function v4Differences({ pools, v4Holdings }: Truth, reader: Reader): string[] {
  const sums = new Map<string, bigint>()
  for (const { pool, kind, token0, token1 } of pools) {
    const pair = kind === 'v4' ? reader.pairs.get(pool) : undefined
    if (pair === undefined) continue
    sums.set(token0, (sums.get(token0) ?? 0n) + BigInt(pair.reserve0 ?? 0))
    sums.set(token1, (sums.get(token1) ?? 0n) + BigInt(pair.reserve1 ?? 0))
  }
  return [...v4Holdings].flatMap(([currency, held]) =>
    (sums.get(currency) ?? 0n) === held
      ? []
      : [`v4 reserves of ${currency}: ${sums.get(currency) ?? 0n}, expected ${held}`],
  )
}

function balanceDifferences({ balances }: Truth, reader: Reader): string[] {
  return [...balances].flatMap(([token, holders]) =>
    [...holders].flatMap(([holder, held]) => {
      const actual = reader.holders.get(`${token}|${holder}`) ?? 0n
      return actual === held
        ? []
        : [`balance of ${token} for ${holder === ZERO ? 'nobody' : holder}: ${actual}, expected ${held}`]
    }),
  )
}

function tokenDifferences(tokens: readonly TestToken[], { supplies }: Truth, reader: Reader): string[] {
  return tokens.flatMap(({ address, name, symbol, decimals }) => {
    const info = reader.tokens.get(address)?.info
    const actual = [info?.name, info?.symbol, info?.decimals, info?.total_supply].join(' ')
    const expected = [name, symbol, decimals, supplies.get(address)].join(' ')
    return actual === expected ? [] : [`token ${address}: ${actual}, expected ${expected}`]
  })
}
