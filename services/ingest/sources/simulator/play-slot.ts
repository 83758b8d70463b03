/** Plays one slot: random actions, mostly trades, and whatever is due by the clock. */

import { startLaunch, tradeOnCurve } from './launches.js'
import { hostGuest, letRivalsMove, someLiquidity } from './liquidity.js'
import { type MarketState, type Pool, SLOT } from './market-state.js'
import { createRandom, type Random, wordOf } from './random.js'
import type { Stage } from './stage.js'
import { rhythmAt } from './timeline.js'
import { anyPool, arbitrage, flagshipOf, throwPrice, tradeDust, tradeIn } from './trade.js'

const CHANCE = {
  dust: 0.004,
  thrown: 0.001,
  liquidity: 0.03,
  guest: 1 / 2500,
  newWallet: 0.004,
  arbitrage: 0.25,
  launch: 1 / 900,
  /** A swap of thin history represents many. */
  launchInHistory: 1 / 350,
  /** Per open curve, up to the maximum. */
  curve: 0.04,
  curveAtMost: 0.3,
  /** A trade of an orphaned block is missing in its replacement. */
  lost: 0.1,
}
const FLAGSHIP_SWAP_MS = 2000
const FLAGSHIP_LIQUIDITY_MS = 6000
/** The busiest pools change their liquidity in turn, one per second. */
const BUSIEST = 8
/** Below this rate the flagship has no guaranteed trades. */
const FLAGSHIP_FROM_SWAPS_PER_S = 0.7
const LAUNCH_EVERY_MS_AT_MOST = 3000
/** In thin history a block's actions up to this ordinal go to the leading pools. */
const BURST = { chance: 0.05, times: 2.5, otherwise: 0.921 }

/** For draws that must not shift the trades' streams. */
const aside = createRandom()

/** `startStream` starts a transaction's random stream; `pace` is the density of trading relative to the full rate. */
export function playSlot(stage: Stage, startStream: (ordinal: number) => void, pace: number): void {
  const { state, random, writer } = stage
  startStream(0)
  moveFairPrices(state, random)
  const wanted = swapsWanted(stage)
  letRivalsMove(stage, pace)
  const flagship = dueFlagship(stage)
  const mayLaunch = stage.timeMs - state.launchedMs >= LAUNCH_EVERY_MS_AT_MOST || !stage.isLive
  if (
    mayLaunch &&
    stage.venue.curve !== null &&
    random.chance(wanted * (stage.isLive ? CHANCE.launch : CHANCE.launchInHistory))
  )
    startLaunch(stage, stage.venue.curve)
  if (flagship.liquidity) someLiquidity(stage, flagshipOf(state))
  for (const pool of dueLiquidity(stage)) someLiquidity(stage, pool)
  let ordinal = 1
  if (flagship.swap) {
    startStream(ordinal++)
    tradeIn(stage, flagshipOf(state))
  }
  let lost = 0
  const repeats = state.number <= state.repeatsTo
  // Every action has its own stream, so that a replacement block can omit some and repeat the others.
  for (let tries = wanted * 2 + 4; writer.swaps + lost < wanted && tries > 0; tries -= 1) {
    startStream(ordinal++)
    if (repeats && ordinal > 3 && isLost(stage, ordinal)) lost += 1
    else act(stage, ordinal)
  }
  noteFlagship(stage)
}

function swapsWanted(stage: Stage): number {
  const { state, random, swapsPerS, timeMs, isLive, venue } = stage
  aside.start(wordOf(stage.facts.chain), 1, Math.floor(timeMs / 60_000), 0)
  const burst = aside.chance(BURST.chance) ? BURST.times : BURST.otherwise
  // The first live slot follows a longer one of history, whose swaps are already written.
  const seconds = isLive ? venue.blockMs / 1000 : state.stepS
  const expected = swapsPerS * seconds * rhythmAt(timeMs) * burst
  return Math.floor(expected) + (random.chance(expected % 1) ? 1 : 0)
}

function isLost({ state, facts }: Stage, ordinal: number): boolean {
  aside.start(state.forks, wordOf(facts.chain), state.number, ordinal)
  return aside.chance(CHANCE.lost)
}

function dueFlagship({ state, swapsPerS, timeMs, isLive, random }: Stage): { swap: boolean; liquidity: boolean } {
  if (!isLive) return { swap: true, liquidity: random.chance(0.1) }
  const often = swapsPerS >= FLAGSHIP_FROM_SWAPS_PER_S
  return {
    swap: often && timeMs - state.flagshipSwapMs >= FLAGSHIP_SWAP_MS,
    liquidity: often && timeMs - state.flagshipLiquidityMs >= FLAGSHIP_LIQUIDITY_MS,
  }
}

/** Live only, and only at rates where it does not outnumber the swaps. */
function dueLiquidity({ state, swapsPerS, timeMs, isLive, venue }: Stage): Pool[] {
  if (!isLive || swapsPerS < FLAGSHIP_FROM_SWAPS_PER_S) return []
  const firstS = Math.ceil(timeMs / 1000)
  const seconds = Math.ceil((timeMs + venue.blockMs) / 1000) - firstS
  if (seconds === 0) return []
  const tokens = state.pools.filter(({ base }) => base !== state.native && base !== state.anchor)
  const busiest = tokens.sort((a, b) => b.usdPerS - a.usdPerS).slice(0, BUSIEST)
  return Array.from({ length: seconds }, (_, at) => busiest[(firstS + at) % busiest.length]).filter(
    (pool) => pool !== undefined,
  )
}

function noteFlagship({ state, writer, timeMs }: Stage): void {
  const { address } = flagshipOf(state)
  for (const event of writer.events) {
    if (event.type === 'swap' && event.pool === address) state.flagshipSwapMs = timeMs
    else if (event.type === 'liquidity' && event.pool === address) state.flagshipLiquidityMs = timeMs
  }
}

function act(stage: Stage, ordinal: number): void {
  const { random, state, ledger } = stage
  if (random.chance(CHANCE.newWallet)) ledger.replaceWallet(random.int(SLOT.firstPassing, SLOT.end - 1))
  if (random.chance(CHANCE.thrown)) throwPrice(stage)
  if (random.chance(CHANCE.guest)) hostGuest(stage)
  const onCurve = Math.min(CHANCE.curveAtMost, CHANCE.curve * state.launches.length)
  if (random.chance(onCurve)) {
    tradeOnCurve(stage)
    return
  }
  const pool = stage.isLive ? anyPool(stage) : historicPool(stage, ordinal)
  if (random.chance(CHANCE.dust)) tradeDust(stage, pool)
  else if (random.chance(CHANCE.liquidity)) someLiquidity(stage, pool)
  else {
    tradeIn(stage, pool)
    if (pool.siblings.length > 0 && random.chance(CHANCE.arbitrage)) arbitrage(stage, pool)
  }
}

/** A thin block represents many: the leading pools take turns, and several trades share a pool. */
function historicPool(stage: Stage, ordinal: number): Pool {
  const { state, random } = stage
  if (ordinal <= state.leaders.length + 1)
    return state.leaders[state.turn++ % state.leaders.length] ?? flagshipOf(state)
  if (stage.lastPool === null || random.chance(0.6)) stage.lastPool = anyPool(stage)
  return stage.lastPool
}

const COOLS_S = 1800
const SHOCK_EVERY_S = 5400
const PULL_S = 5 * 86_400
const LARGEST_STEP = 0.2

/** Fair prices follow a random walk with clustered volatility and a slow return to their home price. */
export function moveFairPrices(state: MarketState, random: Random): void {
  const { stepS, native } = state
  const root = Math.sqrt(stepS)
  const cooling = 1 - Math.min(1, stepS / COOLS_S)
  const marketMove = native.volatility * (0.7 + native.heat) * root * random.bell()
  for (const token of state.tokens) {
    // The anchor and tokens on launch curves have no random walk.
    if (token.volatility === 0) continue
    token.heat *= cooling
    if (random.chance(stepS / SHOCK_EVERY_S)) token.heat += 0.5 + 2 * random.next()
    const own = token.volatility * (0.7 + token.heat) * root * random.bell()
    const pull = (stepS / PULL_S) * Math.max(-1, Math.min(1, token.homeUsd / token.fairUsd - 1))
    const step = (token === native ? marketMove : own + token.beta * marketMove) + pull
    token.fairUsd *= 1 + Math.max(-LARGEST_STEP, Math.min(LARGEST_STEP, step))
  }
}
