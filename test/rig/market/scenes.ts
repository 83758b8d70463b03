/** What happens inside a block: each scene writes the events of one or a few transactions. */
import { addressOf } from './addresses.js'
import { describeGraduated, launch } from './launches.js'
import { RANKED_POOLS, symbolsOf } from './opening.js'
import { changeLiquidity, createLiquidity, describePool, describeToken, makePool, recordSwap, trade } from './pools.js'
import { amountOf, type MarketPool, type MarketToken, type Scene, type Stage } from './world.js'

const describedPools = ({ world }: Stage): MarketPool[] => world.pools.filter((pool) => pool.described)

const existing = ({ world }: Stage, symbols: string[]): string[] => symbols.filter((symbol) => world.tokens.has(symbol))

/** A described pool, weighted by how often it trades; empty pools are skipped. */
function tradedPool(stage: Stage): MarketPool {
  const pools = describedPools(stage).filter((pool) => pool.reserve0 > 1000n && pool.reserve1 > 1000n)
  return stage.random.weighted(pools.map((pool) => [pool.weight, pool] as const))
}

/** Sometimes the trader is unknown. */
const someWallet = ({ random, wallets }: Stage): string => (random.chance(0.02) ? '' : random.pick(wallets))

/** Mostly towards the fair price, so that pools of one token stay together. */
function someOrder(stage: Stage, pool: MarketPool): { token0In: boolean; amountIn: bigint } {
  const { random } = stage
  const worth0 = amountOf(pool.token0, pool.reserve0) * pool.token0.fairUsd
  const worth1 = amountOf(pool.token1, pool.reserve1) * pool.token1.fairUsd
  const token0In = random.chance(worth0 < worth1 ? 0.7 : 0.3)
  const reserveIn = token0In ? pool.reserve0 : pool.reserve1
  const share = random.chance(0.05) ? random.int(200, 1500) : random.int(1, 120)
  const amountIn = (reserveIn * BigInt(share)) / 10_000n
  return { token0In, amountIn: amountIn > 0n ? amountIn : 1n }
}

const ordinarySwap: Scene = (stage) => {
  const pool = tradedPool(stage)
  const order = { ...someOrder(stage, pool), wallet: someWallet(stage) }
  stage.writer.transaction()
  const amountOut = trade(stage, pool, order)
  if (stage.random.chance(0.3))
    moveBalances(stage, order.token0In ? pool.token1 : pool.token0, order.wallet, pool.address, amountOut)
}

/** An arbitrage trade brings a ranked pool back to the fair price. */
const closeTheGap: Scene = (stage) => {
  const pool = stage.random.pick(describedPools(stage).slice(0, RANKED_POOLS))
  const worth0 = amountOf(pool.token0, pool.reserve0) * pool.token0.fairUsd
  const worth1 = amountOf(pool.token1, pool.reserve1) * pool.token1.fairUsd
  const token0In = worth0 < worth1
  const move = Math.round((Math.sqrt(token0In ? worth1 / worth0 : worth0 / worth1) - 1) * 10_000)
  const amountIn = ((token0In ? pool.reserve0 : pool.reserve1) * BigInt(Math.min(move, 3_000))) / 10_000n
  if (amountIn === 0n) return
  stage.writer.transaction()
  trade(stage, pool, { token0In, amountIn, wallet: someWallet(stage) })
}

/** The bought tokens move from the pool to the wallet, recorded as a delta or, if the chain has it, as a balance. */
function moveBalances(
  { writer, world, random }: Stage,
  token: MarketToken,
  wallet: string,
  pool: string,
  amount: bigint,
): void {
  if (wallet === '' || amount === 0n) return
  for (const [holder, delta] of [
    [pool, -amount],
    [wallet, amount],
  ] as const) {
    const key = `${token.address}|${holder}`
    const after = (world.balances.get(key) ?? 0n) + delta
    // A pool's initial stock is not recorded, so its deltas go below zero; a balance never does.
    const whole = after >= 0n && random.chance(world.family === 'evm' ? 0.1 : 0.6)
    world.balances.set(key, after)
    const facts = whole ? { balance: String(after) } : { delta: String(delta) }
    writer.add({ type: 'balance', token: token.address, holder, ...facts })
  }
}

/** A holder sells everything: a balance of 0, or the delta that leaves 0. */
const emptyHolder: Scene = ({ writer, world, random }) => {
  const holders = [...world.balances].filter(([, balance]) => balance > 0n)
  if (holders.length === 0) return
  const [key, balance] = random.pick(holders)
  const [token = '', holder = ''] = key.split('|')
  world.balances.set(key, 0n)
  writer.transaction()
  writer.add({
    type: 'balance',
    token,
    holder,
    ...(random.chance(0.5) ? { balance: '0' } : { delta: String(-balance) }),
  })
}

/** One wallet buys and sells in several pools within one log. */
const severalInOneLog: Scene = (stage) => {
  const wallet = stage.random.pick(stage.wallets)
  stage.writer.transaction()
  for (let leg = 0; leg < stage.random.int(2, 3); leg++) {
    const pool = tradedPool(stage)
    trade(stage, pool, { ...someOrder(stage, pool), wallet }, leg > 0)
  }
}

const dustSwap: Scene = (stage) => {
  const pool = tradedPool(stage)
  const { random } = stage
  stage.writer.transaction()
  const order = { token0In: random.chance(0.5), amountIn: BigInt(random.int(0, 1500)), wallet: someWallet(stage) }
  if (random.chance(0.5)) trade(stage, pool, order)
  // Rounding a few units can give any price.
  else recordSwap(stage, pool, { ...order, amountOut: BigInt(random.int(0, 3)) })
}

/** Executed at a thousand times the pool's price, which does not move. */
const outlierSwap: Scene = (stage) => {
  const pool = tradedPool(stage)
  const { token0In, amountIn } = someOrder(stage, pool)
  const fair = token0In ? (amountIn * pool.reserve1) / pool.reserve0 : (amountIn * pool.reserve0) / pool.reserve1
  const amountOut = stage.random.chance(0.5) ? fair / 1000n : fair * 1000n
  stage.writer.transaction()
  recordSwap(stage, pool, { token0In, amountIn, amountOut, wallet: someWallet(stage) })
}

/** Just as far from the previous price, but the pool stays there: a real move, not an outlier. */
const jump: Scene = (stage) => {
  const pool = stage.random.pick(describedPools(stage).slice(RANKED_POOLS))
  const token0In = stage.random.chance(0.5)
  const [reserveIn, reserveOut] = token0In ? [pool.reserve0, pool.reserve1] : [pool.reserve1, pool.reserve0]
  const [amountIn, amountOut] = [reserveIn / 10n, (reserveOut * 8n) / 10n]
  if (amountIn === 0n || amountOut === 0n) return
  pool.reserve0 = 4n * (token0In ? amountIn : amountOut)
  pool.reserve1 = 4n * (token0In ? amountOut : amountIn)
  stage.writer.transaction()
  recordSwap(stage, pool, { token0In, amountIn, amountOut, wallet: someWallet(stage) })
}

const liquidity: Scene = (stage) => {
  const { random } = stage
  const pool = tradedPool(stage)
  const ranked = describedPools(stage).indexOf(pool) < RANKED_POOLS
  stage.writer.transaction()
  const share = ranked ? random.int(-60, 60) : random.int(-250, 330)
  changeLiquidity(stage, pool, BigInt(share === 0 ? 1 : share), random.pick(stage.wallets))
}

/** Brings a rival to 1.05 … 1.15 times the depth of another pool of the same token. */
const nudgeRival: Scene = (stage) => {
  const { random } = stage
  const rivals = describedPools(stage)
    .filter((pool) => [pool.token0.symbol, pool.token1.symbol].includes('MEME'))
    .slice(0, 2)
  const [one, other] = random.chance(0.5) ? rivals : rivals.toReversed()
  if (one === undefined || other === undefined) return
  const quoteWorth = (token: MarketToken, reserve: bigint): number =>
    token.symbol === 'MEME' ? 0 : amountOf(token, reserve) * token.fairUsd
  const depth = (pool: MarketPool): number =>
    quoteWorth(pool.token0, pool.reserve0) + quoteWorth(pool.token1, pool.reserve1)
  const thousandths = Math.round((depth(other) / depth(one)) * (1000 + random.int(50, 150))) - 1000
  if (thousandths <= -900 || thousandths === 0) return
  stage.writer.transaction()
  changeLiquidity(stage, one, BigInt(thousandths), random.pick(stage.wallets))
}

/** All liquidity leaves; the next addition finds zero reserves. */
const drain: Scene = (stage) => {
  const { random } = stage
  const small = describedPools(stage).slice(RANKED_POOLS + 3)
  if (small.length === 0) return
  const pool = random.pick(small)
  const [reserve0, reserve1] = [pool.reserve0, pool.reserve1]
  stage.writer.transaction()
  changeLiquidity(stage, pool, -1000n, random.pick(stage.wallets))
  pool.reserve0 = reserve0
  pool.reserve1 = reserve1
  stage.writer.transaction()
  if (random.chance(0.7)) createLiquidity(stage, pool, random.pick(stage.wallets))
}

/** A swap whose source does not know the reserves this time. */
const unrecordedReserves: Scene = (stage) => {
  const pool = tradedPool(stage)
  const style = pool.style
  if (style !== 'v2') return
  stage.writer.transaction()
  pool.style = 'blind'
  trade(stage, pool, { ...someOrder(stage, pool), wallet: someWallet(stage) })
  pool.style = style
}

/** Traded before it is described; the description comes some blocks later. */
const ghostPool: Scene = (stage) => {
  const { world, random } = stage
  const ghost = world.pools.find((pool) => !pool.described)
  if (ghost === undefined) {
    makePool(stage, random.pick(existing(stage, ['MEME', 'ALT', 'SMALL'])), symbolsOf(world.chain).coin, {
      usd: random.int(500, 40_000),
      described: false,
    })
    return
  }
  stage.writer.transaction()
  if (random.chance(0.3)) describePool(stage, ghost)
  trade(stage, ghost, { ...someOrder(stage, ghost), wallet: someWallet(stage) })
  if (random.chance(0.3)) changeLiquidity(stage, ghost, 20n, random.pick(stage.wallets))
}

const foreignTokens: Scene = (stage) => {
  const pool = tradedPool(stage)
  const unknownToken = { ...pool, token0: { ...pool.token0, address: addressOf(stage.world.family, 'stranger') } }
  stage.writer.transaction()
  recordSwap(stage, unknownToken, { token0In: true, amountIn: 5000n, amountOut: 5000n, wallet: someWallet(stage) })
}

const describedAgain: Scene = (stage) => {
  const pool = tradedPool(stage)
  stage.writer.transaction()
  // The second description swaps the tokens and must change nothing.
  describePool(stage, { ...pool, token0: pool.token1, token1: pool.token0 })
}

const lateDecimals: Scene = (stage) => {
  const token = stage.world.undescribed.shift()
  if (token === undefined) return
  stage.writer.transaction()
  describeToken(stage, token)
}

const learned: Scene = ({ writer, world, random }) => {
  const token = random.pick([...world.tokens.values()]).address
  const facts = random.pick([
    { total_supply: String(random.int(1, 10 ** 9)) },
    { risk: '{"honeypot":false}' },
    { owner: token },
  ])
  writer.transaction()
  writer.add({ type: 'meta', token, ...facts })
}

const anotherPool: Scene = (stage) => {
  const { world, random } = stage
  if (world.pools.length > 60) return
  const { usd, coin, btc } = symbolsOf(world.chain)
  const base = random.pick(existing(stage, ['MEME', 'ALT', 'DEEP', 'SMALL', 'ZERO', 'LOOPA']))
  const quote = random.pick(existing(stage, [usd, coin, btc, 'MEME', 'ALT']).filter((symbol) => symbol !== base))
  stage.writer.transaction()
  const pool = makePool(stage, base, quote, {
    usd: random.pick([800, 8_000, 20_000, 45_000]),
    weight: random.int(1, 8),
  })
  // Without it the reserves are known from the first swap on.
  if (random.chance(0.7)) createLiquidity(stage, pool, random.pick(stage.wallets))
}

/** Scenes that can happen any time, with their weights; `nastiness` scales all but the ordinary ones. */
export function scenesOf(nastiness: number): (readonly [weight: number, scene: Scene])[] {
  const nasty: [number, Scene][] = [
    [3, dustSwap],
    [2, outlierSwap],
    [0.4, jump],
    [2.5, nudgeRival],
    [0.4, drain],
    [1, unrecordedReserves],
    [1.5, ghostPool],
    [0.4, foreignTokens],
    [0.3, describedAgain],
    [0.7, lateDecimals],
    [0.8, anotherPool],
    [2.5, launch],
    [1, describeGraduated],
    [1, emptyHolder],
  ]
  return [
    [70, ordinarySwap],
    [3, closeTheGap],
    [4, severalInOneLog],
    [4, liquidity],
    [1, learned],
    ...nasty.map(([weight, scene]) => [weight * nastiness, scene] as const),
  ]
}
