/** The state that the market's actions work on. */
import type { Random } from '../market/random.js'
import type { Contracts, TestToken } from './contracts.js'
import type { EvmNode } from './node.js'
import type { Transaction } from './transactions.js'

export type V2Pool = { kind: 'v2' | 'pancakeV2'; address: string; token0: TestToken; token1: TestToken }
export type V3Pool = {
  kind: 'v3' | 'pancakeV3'
  address: string
  token0: TestToken
  token1: TestToken
  fee: number
  tickSpacing: number
}
export type V4Pool = {
  kind: 'v4'
  id: string
  token0: TestToken
  token1: TestToken
  fee: number
  tickSpacing: number
  hooks: string
}
export type Pool = V2Pool | V3Pool | V4Pool

export type World = {
  readonly node: EvmNode
  readonly contracts: Contracts
  readonly wallets: readonly string[]
  readonly random: Random
  /** Only those on the chain at its head. */
  readonly pools: readonly Pool[]
}

/** An action as transactions in order. Pools it creates are added to the world if they end up on chain. */
export type Deed = { transactions: readonly Transaction[]; makes?: readonly Pool[] }
/** Null: not possible now. */
export type Action = (world: World) => Promise<Deed | null>

export const ZERO = `0x${'0'.repeat(40)}`
export const NATIVE: TestToken = {
  ...{ address: ZERO, decimals: 18, name: 'Ether', symbol: 'ETH', priceUsd: 2000, deflates: false },
}
export const NEVER = 2n ** 40n
export const UINT128_MAX = 2n ** 128n - 1n
export const UINT256_MAX = 2n ** 256n - 1n

export const isV2 = (pool: Pool): pool is V2Pool => pool.kind === 'v2' || pool.kind === 'pancakeV2'
export const isV3 = (pool: Pool): pool is V3Pool => pool.kind === 'v3' || pool.kind === 'pancakeV3'

export const poolsOf = <K extends Pool['kind']>({ pools }: World, ...kinds: K[]): Extract<Pool, { kind: K }>[] =>
  pools.filter((pool): pool is Extract<Pool, { kind: K }> => (kinds as string[]).includes(pool.kind))

/** Raw units worth that much at opening prices. */
export function worth({ decimals, priceUsd }: TestToken, usd: number): bigint {
  return BigInt(Math.floor((usd / priceUsd) * 10 ** (decimals ?? 18)))
}

/** From dust to a whale, each order of magnitude equally likely. */
export const tradeUsd = ({ random }: World): number => 10 ** (random.next() * 6.5 - 2.2)

/** A path through distinct pools, as tokens in order. */
export function route<P extends Pool>(
  world: World,
  pools: readonly P[],
  maxHops: number,
): { tokens: TestToken[]; pools: P[] } | null {
  if (pools.length === 0) return null
  const { random } = world
  const first = random.pick(pools)
  const tokens = random.chance(0.5) ? [first.token0, first.token1] : [first.token1, first.token0]
  const taken = [first]
  for (let hops = random.int(1, maxHops); hops > 1; hops--) {
    const last = tokens.at(-1)
    const next = pools.filter((pool) => !taken.includes(pool) && (pool.token0 === last || pool.token1 === last))
    if (next.length === 0) break
    const pool = random.pick(next)
    const token = pool.token0 === last ? pool.token1 : pool.token0
    if (tokens.includes(token)) break
    taken.push(pool)
    tokens.push(token)
  }
  return { tokens, pools: taken }
}
