/** The exchanges and tokens of a test chain. Addresses depend only on the deployer and the order: the same on every node. */
import type { KnownContract } from '../../../services/core/domain/exchanges.js'
import { encode } from './abi.js'
import { creationCode } from './artifacts.js'
import { asBytes32, asNumber, asString, caller, type Facts, pancakeV3Deployer, token } from './handwritten.js'
import type { EvmNode } from './node.js'
import { receiptOf, send } from './transactions.js'

export type TestToken = {
  address: string
  /** Null: the token does not return it. */
  decimals: number | null
  name: string
  symbol: string
  /** Its value when the market opens, per 10^18 units if it has no decimals. */
  priceUsd: number
  /** Takes 1 % of every transfer. */
  deflates: boolean
}

export type Contracts = {
  deployer: string
  tokens: {
    weth: TestToken
    usdc: TestToken
    usdt: TestToken
    cat: TestToken
    btc: TestToken
    tax: TestToken
    old: TestToken
    mute: TestToken
  }
  v2: { factory: string; router: string }
  pancakeV2: { factory: string }
  v3: { factory: string; router: string; positions: string }
  pancakeV3: { factory: string; deployer: string }
  /** `keys` answers for the position manager, if pool keys are known. */
  v4: { manager: string; swap: string; liquidity: string; donate: string; keys: string | null }
  /** Runs programs of several steps (handwritten.ts). */
  caller: string
  /** The code of Uniswap's ERC20 used by the tokens. */
  erc20: string
}

const DEPLOYMENT_GAS = 30_000_000

export async function deploy(node: EvmNode, code: string): Promise<string> {
  const [from = ''] = node.accounts
  const hash = await send(node, { from, data: code, gas: DEPLOYMENT_GAS })
  await node.mine()
  const { contractAddress, status } = await receiptOf(node, hash)
  if (contractAddress === null || status !== '0x1')
    throw new Error(`a contract could not be deployed: ${code.slice(0, 60)}…`)
  return contractAddress.toLowerCase()
}

const withAddresses = (code: string, ...addresses: readonly string[]): string =>
  code +
  encode(
    addresses.map(() => 'address'),
    addresses,
  ).slice(2)

/** Automatic mining must be off while it runs. */
export async function deployContracts(node: EvmNode): Promise<Contracts> {
  const [deployer = ''] = node.accounts
  const put = (code: string, ...addresses: readonly string[]) => deploy(node, withAddresses(code, ...addresses))
  const erc20 = await deploy(node, creationCode.v2Periphery('ERC20') + encode(['uint256'], [0]).slice(2))
  const tokens = await deployTokens(node, erc20)
  const v2Factory = await put(creationCode.v2('UniswapV2Factory'), deployer)
  const v3Factory = await put(creationCode.v3('UniswapV3Factory'))
  const v3Deployer = await deploy(node, pancakeV3Deployer(creationCode.pancakeV3('PancakeV3Pool')))
  const manager = await put(creationCode.v4('PoolManager'), deployer)
  const weth = tokens.weth.address
  return {
    deployer,
    tokens,
    erc20,
    v2: { factory: v2Factory, router: await put(creationCode.v2Periphery('UniswapV2Router02'), v2Factory, weth) },
    pancakeV2: { factory: await put(await creationCode.pancakeV2('PancakeFactory'), deployer) },
    v3: {
      factory: v3Factory,
      router: await put(creationCode.v3Periphery('SwapRouter'), v3Factory, weth),
      // Any address works as descriptor, because position images are not needed.
      positions: await put(creationCode.v3Periphery('NonfungiblePositionManager'), v3Factory, weth, deployer),
    },
    pancakeV3: { factory: await put(creationCode.pancakeV3('PancakeV3Factory'), v3Deployer), deployer: v3Deployer },
    v4: {
      manager,
      swap: await put(creationCode.v4('PoolSwapTest'), manager),
      liquidity: await put(creationCode.v4('PoolModifyLiquidityTest'), manager),
      donate: await put(creationCode.v4('PoolDonateTest'), manager),
      keys: null,
    },
    caller: await deploy(node, caller()),
  }
}

export const SUPPLY_TOKENS = 1_000_000_000_000n

async function deployTokens(node: EvmNode, erc20: string): Promise<Contracts['tokens']> {
  const supplyOf = (decimals: number) => SUPPLY_TOKENS * 10n ** BigInt(decimals)
  const plain = { priceUsd: 1, deflates: false }
  return {
    weth: {
      ...plain,
      address: await deploy(node, creationCode.v2Periphery('WETH9')),
      decimals: 18,
      name: 'Wrapped Ether',
      symbol: 'WETH',
      priceUsd: 2000,
    },
    usdc: await plainToken(node, erc20, { ...plain, name: 'USD Coin', symbol: 'USDC', decimals: 6 }),
    usdt: await plainToken(node, erc20, { ...plain, name: 'Tether USD', symbol: 'USDT', decimals: 6 }),
    cat: await plainToken(node, erc20, { ...plain, name: 'Cat', symbol: 'CAT', decimals: 18, priceUsd: 0.02 }),
    btc: await plainToken(node, erc20, {
      ...plain,
      name: 'Wrapped BTC',
      symbol: 'WBTC',
      decimals: 8,
      priceUsd: 40_000,
    }),
    tax: {
      address: await deploy(
        node,
        creationCode.v2Periphery('DeflatingERC20') + encode(['uint256'], [supplyOf(18)]).slice(2),
      ),
      ...{ decimals: 18, name: 'Deflating Test Token', symbol: 'DTT', priceUsd: 0.5, deflates: true },
    },
    old: await oddToken(
      node,
      erc20,
      { ...plain, name: 'Old Maker', symbol: 'OLD', decimals: 18, priceUsd: 500 },
      (of) => ({
        ...of,
        name: asBytes32('Old Maker'),
        symbol: asBytes32('OLD'),
      }),
    ),
    mute: await oddToken(
      node,
      erc20,
      { ...plain, name: 'Mute', symbol: 'MUTE', decimals: null, priceUsd: 3 },
      (of) => ({
        ...of,
        decimals: null,
      }),
    ),
  }
}

export function plainToken(node: EvmNode, erc20: string, described: Omit<TestToken, 'address'>): Promise<TestToken> {
  return oddToken(node, erc20, described, (facts) => facts)
}

async function oddToken(
  node: EvmNode,
  erc20: string,
  described: Omit<TestToken, 'address'>,
  change: (facts: Facts) => Facts,
): Promise<TestToken> {
  const { name, symbol, decimals } = described
  const facts = change({ name: asString(name), symbol: asString(symbol), decimals: asNumber(decimals ?? 0) })
  const [owner = ''] = node.accounts
  const supply = SUPPLY_TOKENS * 10n ** BigInt(decimals ?? 18)
  return { ...described, address: await deploy(node, token(erc20, facts, owner, supply)) }
}

/** These contracts in the form of a chain's configuration. */
export function knownContracts({ v2, pancakeV2, v3, pancakeV3, v4 }: Contracts): KnownContract[] {
  return [
    { address: v2.factory, protocol: 'uniswap-v2', amm: 'uniswapv2', fee: 3000 },
    { address: pancakeV2.factory, protocol: 'uniswap-v2', amm: 'cakev2', fee: 2500 },
    { address: v3.factory, protocol: 'uniswap-v3', amm: 'uniswapv3' },
    { address: pancakeV3.factory, protocol: 'pancake-v3', amm: 'pancakev3' },
    {
      ...{ address: v4.manager, protocol: 'uniswap-v4', amm: 'uniswapv4' },
      ...(v4.keys === null ? {} : { others: { positions: v4.keys } }),
    },
  ]
}
