/** A local chain with tokens of tokens.json, each with a Uniswap V2 pair (or V3 pool) against WETH. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../../schemas/avro.js'
import type { KnownLocker } from '../../../../services/core/config/contracts/lockers.js'
import type { EvmSourceConfig, TokenChecks } from '../../../../services/core/config/evm-source.js'
import { type Logger, silentLogger } from '../../../../services/core/runtime/logger.js'
import { inspectLocks } from '../../../../services/ingest/decode/evm/risk/inspect-locks.js'
import {
  type Inspection,
  inspectToken,
  type StateRequest,
  type TokenInspection,
} from '../../../../services/ingest/decode/evm/risk/inspect-token.js'
import { riskOf, type TokenRisk } from '../../../../services/ingest/decode/evm/risk/token-risk.js'
import type { TrialPool } from '../../../../services/ingest/decode/evm/risk/trade-trial.js'
import { openEvmSource } from '../../../../services/ingest/sources/evm/open-evm-source.js'
import { openPlace, type Place } from '../../source-place.js'
import { addressOf, call, encode, word, words } from '../abi.js'
import { creationCode } from '../artifacts.js'
import { deploy } from '../contracts.js'
import { type EvmNode, startNode } from '../node.js'
import { inOneBlock } from '../opening.js'
import { fullRange, sqrtPriceOf } from '../ticks.js'
import { lookAt, send, type Transaction, view } from '../transactions.js'
import { NEVER, UINT256_MAX } from '../world.js'

const CODE = JSON.parse(readFileSync(join(repositoryRoot(), 'test/rig/evm/risk/tokens.json'), 'utf8')) as Record<
  string,
  string
>

export type RiskChain = {
  node: EvmNode
  owner: string
  weth: string
  factory: string
  /** Deploys a token of tokens.json, or its creation code; `args`: addresses for its constructor. */
  token(nameOrCode: string, ...args: readonly string[]): Promise<string>
  /** A pair against WETH that holds 10 % of the supply and 100 ether; `holder`'s tokens. */
  pair(token: string, percent?: bigint): Promise<TrialPool>
  /** Uniswap's V3 factory and its manager of positions, deployed once. */
  v3(): Promise<V3Contracts>
  /** A V3 pool of 0.3 % over the whole range, as deep as the pair. */
  v3Pool(token: string): Promise<TrialPool>
  /** Buys for 0.1 ether in the pair, by somebody who is not the owner. */
  buy(token: string, pool: TrialPool, buyer?: string): Promise<void>
  send(...transactions: readonly Transaction[]): Promise<void>
  inspect(token: string, pool: TrialPool | null): Promise<TokenInspection>
  /** With lockers its locks too. */
  risk(token: string, pool: TrialPool | null, lockers?: readonly KnownLocker[]): Promise<TokenRisk['risk']>
  stop(): Promise<void>
}

export type V3Contracts = { factory: string; positions: string }

const SWAP = 'swap(uint256,uint256,address,bytes)'
const ETHER = 10n ** 18n
const SUPPLY = 1_000_000_000n * ETHER
const DEPTH = 100n * ETHER

export async function openRiskChain(): Promise<RiskChain> {
  const node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  await node.rpc('evm_setAutomine', [false])
  const [owner = ''] = node.accounts
  const weth = await deploy(node, creationCode.v2Periphery('WETH9'))
  const factory = await deploy(node, creationCode.v2('UniswapV2Factory') + encode(['address'], [owner]).slice(2))
  await inOneBlock(node, [{ from: owner, to: weth, data: call('deposit()'), value: 100_000n * ETHER }])

  let v3: V3Contracts | undefined

  const chain: RiskChain = {
    ...{ node, owner, weth, factory },
    token(nameOrCode, ...args) {
      const code = nameOrCode.startsWith('0x') ? nameOrCode : CODE[nameOrCode]
      if (code === undefined) throw new Error(`tokens.json has no ${nameOrCode}`)
      const types = args.map(() => 'address')
      return deploy(node, code + encode(types, args).slice(2))
    },
    async pair(token, percent = 10n) {
      await chain.send({ from: owner, ...view(factory, 'createPair(address,address)', token, weth) })
      const pool = addressOf(word(await lookAt(node, factory, 'getPair(address,address)', token, weth)))
      await chain.send(
        { from: owner, ...view(token, 'transfer(address,uint256)', pool, (SUPPLY * percent) / 100n) },
        { from: owner, ...view(weth, 'transfer(address,uint256)', pool, DEPTH) },
        { from: owner, ...view(pool, 'mint(address)', owner) },
      )
      return trialPool(pool, token)
    },
    async v3() {
      if (v3 !== undefined) return v3
      const v3Factory = await deploy(node, creationCode.v3('UniswapV3Factory'))
      const args = encode(['address', 'address', 'address'], [v3Factory, weth, owner]).slice(2)
      const positions = await deploy(node, creationCode.v3Periphery('NonfungiblePositionManager') + args)
      v3 = { factory: v3Factory, positions }
      return v3
    },
    async v3Pool(token) {
      const { factory: v3Factory, positions } = await chain.v3()
      const [token0, token1] = token < weth ? [token, weth] : [weth, token]
      const [amount0, amount1] = token < weth ? [SUPPLY / 10n, DEPTH] : [DEPTH, SUPPLY / 10n]
      const price = sqrtPriceOf(Number(amount1) / Number(amount0))
      const create = 'createAndInitializePoolIfNecessary(address,address,uint24,uint160)'
      const mint = 'mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))'
      const [lower, upper] = fullRange(60)
      const place = [token0, token1, 3000, lower, upper, amount0, amount1, 0, 0, owner, NEVER]
      await chain.send(
        { from: owner, ...view(positions, create, token0, token1, 3000, price), gas: 10_000_000 },
        { from: owner, ...view(token, 'approve(address,uint256)', positions, UINT256_MAX) },
        { from: owner, ...view(weth, 'approve(address,uint256)', positions, UINT256_MAX) },
        { from: owner, ...view(positions, mint, place) },
      )
      const pool = addressOf(word(await lookAt(node, v3Factory, 'getPool(address,address,uint24)', token, weth, 3000)))
      return { pool, kind: 'v3', quote: weth, fee: 3000, quoteReserve: DEPTH, tokenReserve: SUPPLY / 10n }
    },
    async buy(token, { pool }, buyer = node.accounts[5] ?? '') {
      const [reserve0 = 0n, reserve1 = 0n] = words(await lookAt(node, pool, 'getReserves()'))
      const isZero = weth < token
      const [reserveIn, reserveOut] = isZero ? [reserve0, reserve1] : [reserve1, reserve0]
      const paid = (ETHER / 10n) * 997n
      const out = (paid * reserveOut) / (reserveIn * 1000n + paid)
      await chain.send(
        { from: owner, ...view(weth, 'transfer(address,uint256)', pool, ETHER / 10n) },
        { from: owner, ...view(pool, SWAP, isZero ? 0n : out, isZero ? out : 0n, buyer, '0x') },
      )
    },
    send: (...transactions) => inOneBlock(node, transactions),
    async inspect(token, pool) {
      const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
      return run(inspectToken(token, pool, hash))
    },
    async risk(token, pool, lockers) {
      const { timestamp } = await node.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
      const shares = pool?.kind === 'v2' ? pool.pool : null
      const locks = lockers === undefined ? null : await run(inspectLocks(token, shares, lockers, Number(timestamp)))
      const found = riskOf(await chain.inspect(token, pool), 1, { locks, creator: null })
      if (found === null) throw new Error('the code could not be read')
      return found.risk
    },
    stop: () => node.stop(),
  }
  return chain

  async function run<Found>(inspection: Inspection<Found>): Promise<Found> {
    let answers: (string | null)[] = []
    for (;;) {
      const { done, value } = inspection.next(answers)
      if (done === true) return value
      answers = await Promise.all(value.map((request) => answer(node, request)))
    }
  }

  async function trialPool(pool: string, token: string): Promise<TrialPool> {
    const [reserve0 = 0n, reserve1 = 0n] = words(await lookAt(node, pool, 'getReserves()'))
    const [tokenReserve, quoteReserve] = token < weth ? [reserve0, reserve1] : [reserve1, reserve0]
    return { pool, kind: 'v2', quote: weth, fee: 3000, quoteReserve, tokenReserve }
  }
}

async function answer(node: EvmNode, request: StateRequest): Promise<string | null> {
  const [method, params] = rpcOf(request)
  return node.rpc<string>(method, params).catch(() => null)
}

function rpcOf(request: StateRequest): [string, unknown[]] {
  if (request.kind === 'code') return ['eth_getCode', [request.address, 'latest']]
  if (request.kind === 'storage') return ['eth_getStorageAt', [request.address, request.slot, 'latest']]
  if (request.kind === 'call') return ['eth_call', [{ to: request.to, data: request.data }, 'latest']]
  return ['eth_call', [request.call, 'latest', request.overrides]]
}

/** Whether a person who buys can sell again two blocks later: the truth a trial must find. */
export async function sellsForReal(chain: RiskChain, token: string, { pool }: TrialPool): Promise<boolean> {
  const { node, weth } = chain
  const buyer = node.accounts[5] ?? ''
  const held = async (of: string, holder: string) => word(await lookAt(node, of, 'balanceOf(address)', holder))
  const swap = async (tokenIn: string, amountIn: bigint): Promise<boolean> => {
    const [reserve0 = 0n, reserve1 = 0n] = words(await lookAt(node, pool, 'getReserves()'))
    const isZero = tokenIn === (token < weth ? token : weth)
    const [reserveIn, reserveOut] = isZero ? [reserve0, reserve1] : [reserve1, reserve0]
    const before = await held(tokenIn, pool)
    await mined({ from: buyer, ...view(tokenIn, 'transfer(address,uint256)', pool, amountIn) })
    const paid = ((await held(tokenIn, pool)) - before) * 997n
    const out = (paid * reserveOut) / (reserveIn * 1000n + paid)
    if (out === 0n) return false
    const amounts = isZero ? [0n, out] : [out, 0n]
    return mined({ from: buyer, ...view(pool, SWAP, amounts[0] ?? 0n, amounts[1] ?? 0n, buyer, '0x') })
  }
  const mined = async (transaction: Transaction): Promise<boolean> => {
    const hash = await send(node, transaction)
    await node.mine()
    return (await node.rpc<{ status: string }>('eth_getTransactionReceipt', [hash])).status === '0x1'
  }
  await mined({ from: buyer, to: weth, data: call('deposit()'), value: ETHER })
  if (!(await swap(weth, ETHER / 10n))) return false
  await node.mine()
  const bought = await held(token, buyer)
  const before = await held(weth, buyer)
  if (!(await swap(token, bought))) return false
  // Two fees of 0.3 % and the price's movement; more is a tax.
  return (await held(weth, buyer)) - before > ((ETHER / 10n) * 9n) / 10n
}

export type RiskRunOptions = Partial<Pick<EvmSourceConfig, 'start' | 'finality' | 'rpcUrls'>> & {
  holders?: readonly string[]
  holdersPerBlock?: number
  logger?: Logger
}

/** The real source on this chain, into an embedded log. `anchor`: any other token. */
export function openRiskPlace(
  { node, weth, factory }: RiskChain,
  anchor: string,
  risk: TokenChecks,
  balances: EvmSourceConfig['scope']['balances'] = 'off',
  contracts: EvmSourceConfig['contracts'] = [],
): Place<RiskRunOptions> {
  return openPlace({
    chain: 'base',
    async openSource({ holders, holdersPerBlock, logger = silentLogger, ...over }, bookPath, signal) {
      const config: EvmSourceConfig = {
        ...{ family: 'evm', chain: 'base', chainId: 8453, rpcUrls: [node.url], risk, explicitTokens: [] },
        scope: { pools: [], tokens: [], amms: [], balances, ...(holders && { holders }) },
        ...{ start: { kind: 'block', number: 1 }, finality: { kind: 'depth', blocks: 64 } },
        contracts: [{ address: factory, protocol: 'uniswap-v2', amm: 'uniswapv2', fee: 3000 }, ...contracts],
        ...over,
      }
      const facts = { chain: 'base', family: 'evm', chainId: 8453, title: 'Base' } as const
      const money = { anchor, native: weth, stables: [], majors: [] }
      const parts = {
        config,
        facts: { ...facts, ...money },
        bookPath,
        logger,
        progressMs: 60_000,
        signal,
        ...(holdersPerBlock && { holdersPerBlock }),
      }
      return (await openEvmSource(parts)).source
    },
  })
}
