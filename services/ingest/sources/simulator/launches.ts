/** Launch platforms: tokens start on a curve; most lose their buyers, some sell out and graduate to a pool. */

import { describeRisk, describeToken, memeName } from './describe-token.js'
import { describePool, forgetPool, openPool, writeLiquidity } from './liquidity.js'
import { type Launch, newPool, newToken, type Pool, rawOf, SLOT, type Token, wholeOf } from './market-state.js'
import { type CurveTerms, costOf, quoteFor, tokensFor } from './pool-arithmetic.js'
import { anyTrader, type Stage } from './stage.js'
import { settle } from './swap-in-pool.js'

const GRADUATES = 0.28
const MAX_GRADUATES = 25
/** Buys that sell out a curve without any sells. */
const BUYS_TO_SELL_OUT = 55
const PROGRESS_STEP = 0.05
const FADES_AFTER = 14
const BPS = 10_000n

const curveOf = ({ pool, token }: Launch) => {
  if (pool.curve === null) throw new Error(`${token.symbol} has no curve`)
  return pool.curve
}

export function startLaunch(stage: Stage, terms: CurveTerms): void {
  const { state, random, book, writer, ledger, facts, timeMs } = stage
  const serial = state.nextToken++
  const suffix = facts.family === 'evm' ? '4444' : 'pump'
  const address = book('token', serial).slice(0, -4) + suffix
  const { decimals, supply } = terms
  const token = newToken({ address, ...memeName(serial, random.pick), decimals, supply }, 0)
  const creator = anyTrader(stage)
  const pool = newPool({
    address: facts.family === 'evm' ? `${address}_fo` : book('curve', serial),
    amm: terms.platform,
    router: book(`router ${terms.platform}`, 0),
    feeBps: terms.feeBps,
    base: token,
    quote: state.native,
    baseIs0: true,
    baseReserve: terms.forSale,
    quoteReserve: 0n,
    provider: creator,
    curve: {
      virtualBase: terms.virtualBase,
      virtualQuote: terms.virtualQuote,
      keptBack: terms.supply - terms.forSale,
    },
  })
  const fate = random.chance(GRADUATES) ? 2 : 0.02 + 0.5 * random.next() * random.next()
  const launch: Launch = { token, pool, terms, fate, toldProgress: 0, fading: 0 }
  state.tokens.push(token)
  state.launches.push(launch)
  state.launchedMs = timeMs
  followCurve(launch)
  writer.transaction()
  ledger.reportPool(pool)
  describeToken(stage, token)
  const look = { creator: ledger.walletAddress(creator), owner: null, riskScore: random.int(25, 95) }
  describeRisk(stage, token, { ...look, platform: terms.platform })
  describePool(stage, pool)
  writeLaunch(stage, launch, 'created', 0, pool.address)
  writeLiquidity(stage, pool, 'create', terms.forSale, 0n)
  if (random.chance(0.6)) buyOnCurve(stage, launch, creator)
}

function writeLaunch(
  { writer }: Stage,
  { token, terms }: Launch,
  stage: 'created' | 'curve' | 'graduated',
  progress: number,
  pool: string,
): void {
  const facts = { token: token.address, platform: terms.platform, stage, progress, pool }
  writer.events.push({ type: 'launch', ...writer.place(), ...facts })
}

const progressOf = ({ pool, terms }: Launch): number => 1 - Number(pool.baseReserve) / Number(terms.forSale)

/** One trade on one of the curves. */
export function tradeOnCurve(stage: Stage): void {
  const { random, state, writer } = stage
  const launch = random.pick(state.launches)
  const fades = progressOf(launch) >= launch.fate
  writer.transaction()
  const sold = random.chance(fades || launch.fading > 0 ? 0.8 : 0.25) && sellOnCurve(stage, launch)
  if (!sold) buyOnCurve(stage, launch, anyTrader(stage))
  if (fades || launch.fading > 0) launch.fading += 1
  if (launch.fading > FADES_AFTER) forgetLaunch(stage, launch)
}

function buyOnCurve(stage: Stage, launch: Launch, wallet: number): void {
  const { ledger, random } = stage
  const { pool, terms } = launch
  const curve = curveOf(launch)
  const raise = wholeOf(pool.quote, costOf(terms.forSale, terms))
  // Fading launches attract only small buyers.
  const scale = launch.fading > 0 ? 0.15 : 1
  let paid = rawOf(pool.quote, (raise / BUYS_TO_SELL_OUT) * scale * random.skewed(1))
  let bought = tokensFor(paid, curve)
  if (bought >= pool.baseReserve) {
    bought = pool.baseReserve
    paid = costOf(bought, curve)
  }
  const fee = (paid * terms.feeBps) / BPS
  if (bought === 0n || !ledger.provide(pool.quote, wallet, paid + fee)) return
  payFee(stage, pool, wallet, fee)
  curve.virtualQuote += paid
  curve.virtualBase -= bought
  settle(stage, { pool, wallet, buys: true, amountIn: paid }, bought)
  writeProgress(stage, launch)
  if (pool.baseReserve === 0n) graduate(stage, launch)
}

/** False if there are no holders. */
function sellOnCurve(stage: Stage, launch: Launch): boolean {
  const { random } = stage
  const { pool, token, terms } = launch
  const curve = curveOf(launch)
  const holders = [...token.balances]
  if (holders.length === 0) return false
  const [wallet, balance] = random.pick(holders)
  const amountIn = random.chance(0.4) ? balance : (balance * BigInt(random.int(20, 90))) / 100n
  const out = quoteFor(amountIn, curve)
  if (out === 0n) return false
  curve.virtualBase += amountIn
  curve.virtualQuote -= out
  settle(stage, { pool, wallet, buys: false, amountIn }, out)
  payFee(stage, pool, wallet, (out * terms.feeBps) / BPS)
  writeProgress(stage, launch)
  return true
}

/** The fee is not included in the curve's amounts. */
function payFee({ ledger }: Stage, { quote }: Pool, wallet: number, fee: bigint): void {
  ledger.change(quote, wallet, -fee)
  ledger.change(quote, SLOT.fees, fee)
}

/** A token on a curve has the curve's price. */
function followCurve(launch: Launch): void {
  const { token, pool } = launch
  const { virtualBase, virtualQuote } = curveOf(launch)
  token.fairUsd = (wholeOf(pool.quote, virtualQuote) / wholeOf(token, virtualBase)) * pool.quote.fairUsd
}

function writeProgress(stage: Stage, launch: Launch): void {
  followCurve(launch)
  const progress = progressOf(launch)
  if (Math.abs(progress - launch.toldProgress) < PROGRESS_STEP) return
  launch.toldProgress = progress
  writeLaunch(stage, launch, 'curve', progress, launch.pool.address)
}

/** Opens a pool with the funds raised and the reserved tokens, in the transaction that sold out the curve. */
function graduate(stage: Stage, launch: Launch): void {
  const { state, ledger } = stage
  const { pool: curvePool, token, terms } = launch
  const curve = curveOf(launch)
  const [baseRaw, quoteRaw] = [curve.keptBack, curvePool.quoteReserve]
  ledger.touch(curvePool)
  curve.keptBack = 0n
  curvePool.quoteReserve = 0n
  writeLiquidity(stage, curvePool, 'remove', 0n, quoteRaw)
  token.homeUsd = token.fairUsd
  token.volatility = 1.2e-3
  token.beta = 1
  const valueUsd = 2 * wholeOf(curvePool.quote, quoteRaw) * curvePool.quote.fairUsd
  const pool = openPool(stage, {
    ...{ base: token, quote: curvePool.quote, amm: terms.graduatesTo, baseRaw, quoteRaw },
    ...{ provider: curvePool.provider, weight: 5 * Math.sqrt(valueUsd), usdPerS: (valueUsd * 4) / 86_400 },
  })
  writeLaunch(stage, launch, 'graduated', 1, pool.address)
  state.launches = state.launches.filter((other) => other !== launch)
  for (const older of state.graduates) older.weight *= 0.8
  state.graduates.push(pool)
  const oldest = state.graduates.length > MAX_GRADUATES ? state.graduates.shift() : undefined
  if (oldest !== undefined) {
    forgetPool(stage, oldest)
    forgetToken(stage, oldest.base)
  }
}

function forgetLaunch(stage: Stage, launch: Launch): void {
  stage.state.launches = stage.state.launches.filter((other) => other !== launch)
  forgetToken(stage, launch.token)
}

function forgetToken({ state }: Stage, token: Token): void {
  state.tokens = state.tokens.filter((other) => other !== token)
}
