/** How each market opens: its money and ranked pools first, then one edge case per block. */
import { moneyOf } from './money.js'
import { createLiquidity, describeToken, makePool, makeToken, type PoolPlan } from './pools.js'
import { findToken, type Stage } from './world.js'

type Opening = (stage: Stage) => void

function open(stage: Stage, base: string, quote: string, plan: PoolPlan): void {
  stage.writer.transaction()
  const pool = makePool(stage, base, quote, plan)
  if (pool.described) createLiquidity(stage, pool, stage.random.pick(stage.wallets))
}

function introduce(stage: Stage, symbol: string, decimals: number, fairUsd: number, withDecimals = true): void {
  stage.writer.transaction()
  describeToken(stage, makeToken(stage, symbol, decimals, fairUsd), withDecimals)
}

export const symbolsOf = (chain: string): { usd: string; usdt: string; dai: string; coin: string; btc: string } => {
  const { anchor, stables, native, majors } = moneyOf(chain)
  return {
    usd: anchor.symbol,
    usdt: stables[0].symbol,
    dai: stables[1].symbol,
    coin: native.symbol,
    btc: majors[0].symbol,
  }
}

/** Unranked tokens' usual decimals. */
const usualDecimals = (stage: Stage): number => (stage.world.family === 'evm' ? 18 : 6)

const money: Opening = (stage) => {
  const { anchor, stables, native, majors } = moneyOf(stage.world.chain)
  stage.writer.transaction()
  for (const token of [anchor, ...stables, native, ...majors]) {
    stage.world.tokens.set(token.symbol, { ...token })
    describeToken(stage, findToken(stage.world, token.symbol))
  }
}

/** Three deep pools of the first stable (a median), one shallow pool of the second (stays 1), several of the native coin. */
const ranked: Opening = (stage) => {
  const { usd, usdt, dai, coin, btc } = symbolsOf(stage.world.chain)
  open(stage, usdt, usd, { usd: 900_000, weight: 6 })
  open(stage, usdt, usd, { usd: 400_000, weight: 3 })
  open(stage, usdt, usd, { usd: 90_000, weight: 1 })
  open(stage, dai, usd, { usd: 3_000, weight: 1 })
  open(stage, usdt, dai, { usd: 50_000, weight: 1 })
  open(stage, coin, usd, { usd: 2_000_000, weight: 9 })
  open(stage, coin, usd, { usd: 4_000_000, weight: 6, style: 'v3' })
  open(stage, coin, usdt, { usd: 700_000, weight: 4 })
  open(stage, coin, dai, { usd: 20_000, weight: 0.6 })
  open(stage, btc, coin, { usd: 900_000, weight: 3 })
  open(stage, btc, usd, { usd: 850_000, weight: 3 })
}

/** Two pools of nearly one depth, in native and in USD. */
const rivals: Opening = (stage) => {
  const { usd, coin } = symbolsOf(stage.world.chain)
  introduce(stage, 'MEME', usualDecimals(stage), 0.013)
  open(stage, 'MEME', coin, { usd: 30_000, weight: 12 })
  open(stage, 'MEME', usd, { usd: 29_000, weight: 8 })
}

/** Each token is quoted in the one before: 1, 2, 3 and 4 hops; the last never qualifies. */
const hop =
  (symbol: string, quote: string, usd: number): Opening =>
  (stage) => {
    introduce(stage, symbol, usualDecimals(stage), 0.4)
    open(stage, symbol, quote, { usd, weight: 3 })
  }

/** Both below the class of deep pools: ranked by volume. */
const shallowRivals: Opening = (stage) => {
  const { usd, coin } = symbolsOf(stage.world.chain)
  introduce(stage, 'SMALL', 6, 2.5)
  open(stage, 'SMALL', coin, { usd: 2_000, weight: 5 })
  open(stage, 'SMALL', usd, { usd: 1_500, weight: 5 })
}

const loop: Opening = (stage) => {
  introduce(stage, 'LOOPA', usualDecimals(stage), 1.5)
  introduce(stage, 'LOOPB', usualDecimals(stage), 0.7)
  open(stage, 'LOOPA', 'LOOPB', { usd: 15_000, weight: 3 })
  open(stage, 'LOOPB', 'LOOPA', { usd: 12_000, weight: 3 })
}

/** The loop gets a priced pool, and afterwards pools in both directions again. */
const loopLeaves: Opening = (stage) =>
  open(stage, 'LOOPB', symbolsOf(stage.world.chain).coin, { usd: 25_000, weight: 3 })
const loopAgain: Opening = (stage) => {
  open(stage, 'LOOPA', 'LOOPB', { usd: 60_000, weight: 3 })
  open(stage, 'LOOPB', 'LOOPA', { usd: 60_000, weight: 3 })
}

/** Decimals of 0, never recorded, recorded late; reserves never recorded. */
const oddities: Opening = (stage) => {
  const { usd, coin } = symbolsOf(stage.world.chain)
  introduce(stage, 'ZERO', 0, 0.8)
  open(stage, 'ZERO', coin, { usd: 40_000, weight: 4 })
  introduce(stage, 'MYST', usualDecimals(stage), 3, false)
  open(stage, 'MYST', coin, { usd: 30_000, weight: 3 })
  const late = makeToken(stage, 'LATE', usualDecimals(stage), 12)
  stage.world.undescribed.push(late)
  open(stage, 'LATE', coin, { usd: 50_000, weight: 4 })
  open(stage, usd, 'LATE', { usd: 20_000, weight: 2 })
  introduce(stage, 'BLIND', usualDecimals(stage), 0.05)
  open(stage, 'BLIND', coin, { usd: 80_000, weight: 3, style: 'blind' })
  open(stage, 'MEME', usd, { usd: 9_000, weight: 2, style: 'v3' })
}

/** Almost nothing backs the quote; a block later a pool in it claims a fortune. */
const worthlessQuote: Opening = (stage) => {
  introduce(stage, 'TRASH', 9, 0.001)
  open(stage, 'TRASH', symbolsOf(stage.world.chain).coin, { usd: 60, weight: 2 })
}
const fakeDepth: Opening = (stage) => {
  introduce(stage, 'FAKE', 9, 5)
  open(stage, 'FAKE', 'TRASH', { usd: 900_000_000, weight: 3 })
}

/** How many of the first pools come from `ranked`: scenes that would break the whole market avoid them. */
export const RANKED_POOLS = 11

export const OPENINGS: readonly Opening[] = [
  money,
  ranked,
  rivals,
  hop('ALT', 'MEME', 14_000),
  hop('DEEP', 'ALT', 9_000),
  hop('DEEPER', 'DEEP', 7_000),
  hop('ABYSS', 'DEEPER', 6_000),
  shallowRivals,
  loop,
  worthlessQuote,
  oddities,
  fakeDepth,
  loopLeaves,
  loopAgain,
]
