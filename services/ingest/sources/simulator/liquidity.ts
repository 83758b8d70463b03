/** Liquidity changes in proportion to the reserves; pools open, overtake one another, and close. */
import type { LiquidityKind } from '../../../core/domain/records.js'
import { depthOf, fairOf, newPool, type Pool, rawOf, reweigh, SLOT, type Token, wholeOf } from './market-state.js'
import type { Stage } from './stage.js'
import { ammOf } from './venues.js'

const PARTS = 1_000_000
const RIVAL_LEADS = 1.35
const RIVAL_TRAILS = 0.7
const RIVALS_EVERY_MS = 180_000

/** Adds a fraction of the reserves, or removes a negative one, at the pool's price. */
export function changeLiquidity(stage: Stage, pool: Pool, fraction: number): void {
  const { ledger, writer } = stage
  const parts = BigInt(Math.floor(Math.abs(fraction) * PARTS))
  const base = (pool.baseReserve * parts) / BigInt(PARTS)
  const quote = (pool.quoteReserve * parts) / BigInt(PARTS)
  if (base === 0n || quote === 0n) return
  const adds = fraction > 0
  const wallet = pool.provider
  if (adds && !(ledger.provide(pool.base, wallet, base) && ledger.provide(pool.quote, wallet, quote))) return
  ledger.reportPool(pool)
  ledger.change(pool.base, wallet, adds ? -base : base)
  ledger.change(pool.quote, wallet, adds ? -quote : quote)
  pool.baseReserve += adds ? base : -base
  pool.quoteReserve += adds ? quote : -quote
  writer.transaction()
  writeLiquidity(stage, pool, adds ? 'add' : 'remove', base, quote)
}

/** Around the pool's usual depth. */
export function someLiquidity(stage: Stage, pool: Pool): void {
  const { random } = stage
  const lead = depthOf(pool) / pool.homeDepth
  const adds = lead < 0.9 || (lead < 1.1 && random.chance(0.5))
  const fraction = 0.0005 + 0.01 * random.next() * random.next()
  changeLiquidity(stage, pool, adds ? fraction : -fraction)
}

/** In the current transaction. */
export function writeLiquidity(stage: Stage, pool: Pool, kind: LiquidityKind, base: bigint, quote: bigint): void {
  const { writer, ledger } = stage
  const wallet = ledger.walletAddress(pool.provider)
  const [amount0, amount1] = pool.baseIs0 ? [base, quote] : [quote, base]
  const [reserve0, reserve1] = pool.baseIs0
    ? [pool.baseReserve, pool.quoteReserve]
    : [pool.quoteReserve, pool.baseReserve]
  writer.events.push({
    type: 'liquidity',
    ...writer.place(),
    pool: pool.address,
    amm: pool.amm,
    kind,
    sender: wallet,
    wallet,
    amount0: amount0.toString(),
    amount1: amount1.toString(),
    reserve0: reserve0.toString(),
    reserve1: reserve1.toString(),
  })
}

export type PoolPlan = {
  base: Token
  quote: Token
  amm: string
  baseRaw: bigint
  quoteRaw: bigint
  provider: number
  weight: number
  usdPerS: number
}

/** Writes the pool and its first liquidity in the current transaction. The caller changes the provider's balances. */
export function openPool(stage: Stage, plan: PoolPlan): Pool {
  const { state, book, ledger, facts, venue } = stage
  const { base, quote, amm } = plan
  const pool = newPool({
    address: book('pool', state.nextPool++),
    amm,
    router: book(`router ${amm}`, 0),
    feeBps: ammOf(venue, amm).feeBps,
    base,
    quote,
    // V2 factories sort the two by address.
    baseIs0: facts.family !== 'evm' || base.address < quote.address,
    baseReserve: plan.baseRaw,
    quoteReserve: plan.quoteRaw,
    weight: plan.weight,
    usdPerS: plan.usdPerS,
    provider: plan.provider,
    siblings: state.pools.filter((other) => other.base === base && other.quote === quote),
  })
  pool.homeDepth = depthOf(pool)
  for (const sibling of pool.siblings) sibling.siblings.push(pool)
  ledger.reportPool(pool)
  describePool(stage, pool)
  writeLiquidity(stage, pool, 'create', plan.baseRaw, plan.quoteRaw)
  state.pools.push(pool)
  reweigh(state)
  return pool
}

export function describePool({ writer, ledger }: Stage, pool: Pool): void {
  const [token0, token1] = pool.baseIs0 ? [pool.base, pool.quote] : [pool.quote, pool.base]
  writer.events.push({
    type: 'pool',
    ...writer.place(),
    pool: pool.address,
    amm: pool.amm,
    token0: token0.address,
    token1: token1.address,
    fee: Number(pool.feeBps) * 100,
    creator: ledger.walletAddress(pool.provider),
  })
}

/** Removes the pool from trading. */
export function forgetPool(stage: Stage, pool: Pool): void {
  const { state, ledger } = stage
  ledger.reportPool(pool)
  for (const sibling of pool.siblings) sibling.siblings = sibling.siblings.filter((other) => other !== pool)
  state.pools = state.pools.filter((other) => other !== pool)
  reweigh(state)
}

/** The second pool's provider adds or removes liquidity, so that the other pool becomes the deeper one. `pace`: density of history. */
export function letRivalsMove(stage: Stage, pace: number): void {
  const { rivals } = stage.state
  if ((stage.timeMs - rivals.movedMs) * pace < rivals.restMs) return
  rivals.movedMs = stage.timeMs
  rivals.restMs = RIVALS_EVERY_MS * (0.8 + 0.4 * stage.random.next())
  const lead =
    wholeOf(rivals.second.quote, rivals.second.quoteReserve) / wholeOf(rivals.first.quote, rivals.first.quoteReserve)
  const wanted = lead > 1 ? RIVAL_TRAILS : RIVAL_LEADS
  changeLiquidity(stage, rivals.second, wanted / lead - 1)
}

/** Opens another pool for a token, or closes the one opened before. */
export function hostGuest(stage: Stage): void {
  const { state, random, venue, ledger, writer } = stage
  if (state.guest !== null) {
    changeLiquidity(stage, state.guest, -0.999)
    forgetPool(stage, state.guest)
    state.guest = null
    return
  }
  const host = random.pick(state.pools.filter((pool) => pool.weight > 0))
  if (state.graduates.includes(host)) return
  const quoteAmount = wholeOf(host.quote, host.quoteReserve) * (0.05 + 0.1 * random.next())
  const [baseRaw, quoteRaw] = [rawOf(host.base, quoteAmount / fairOf(host)), rawOf(host.quote, quoteAmount)]
  const provider = random.int(SLOT.firstTrader, SLOT.firstPassing - 1)
  if (!(ledger.provide(host.base, provider, baseRaw) && ledger.provide(host.quote, provider, quoteRaw))) return
  ledger.change(host.base, provider, -baseRaw)
  ledger.change(host.quote, provider, -quoteRaw)
  writer.transaction()
  state.guest = openPool(stage, {
    ...{ base: host.base, quote: host.quote, amm: random.pick(venue.amms).name, baseRaw, quoteRaw, provider },
    ...{ weight: host.weight * 0.3, usdPerS: host.usdPerS * 0.08 },
  })
}
