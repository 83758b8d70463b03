/** The real Uniswap V4 contracts on a local node, and random operations on them. */
import { readFileSync } from 'node:fs'
import { selectorOf } from '../../../../../../services/ingest/decode/evm/abi/keccak.js'
import { addressWord, intWord, uintWord } from '../../../../../../services/ingest/decode/evm/abi/view-calls.js'
import type { EvmLog } from '../../../../../../services/ingest/decode/evm/log.js'
import type { Reading } from '../../../../../../services/ingest/decode/evm/protocol.js'
import { sqrtPriceAtTick } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v4/liquidity-math.js'
import { idOf, type PoolKey } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v4/pool-key.js'
import type { EvmNode } from '../../../../../rig/evm/node.js'
import type { Random } from '../../../../../rig/market/random.js'

export const NATIVE = `0x${'0'.repeat(40)}`
const KEY = '(address,address,uint24,int24,address)'
const INITIALIZE = selectorOf(`initialize(${KEY},uint160)`)
const SWAP = selectorOf(`swap(${KEY},(bool,int256,uint160),(bool,bool),bytes)`)
const MODIFY = selectorOf(`modifyLiquidity(${KEY},(int24,int24,int256,bytes32),bytes)`)
const DONATE = selectorOf(`donate(${KEY},uint256,uint256,bytes)`)
const SET_PROTOCOL_FEE = selectorOf(`setProtocolFee(${KEY},uint24)`)
const SET_CONTROLLER = selectorOf('setProtocolFeeController(address)')
const APPROVE = selectorOf('approve(address,uint256)')
const PROTOCOL_FEES = selectorOf('protocolFeesAccrued(address)')
const BALANCE_OF = selectorOf('balanceOf(address)')

/** A random integer below the bound. */
const below = (random: Random, bound: number): number => random.int(0, bound - 1)

type Deployed = {
  manager: string
  swapper: string
  providers: readonly string[]
  donor: string
  tokens: readonly string[]
}
export type V4World = Deployed & { node: EvmNode; pools: readonly PoolKey[] }
type Sent = { to: string; data: string; value?: string }

export async function deployV4(node: EvmNode): Promise<V4World> {
  const [owner = ''] = node.accounts
  await node.rpc('evm_setAutomine', [false])
  const deploy = async (name: string, args: string): Promise<string> => {
    const path = `node_modules/@uniswap/v4-core/out/${name}.sol/${name}.json`
    const code = (JSON.parse(readFileSync(path, 'utf8')) as { bytecode: { object: string } }).bytecode.object + args
    const hash = await node.rpc<string>('eth_sendTransaction', [{ from: owner, data: code, gas: '0x1c9c380' }])
    await node.mine()
    const receipt = await node.rpc<{ contractAddress: string }>('eth_getTransactionReceipt', [hash])
    return receipt.contractAddress.toLowerCase()
  }
  const manager = await deploy('PoolManager', addressWord(owner))
  const swapper = await deploy('PoolSwapTest', addressWord(manager))
  const providers = [
    await deploy('PoolModifyLiquidityTest', addressWord(manager)),
    await deploy('PoolModifyLiquidityTest', addressWord(manager)),
  ]
  const donor = await deploy('PoolDonateTest', addressWord(manager))
  const minted = uintWord(1n << 120n)
  const tokens = [await deploy('TestERC20', minted), await deploy('TestERC20', minted)].sort()
  const [token0 = '', token1 = ''] = tokens
  const poolOf = (fee: number, tickSpacing: number, currency0 = token0): PoolKey => ({
    currencies: [currency0, token1],
    fee,
    tickSpacing,
    hooks: NATIVE,
  })
  const pools = [poolOf(3000, 60), poolOf(100, 1), poolOf(0, 200), poolOf(500, 10, NATIVE), poolOf(900_000, 60)]
  const world = { node, manager, swapper, providers, donor, tokens, pools }
  for (const token of tokens) {
    for (const spender of [swapper, ...providers, donor]) {
      await send(world, { to: token, data: APPROVE + addressWord(spender) + 'f'.repeat(64) })
    }
  }
  await send(world, { to: manager, data: SET_CONTROLLER + addressWord(owner) })
  await node.mine()
  return world
}

export async function initializePools(world: V4World, random: Random): Promise<void> {
  for (const key of world.pools) {
    const price = sqrtPriceAtTick(below(random, 4001) - 2000) + BigInt(below(random, 1_000_000))
    await send(world, { to: world.manager, data: INITIALIZE + keyWords(key) + uintWord(price) })
  }
  await world.node.mine()
}

/** Blocks of several transactions each; some fail, as on a real chain. */
export async function playV4(world: V4World, random: Random, blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block += 1) {
    const count = 4 + below(random, 8)
    for (let tx = 0; tx < count; tx += 1) await send(world, deal(world, random, block === 0))
    await world.node.mine()
  }
}

function deal(world: V4World, random: Random, first: boolean): Sent {
  const key = world.pools[below(random, world.pools.length)] as PoolKey
  const value = key.currencies[0] === NATIVE ? { value: '0x56bc75e2d63100000' } : {}
  const what = first ? 0 : below(random, 100)
  if (what < 30) return { to: world.providers[below(random, 2)] ?? '', data: modifyData(key, random), ...value }
  if (what < 88) return { to: world.swapper, data: swapData(key, random), ...value }
  if (what < 96) {
    const amounts = uintWord(below(random, 3) * 1_000_003) + uintWord(below(random, 2) * 77_777)
    return { to: world.donor, data: DONATE + keyWords(key) + amounts + uintWord(256) + uintWord(0), ...value }
  }
  const fee = [0, 1000, 137, 1][below(random, 4)] ?? 0
  const packed = uintWord(fee | (([0, 999, 250][below(random, 3)] ?? 0) << 12))
  return { to: world.manager, data: SET_PROTOCOL_FEE + keyWords(key) + packed }
}

function modifyData(key: PoolKey, random: Random): string {
  const spacing = key.tickSpacing
  const range = [1, 2, 5, 20][below(random, 4)] ?? 1
  const lower = (below(random, 2 * range) - range) * spacing * (spacing < 50 ? 20 : 2)
  const upper = lower + (1 + below(random, range * 3)) * spacing * (spacing < 50 ? 7 : 1)
  const size = 10n ** BigInt(3 + below(random, 12)) + BigInt(below(random, 1000))
  // A third removes what an equal position may hold, a few only collect fees.
  const what = below(random, 12)
  const delta = what < 8 ? size : what < 11 ? -(size / 2n) : 0n
  const params = intWord(lower) + intWord(upper) + intWord(delta) + uintWord(below(random, 3))
  return MODIFY + keyWords(key) + params + uintWord(320) + uintWord(0)
}

function swapData(key: PoolKey, random: Random): string {
  const zeroForOne = below(random, 2) === 0
  const exactIn = below(random, 3) > 0
  const size = 1n + BigInt(below(random, 1_000_000)) * 10n ** BigInt(below(random, 9))
  const amount = below(random, 4) === 0 ? BigInt(1 + below(random, 5)) : size
  // Half of the limits are on a tick where positions may end, so that swaps stop exactly there.
  const limitTick =
    below(random, 3) === 0
      ? 886_000
      : below(random, 2) === 0
        ? below(random, 3000)
        : key.tickSpacing * below(random, 30)
  const limit = sqrtPriceAtTick(zeroForOne !== (below(random, 4) === 0) ? -limitTick : limitTick)
  const params = uintWord(zeroForOne ? 1 : 0) + intWord(exactIn ? -amount : amount) + uintWord(limit)
  return SWAP + keyWords(key) + params + uintWord(0) + uintWord(0) + uintWord(352) + uintWord(0)
}

function keyWords({ currencies, fee, tickSpacing, hooks }: PoolKey): string {
  return (
    addressWord(currencies[0]) + addressWord(currencies[1]) + uintWord(fee) + intWord(tickSpacing) + addressWord(hooks)
  )
}

async function send({ node }: Pick<V4World, 'node'>, sent: Sent): Promise<void> {
  await node.rpc('eth_sendTransaction', [{ from: node.accounts[0], gas: '0x2faf080', ...sent }])
}

export async function logsOf({ node, manager }: V4World): Promise<EvmLog[]> {
  type Raw = { topics: string[]; data: string; blockNumber: string; blockHash: string } & Record<
    'transactionHash' | 'transactionIndex' | 'logIndex',
    string
  >
  const raw = await node.rpc<Raw[]>('eth_getLogs', [{ address: manager, fromBlock: '0x0', toBlock: 'latest' }])
  return raw.map((log) => ({
    address: manager,
    topics: log.topics,
    data: log.data,
    blockNumber: Number(log.blockNumber),
    blockHash: log.blockHash,
    txHash: log.transactionHash,
    txIndex: Number(log.transactionIndex),
    logIndex: Number(log.logIndex),
  }))
}

/** What the manager holds of a currency without the protocol fee, after a block. */
export async function heldByManager({ node, manager }: V4World, currency: string, block: number): Promise<bigint> {
  const at = `0x${block.toString(16)}`
  const call = (to: string, data: string): Promise<string> => node.rpc<string>('eth_call', [{ to, data }, at])
  const held =
    currency === NATIVE
      ? await node.rpc<string>('eth_getBalance', [manager, at])
      : await call(currency, BALANCE_OF + addressWord(manager))
  return BigInt(held) - BigInt(await call(manager, PROTOCOL_FEES + addressWord(currency)))
}

export async function readAt<T>({ node }: V4World, reading: Reading<T>, block: number): Promise<T> {
  const at = `0x${block.toString(16)}`
  let step = reading.next()
  while (!step.done) {
    const answers = await Promise.all(
      step.value.map((call) => node.rpc<string>('eth_call', [call, at]).catch(() => null)),
    )
    step = reading.next(answers)
  }
  return step.value
}

export const poolIds = ({ pools }: V4World): string[] => pools.map(idOf)
