/** Pools of a token against WETH on exchanges beside Uniswap V2 and V3, each with 10 % of the supply and 100 ether. */
import type { TrialPool } from '../../../../services/ingest/decode/evm/risk/trade-trial.js'
import { type AbiValue, encode, keccak } from '../abi.js'
import { creationCode } from '../artifacts.js'
import { deploy } from '../contracts.js'
import { fullRange, sqrtPriceOf } from '../ticks.js'
import { view } from '../transactions.js'
import { UINT256_MAX, ZERO } from '../world.js'
import type { RiskChain } from './risk-chain.js'

const ETHER = 10n ** 18n
const [TOKENS, DEPTH] = [100_000_000n * ETHER, 100n * ETHER]
const KEY = '(address,address,uint24,int24,address)'
const POOL_ID = `0x${'ab'.repeat(32)}`

export const OTHER_EXCHANGES = [...(['v4', 'v4-native', 'curve', 'curve-crypto', 'balancer', 'balancer-v3'] as const)]
export type OtherExchange = (typeof OTHER_EXCHANGES)[number]

export async function otherPool(chain: RiskChain, token: string, exchange: OtherExchange): Promise<TrialPool> {
  const { weth } = chain
  const facts = { quote: weth, fee: null, quoteReserve: DEPTH, tokenReserve: TOKENS }
  const send = (to: string, signature: string, ...args: AbiValue[]) =>
    chain.send({ from: chain.owner, ...view(to, signature, ...args) })
  const fund = async (vault: string, type: string, id: string): Promise<void> => {
    for (const [of, raw] of [
      [token, TOKENS],
      [weth, DEPTH],
    ] as const) {
      await send(of, 'approve(address,uint256)', vault, UINT256_MAX)
      await send(vault, `fund(${type},address,uint256)`, id, of, raw)
    }
  }
  switch (exchange) {
    case 'v4':
    case 'v4-native':
      return { ...facts, ...(await v4Pool(chain, token, exchange === 'v4-native')) }
    case 'curve':
    case 'curve-crypto': {
      const pool = await chain.token(exchange === 'curve' ? 'CurveStable' : 'CurveCrypto', weth, token)
      await send(token, 'transfer(address,uint256)', pool, TOKENS)
      await send(weth, 'transfer(address,uint256)', pool, DEPTH)
      return { ...facts, pool, kind: 'curve', tokenPlace: 1, quotePlace: 0 }
    }
    case 'balancer': {
      const vault = await chain.token('BalancerVault')
      await fund(vault, 'bytes32', POOL_ID)
      return { ...facts, pool: POOL_ID.slice(0, 42), kind: 'balancer', vault, poolId: POOL_ID }
    }
    case 'balancer-v3': {
      const vault = await chain.token('BalancerV3Vault')
      await fund(vault, 'address', token)
      return { ...facts, pool: token, kind: 'balancer-v3', vault }
    }
  }
}

async function v4Pool(chain: RiskChain, token: string, isNative: boolean) {
  const { node, owner, weth } = chain
  const manager = await deploy(node, creationCode.v4('PoolManager') + encode(['address'], [owner]).slice(2))
  const router = await deploy(
    node,
    creationCode.v4('PoolModifyLiquidityTest') + encode(['address'], [manager]).slice(2),
  )
  const quote = isNative ? ZERO : weth
  const [currency0, currency1] = token < quote ? [token, quote] : [quote, token]
  const [amount0, amount1] = token < quote ? [TOKENS, DEPTH] : [DEPTH, TOKENS]
  const [keyFee, tickSpacing] = [3000, 60]
  const key = [currency0, currency1, keyFee, tickSpacing, ZERO]
  const [lower, upper] = fullRange(tickSpacing)
  const liquidity = BigInt(Math.floor(Math.sqrt(Number(amount0)) * Math.sqrt(Number(amount1))))
  const modify = `modifyLiquidity(${KEY},(int24,int24,int256,bytes32),bytes)`
  await chain.send(
    {
      from: owner,
      ...view(manager, `initialize(${KEY},uint160)`, key, sqrtPriceOf(Number(amount1) / Number(amount0))),
    },
    { from: owner, ...view(token, 'approve(address,uint256)', router, UINT256_MAX) },
    { from: owner, ...view(weth, 'approve(address,uint256)', router, UINT256_MAX) },
    {
      ...{ from: owner, ...view(router, modify, key, [lower, upper, liquidity, 0], '0x') },
      ...{ value: isNative ? DEPTH * 2n : 0n, gas: 5_000_000 },
    },
  )
  const pool = keccak(encode([KEY], [key]))
  return { pool, kind: 'v4' as const, manager, keyFee, tickSpacing, hooks: ZERO, isNative }
}
