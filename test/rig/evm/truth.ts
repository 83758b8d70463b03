/** The contracts' answers at the head. */
import { addressOf, hashOfText, keccak, signed, word, words } from './abi.js'
import type { OpenMarket } from './opening.js'
import { look, lookAt, type View, view } from './transactions.js'
import { type Pool, type V4Pool, ZERO } from './world.js'

export type PoolTruth = {
  pool: string
  kind: Pool['kind']
  token0: string
  token1: string
  /** V2: getReserves; V3: balances; V4: null, because the manager holds all pools' tokens together. */
  reserves: readonly [bigint, bigint] | null
  sqrtPrice: bigint | null
  tick: number | null
  liquidity: bigint | null
}

export type ChainLog = {
  address: string
  topics: string[]
  data: string
  blockNumber: string
  blockHash: string
  transactionHash: string
  transactionIndex: string
  logIndex: string
}

export type Truth = {
  headNumber: number
  pools: PoolTruth[]
  /** By token, then holder: wallets, pools and contracts. */
  balances: Map<string, Map<string, bigint>>
  supplies: Map<string, bigint>
  /** By currency: what V4's manager holds for all its pools together, without claims and protocol fees. */
  v4Holdings: Map<string, bigint>
  /** Every Swap log of the canonical chain, by pool. */
  swaps: Map<string, ChainLog[]>
}

export const SWAP_TOPICS = {
  v2: hashOfText('Swap(address,uint256,uint256,uint256,uint256,address)'),
  v3: hashOfText('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  pancakeV3: hashOfText('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)'),
  v4: hashOfText('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)'),
}
/** The layout of the manager's `pools`, as in v4-core's StateLibrary. */
const V4_POOLS_SLOT = 6n
const V4_LIQUIDITY_OFFSET = 3n

export async function truth(market: OpenMarket, pools: readonly Pool[]): Promise<Truth> {
  const { node, contracts } = market
  const headNumber = Number(await node.rpc('eth_blockNumber'))
  const swaps = await swapLogs(market, headNumber)
  const tokens = Object.values(contracts.tokens).map(({ address }) => address)
  const holders = [
    ...market.wallets,
    ...everyContract(market),
    ...pools.flatMap((pool) => ('address' in pool ? [pool.address] : [])),
  ]
  const answers = await look(node, [
    ...tokens.map((token) => view(token, 'totalSupply()')),
    ...tokens.flatMap((token) => holders.map((holder) => view(token, 'balanceOf(address)', holder))),
  ])
  const amounts = answers.map((answer) => word(answer))
  const balanceAt = (token: number, holder: number) => amounts[tokens.length + token * holders.length + holder] ?? 0n
  return {
    headNumber,
    swaps,
    pools: await poolTruths(market, pools),
    v4Holdings: await v4Holdings(market),
    supplies: new Map(tokens.map((token, at) => [token, amounts[at] ?? 0n])),
    balances: new Map(
      tokens.map((token, at) => [token, new Map(holders.map((holder, of) => [holder, balanceAt(at, of)]))]),
    ),
  }
}

/** Claims are ERC-6909 tokens whose id is the currency's address. */
async function v4Holdings({ node, contracts: { v4, tokens }, wallets }: OpenMarket): Promise<Map<string, bigint>> {
  const holdings = new Map<string, bigint>()
  for (const currency of [ZERO, ...Object.values(tokens).map(({ address }) => address)]) {
    const held =
      currency === ZERO
        ? BigInt(await node.rpc<string>('eth_getBalance', [v4.manager, 'latest']))
        : word(await lookAt(node, currency, 'balanceOf(address)', v4.manager))
    const owed = await look(node, [
      view(v4.manager, 'protocolFeesAccrued(address)', currency),
      ...wallets.map((wallet) => view(v4.manager, 'balanceOf(address,uint256)', wallet, BigInt(currency))),
    ])
    holdings.set(
      currency,
      owed.reduce((left, answer) => left - word(answer), held),
    )
  }
  return holdings
}

function everyContract({ contracts: { v2, v3, v4, caller, deployer } }: OpenMarket): string[] {
  return [deployer, caller, v2.router, v3.router, v3.positions, v4.manager, v4.swap, v4.liquidity, v4.donate, ZERO]
}

async function swapLogs({ node, contracts }: OpenMarket, headNumber: number): Promise<Map<string, ChainLog[]>> {
  const range = { fromBlock: '0x0', toBlock: `0x${headNumber.toString(16)}` }
  const logs = await node.rpc<ChainLog[]>('eth_getLogs', [{ ...range, topics: [Object.values(SWAP_TOPICS)] }])
  const byPool = new Map<string, ChainLog[]>()
  for (const log of logs) {
    const address = log.address.toLowerCase()
    const pool = address === contracts.v4.manager ? (log.topics[1] ?? '') : address
    byPool.set(pool, [...(byPool.get(pool) ?? []), log])
  }
  return byPool
}

async function poolTruths(market: OpenMarket, pools: readonly Pool[]): Promise<PoolTruth[]> {
  const asked = pools.map((pool) => viewsOf(market, pool))
  const answers = await look(market.node, asked.flat())
  let at = 0
  return pools.map((pool, index) => {
    const own = answers.slice(at, at + (asked[index]?.length ?? 0))
    at += own.length
    return poolTruth(pool, own)
  })
}

function viewsOf({ contracts }: OpenMarket, pool: Pool): View[] {
  if (pool.kind === 'v4') {
    const slot = v4Slot(pool)
    const load = (at: bigint) => view(contracts.v4.manager, 'extsload(bytes32)', at)
    return [load(slot), load(slot + V4_LIQUIDITY_OFFSET)]
  }
  const { address, token0, token1 } = pool
  if (pool.kind === 'v2' || pool.kind === 'pancakeV2') return [view(address, 'getReserves()')]
  const balance = (token: string) => view(token, 'balanceOf(address)', address)
  return [view(address, 'slot0()'), view(address, 'liquidity()'), balance(token0.address), balance(token1.address)]
}

function poolTruth(
  pool: Pool,
  [first = '0x', second = '0x', third = '0x', fourth = '0x']: readonly string[],
): PoolTruth {
  const { kind, token0, token1 } = pool
  const named = { kind, token0: token0.address, token1: token1.address }
  if (pool.kind === 'v4') {
    const slot0 = word(first)
    return {
      ...{ ...named, pool: pool.id, reserves: null, sqrtPrice: BigInt(addressOf(slot0)) },
      ...{ tick: Number(signed(slot0 >> 160n, 24)), liquidity: BigInt.asUintN(128, word(second)) },
    }
  }
  if (pool.kind === 'v2' || pool.kind === 'pancakeV2') {
    const [reserve0 = 0n, reserve1 = 0n] = words(first)
    return {
      ...named,
      pool: pool.address,
      reserves: [reserve0, reserve1],
      sqrtPrice: null,
      tick: null,
      liquidity: null,
    }
  }
  const [sqrtPrice = 0n, tick = 0n] = words(first)
  const reserves = [word(third), word(fourth)] as const
  return { ...named, pool: pool.address, reserves, sqrtPrice, tick: Number(signed(tick, 24)), liquidity: word(second) }
}

function v4Slot({ id }: V4Pool): bigint {
  return BigInt(keccak(`${id}${V4_POOLS_SLOT.toString(16).padStart(64, '0')}`))
}
