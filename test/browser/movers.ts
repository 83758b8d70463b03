/** A chain of tokens that each window puts in another order, and those orders, computed from what was written. */
import type { BlockUpdate } from '../../services/core/domain/records.js'
import { pairInfo, pairUpdate, tokenInfo, tokenUpdate, trade, update, updateWindows, window } from '../serve/updates.js'

export const MOVERS_CHAIN = 'base'
/** More than a page of a list. */
const COUNT = 130
const TVL_USD = 20_000
const PRICE = 2
/** Multiples modulo a prime: distinct, and in no order. */
const MODULUS = 1009
const STEPS = { '5m': 389, '1h': 617, '4h': 271, '24h': 733 } as const
export type MoverWindow = keyof typeof STEPS
const PER_DAY = { '5m': 288, '1h': 24, '4h': 6, '24h': 1 } as const
export const MOVER_WINDOWS = Object.keys(STEPS) as MoverWindow[]

type Mover = { symbol: string; index: number }
const MOVERS: readonly Mover[] = Array.from({ length: COUNT }, (_, index) => ({ symbol: `M${index}`, index }))
const scattered = (index: number, step: number): number => ((index + 1) * step) % MODULUS

/** In percent. */
const changeOf = ({ index }: Mover, name: MoverWindow): number => scattered(index, STEPS[name] + 7) / 10 - 50
/** Small, so that the tokens of other chains stay the first of the lists over all. */
const volumeOf = ({ index }: Mover, name: MoverWindow): number => (1 + scattered(index, STEPS[name])) / 1000
/** A trade of the last five minutes is one wallet's. */
const makersOf = ({ index }: Mover, name: MoverWindow): number => (name === '5m' ? 1 : 12 + (index % 5))

const windowsOf = (mover: Mover) =>
  updateWindows().map((_, at) => {
    const name = (['1h', '1h', '4h', '24h'] as const)[at] ?? '24h'
    const before = PRICE / (1 + changeOf(mover, name) / 100)
    const figures = { buy_volume: volumeOf(mover, name), sell_volume: 0, makers: makersOf(mover, name) }
    return window({ ...figures, price_before: before })
  })

const addressOf = (first: string, index: number): string => `0x${first}${index.toString(16).padStart(38, '0')}`

export function moversUpdate(): BlockUpdate {
  const chain = MOVERS_CHAIN
  return update({
    chain,
    pairs: MOVERS.map((mover) => {
      const { index } = mover
      const amounts = { wallet: addressOf('f0', index), amount_usd: volumeOf(mover, '5m'), log_index: index }
      return pairUpdate({
        ...{ pair: addressOf('e0', index), info: pairInfo({ token0: addressOf('a0', index) }) },
        ...{ price_usd: PRICE, tvl: TVL_USD, windows: windowsOf(mover) },
        trades: [trade({ id: `100-${index}`, ...amounts })],
      })
    }),
    tokens: MOVERS.map((mover) =>
      tokenUpdate({
        ...{ token: addressOf('a0', mover.index), info: tokenInfo({ symbol: mover.symbol, name: 'Mover' }) },
        ...{ main_pair: addressOf('e0', mover.index), tvl: TVL_USD, price_usd: PRICE, windows: windowsOf(mover) },
      }),
    ),
  })
}

const ordered = (movers: readonly Mover[], measure: (mover: Mover) => number): string[] =>
  movers.toSorted((a, b) => measure(b) - measure(a)).map(({ symbol }) => symbol)

function demandOf(mover: Mover, name: MoverWindow): number {
  const pace =
    name === '24h' ? (volumeOf(mover, '24h') + 24 * volumeOf(mover, '1h')) / 2 : volumeOf(mover, name) * PER_DAY[name]
  return Math.min(pace, 10 * TVL_USD) * Math.log2(1 + makersOf(mover, name))
}

/** Symbols in the order of a list. */
export const MOVER_LISTS: Readonly<Record<string, (name: MoverWindow) => string[]>> = {
  Trending: (name) => ordered(MOVERS, (mover) => demandOf(mover, name)),
  Gainers: (name) =>
    ordered(
      MOVERS.filter((mover) => changeOf(mover, name) > 0),
      (mover) => changeOf(mover, name),
    ),
  Losers: (name) =>
    ordered(
      MOVERS.filter((mover) => changeOf(mover, name) < 0),
      (mover) => -changeOf(mover, name),
    ),
  Volume: (name) => ordered(MOVERS, (mover) => volumeOf(mover, name)),
}
