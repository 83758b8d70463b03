/** A pair of Base's USDC and WETH on a local chain, with their code at the real addresses, so nothing has to be configured. */
import { call, encode, hashOfText, keccak, words } from './abi.js'
import { located, planned } from './actions/pools.js'
import { addTo } from './actions/v2.js'
import type { TestToken } from './contracts.js'
import type { EvmNode } from './node.js'
import { inOneBlock, type OpenMarket } from './opening.js'
import { send, type Transaction, view } from './transactions.js'
import type { ChainLog } from './truth.js'
import { NEVER, UINT256_MAX, worth } from './world.js'

/** The addresses of the built-in chain. */
const USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const WETH = '0x4200000000000000000000000000000000000006'
const FUNDS_USD = 50_000_000
const DEPTH_USD = 1_000_000

export type BasePair = {
  address: string
  /** A trade in a separate block; its price in USDC. */
  trade(usd: number, timeS: number): Promise<{ price: number; timeS: number }>
}

export async function openBasePair({ node, contracts, wallets }: OpenMarket): Promise<BasePair> {
  const { weth: localWeth, usdc: localUsdc } = contracts.tokens
  const [weth, usdc] = [
    { ...localWeth, address: WETH },
    { ...localUsdc, address: USDC },
  ]
  const [from = ''] = wallets
  // WETH9 keeps its name, symbol and decimals in its first slots; all other slots of both are balances.
  await transplant(node, localWeth.address, WETH, [0n, 1n, 2n])
  await transplant(node, localUsdc.address, USDC, [0n])
  await store(node, USDC, BigInt(keccak(encode(['address', 'uint256'], [from, 1]))), worth(usdc, FUNDS_USD))
  const approve = ({ address }: TestToken): Transaction => ({
    from,
    ...view(address, 'approve(address,uint256)', contracts.v2.router, UINT256_MAX),
  })
  const deposit = { from, to: WETH, data: call('deposit()'), value: worth(weth, FUNDS_USD) }
  const plan = planned('v2', weth, usdc)
  if (plan.kind !== 'v2') throw new Error('a V2 pair was planned')
  const liquidity = addTo({ contracts }, plan, from, DEPTH_USD, contracts.v2.router)
  await inOneBlock(node, [approve(weth), approve(usdc), deposit, ...liquidity])
  const pool = await located(node, { contracts }, plan)
  if (pool === null || pool.kind === 'v4') throw new Error('the pair was not made')

  return {
    address: pool.address,
    async trade(usd, timeS) {
      const path = usd > 0 ? [WETH, USDC] : [USDC, WETH]
      const amountIn = worth(usd > 0 ? weth : usdc, Math.abs(usd))
      const signature = 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)'
      await send(node, { from, to: contracts.v2.router, data: call(signature, amountIn, 0, path, from, NEVER) })
      const { timestamp } = await node.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
      const atS = Math.max(timeS, Number(timestamp) + 1)
      await node.mine(atS)
      return { price: await lastPrice(node, pool.address), timeS: atS }
    },
  }
}

async function lastPrice(node: EvmNode, address: string): Promise<number> {
  const topics = [hashOfText('Swap(address,uint256,uint256,uint256,uint256,address)')]
  const logs = await node.rpc<ChainLog[]>('eth_getLogs', [{ fromBlock: 'latest', toBlock: 'latest', address, topics }])
  const [in0 = 0n, in1 = 0n, out0 = 0n, out1 = 0n] = words(logs.at(-1)?.data ?? '0x')
  // WETH is token0: its address is the lower one.
  return Number(in1 + out1) / 1e6 / (Number(in0 + out0) / 1e18)
}

async function transplant(node: EvmNode, from: string, to: string, slots: readonly bigint[]): Promise<void> {
  await node.rpc('hardhat_setCode', [to, await node.rpc('eth_getCode', [from, 'latest'])])
  for (const slot of slots) {
    await store(node, to, slot, BigInt(await node.rpc<string>('eth_getStorageAt', [from, hex(slot), 'latest'])))
  }
}

async function store(node: EvmNode, address: string, slot: bigint, value: bigint): Promise<void> {
  await node.rpc('hardhat_setStorageAt', [address, hex(slot), `0x${value.toString(16).padStart(64, '0')}`])
}

const hex = (value: bigint): string => `0x${value.toString(16)}`
