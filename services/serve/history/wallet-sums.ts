import type { Trade } from '../../core/domain/records.js'
import type { Placed } from '../memory/event-overlay.js'
import type { StoredRow } from './stored-rows.js'

/** What one side of a wallet's trades adds up to. Amounts are raw integers of the pair's target token. */
export type SideSums = {
  count: number
  amount: bigint
  /** The part of the amount whose USD value is known, and that value. */
  priced: bigint
  usd: number
  /** The largest single value. */
  maxUsd: number
  /** Chain time; 0: none. */
  firstS: number
  lastS: number
}

export type TradeSums = { buys: SideSums; sells: SideSums }

const NO_SIDE: SideSums = { count: 0, amount: 0n, priced: 0n, usd: 0, maxUsd: 0, firstS: 0, lastS: 0 }
export const NO_SUMS: TradeSums = { buys: NO_SIDE, sells: NO_SIDE }

/** Raw integers are added as integers: their sum does not depend on the order of rows. */
const sideColumns = (side: 'buy' | 'sell') => {
  const isSide = side === 'buy' ? 'sell = 0' : 'sell = 1'
  const amount = `toUInt256OrZero(${side === 'buy' ? 'amount_out' : 'amount_in'})`
  const isPriced = `${isSide} AND NOT isNaN(amount_usd)`
  return `countIf(${isSide}) AS ${side}_count, toString(sumIf(${amount}, ${isSide})) AS ${side}_amount,
    toString(sumIf(${amount}, ${isPriced})) AS ${side}_priced, sumIf(amount_usd, ${isPriced}) AS ${side}_usd,
    maxIf(amount_usd, ${isPriced}) AS ${side}_max_usd,
    toUInt32(minIf(time, ${isSide})) AS ${side}_first_s, toUInt32(maxIf(time, ${isSide})) AS ${side}_last_s`
}

/** The sums of a group of trade rows. */
export const SUM_COLUMNS = `${sideColumns('buy')}, ${sideColumns('sell')}`

export function readSums(row: StoredRow): TradeSums {
  return { buys: readSide(row, 'buy'), sells: readSide(row, 'sell') }
}

function readSide(row: StoredRow, side: 'buy' | 'sell'): SideSums {
  const number = (name: string) => Number(row[`${side}_${name}`])
  return {
    count: number('count'),
    amount: BigInt(String(row[`${side}_amount`])),
    priced: BigInt(String(row[`${side}_priced`])),
    ...{ usd: number('usd'), maxUsd: number('max_usd'), firstS: number('first_s'), lastS: number('last_s') },
  }
}

export function sumsOfTrade(trade: Pick<Placed<Trade>, 'sell' | 'amount_in' | 'amount_out' | 'amount_usd' | 'timeS'>) {
  const amount = BigInt(trade.sell ? trade.amount_in : trade.amount_out)
  const isPriced = !Number.isNaN(trade.amount_usd)
  const usd = isPriced ? trade.amount_usd : 0
  const time = { firstS: trade.timeS, lastS: trade.timeS }
  const side = { count: 1, amount, priced: isPriced ? amount : 0n, usd, maxUsd: usd, ...time }
  return trade.sell ? { buys: NO_SIDE, sells: side } : { buys: side, sells: NO_SIDE }
}

export function joinSums(a: TradeSums, b: TradeSums): TradeSums {
  return { buys: joinSides(a.buys, b.buys), sells: joinSides(a.sells, b.sells) }
}

function joinSides(a: SideSums, b: SideSums): SideSums {
  if (a.count === 0) return b
  if (b.count === 0) return a
  return {
    count: a.count + b.count,
    amount: a.amount + b.amount,
    priced: a.priced + b.priced,
    usd: a.usd + b.usd,
    maxUsd: Math.max(a.maxUsd, b.maxUsd),
    firstS: Math.min(a.firstS, b.firstS),
    lastS: Math.max(a.lastS, b.lastS),
  }
}
