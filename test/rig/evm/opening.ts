/** A chain ready for trading: contracts, wallets with tokens, pools with depth. The same blocks on every node of a kind. */

import { call } from './abi.js'
import { creation, located, planned } from './actions/pools.js'
import { addTo } from './actions/v2.js'
import { poolMint } from './actions/v3.js'
import { encodedKey } from './actions/v4.js'
import { type Contracts, deploy, deployContracts } from './contracts.js'
import { entry, poolKeys } from './handwritten.js'
import type { EvmNode } from './node.js'
import { fullRange, rawPrice, sqrtPriceOf } from './ticks.js'
import { mustHaveWorked, send, type Transaction, view } from './transactions.js'
import { NATIVE, type Pool, UINT256_MAX, worth } from './world.js'

export type OpenMarket = { node: EvmNode; contracts: Contracts; wallets: readonly string[]; pools: readonly Pool[] }

const WALLETS = 5
const FUNDS_USD = 200_000_000
const DEEP_USD = 500_000
const SHALLOW_USD = 4_000

/** Turns automatic blocks off. */
export async function openMarket(node: EvmNode): Promise<OpenMarket> {
  await node.rpc('evm_setAutomine', [false])
  const contracts = await deployContracts(node)
  const wallets = node.accounts.slice(1, 1 + WALLETS)
  await inOneBlock(node, funding(contracts, wallets))
  await inOneBlock(
    node,
    wallets.flatMap((wallet) => approvals(contracts, wallet)),
  )
  const { deployer, v4 } = contracts
  await inOneBlock(node, [{ from: deployer, ...view(v4.manager, 'setProtocolFeeController(address)', deployer) }])
  const { weth, usdc, usdt, cat, btc, tax, old, mute } = contracts.tokens
  const deep = [
    planned('v2', weth, usdc),
    planned('v2', cat, weth),
    planned('v2', tax, weth),
    planned('pancakeV2', weth, usdt),
    planned('pancakeV2', cat, usdt),
    planned('v3', weth, usdc, 500),
    planned('v3', btc, weth, 3000),
    planned('pancakeV3', weth, usdt, 500),
    planned('v4', NATIVE, usdc, 3000),
    planned('v4', cat, usdc, 12_345),
  ]
  const shallow = [
    planned('v2', old, cat),
    planned('v2', mute, usdc),
    planned('v3', old, usdc, 10_000),
    planned('v3', usdc, usdt, 500),
    planned('v4', NATIVE, btc, 500),
    planned('pancakeV3', cat, usdc, 2500),
  ]
  const pools: Pool[] = []
  for (const [plans, usd] of [
    [deep, DEEP_USD],
    [shallow, SHALLOW_USD],
  ] as const) {
    for (const plan of plans)
      pools.push(await opened(node, contracts, plan, wallets[pools.length % WALLETS] ?? '', usd))
  }
  const known = new Map(pools.flatMap((pool) => (pool.kind === 'v4' ? [[pool.id, encodedKey(pool)] as const] : [])))
  const keys = await deploy(node, poolKeys(known))
  return { node, contracts: { ...contracts, v4: { ...contracts.v4, keys } }, wallets, pools }
}

async function opened(node: EvmNode, contracts: Contracts, plan: Pool, from: string, usd: number): Promise<Pool> {
  await inOneBlock(node, creation({ contracts }, plan, from, usd))
  const pool = await located(node, { contracts }, plan)
  if (pool === null)
    throw new Error(`${plan.kind} pool of ${plan.token0.symbol} and ${plan.token1.symbol} was not made`)
  if (pool.kind === 'pancakeV2') await inOneBlock(node, addTo({ contracts }, pool, from, usd, ''))
  if (pool.kind === 'pancakeV3') {
    const initialize = view(pool.address, 'initialize(uint160)', sqrtPriceOf(rawPrice(pool.token0, pool.token1)))
    const mint = poolMint({ contracts }, pool, fullRange(pool.tickSpacing), usd)
    await inOneBlock(node, [{ from, to: contracts.caller, data: entry([initialize, mint]) }])
  }
  return pool
}

function funding(contracts: Contracts, wallets: readonly string[]): Transaction[] {
  const from = contracts.deployer
  const { weth, ...others } = contracts.tokens
  const holders = [...wallets, contracts.caller]
  const ether = worth(weth, FUNDS_USD)
  return [
    ...Object.values(others).flatMap((token) =>
      holders.map((to) => ({ from, ...view(token.address, 'transfer(address,uint256)', to, worth(token, FUNDS_USD)) })),
    ),
    ...wallets.map((wallet) => ({ from: wallet, to: weth.address, data: call('deposit()'), value: ether })),
    ...wallets.slice(0, 1).map((wallet) => ({ from: wallet, to: weth.address, data: call('deposit()'), value: ether })),
    ...wallets
      .slice(0, 1)
      .map((wallet) => ({ from: wallet, ...view(weth.address, 'transfer(address,uint256)', contracts.caller, ether) })),
  ]
}

function approvals({ tokens, v2, v3, v4, caller }: Contracts, from: string): Transaction[] {
  const spenders = [v2.router, v3.router, v3.positions, v4.swap, v4.liquidity, v4.donate, caller]
  return Object.values(tokens).flatMap(({ address }) =>
    spenders.map((spender) => ({ from, ...view(address, 'approve(address,uint256)', spender, UINT256_MAX) })),
  )
}

export async function inOneBlock(node: EvmNode, transactions: readonly Transaction[]): Promise<void> {
  const hashes: string[] = []
  for (const transaction of transactions) hashes.push(await send(node, transaction))
  await node.mine()
  await mustHaveWorked(node, hashes)
}
