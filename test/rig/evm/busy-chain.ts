/** A chain with very many swaps, made quickly: several per transaction, back and forth, so that no pool runs dry. */
import { entry, paymentTokens, type Step } from './handwritten.js'
import type { OpenMarket } from './opening.js'
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE } from './ticks.js'
import { mustHaveWorked, send, view } from './transactions.js'
import { isV2, isV3, type Pool, worth } from './world.js'

export type BusyPlan = { blocks: number; transactionsPerBlock: number; swapsPerTransaction: number }

const TRADE_USD = 10
const BLOCK_TIME_S = 2

/** The number of swaps it made. */
export async function tradeMuch(market: OpenMarket, plan: BusyPlan): Promise<number> {
  const { node, contracts, wallets } = market
  const pools = market.pools.filter(
    (pool) => (isV2(pool) || isV3(pool)) && !pool.token0.deflates && !pool.token1.deflates,
  )
  let swaps = 0
  let { timestamp } = await node.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
  for (let block = 0; block < plan.blocks; block++) {
    let last = ''
    for (let at = 0; at < plan.transactionsPerBlock; at++) {
      const steps: Step[] = []
      for (let swap = 0; swap < plan.swapsPerTransaction; swap++, swaps++) {
        const pool = pools[swaps % pools.length]
        if (pool !== undefined)
          steps.push(...swapSteps(pool, contracts.caller, Math.floor(swaps / pools.length) % 2 === 0))
      }
      const from = wallets[at % wallets.length] ?? ''
      last = await send(node, { from, to: contracts.caller, data: entry(steps), gas: 250_000 * steps.length })
    }
    const timeS = Number(timestamp) + BLOCK_TIME_S
    await node.rpc('evm_mine', [timeS])
    timestamp = String(timeS)
    await mustHaveWorked(node, [last])
  }
  return swaps
}

/** The caller's contract trades with itself, so it loses only the fees. */
function swapSteps(pool: Pool, caller: string, down: boolean): Step[] {
  const [paid, got] = down ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
  const amountIn = worth(paid, TRADE_USD)
  if (isV3(pool)) {
    const limit = down ? MIN_SQRT_PRICE + 1n : MAX_SQRT_PRICE - 1n
    const payment = paymentTokens(pool.token0.address, pool.token1.address)
    return [view(pool.address, 'swap(address,bool,int256,uint160,bytes)', caller, down, amountIn, limit, payment)]
  }
  if (!isV2(pool)) return []
  // Less than the pair would give.
  const out = (worth(got, TRADE_USD) * 9n) / 10n
  const [out0, out1] = down ? [0n, out] : [out, 0n]
  return [
    view(paid.address, 'transfer(address,uint256)', pool.address, amountIn),
    view(pool.address, 'swap(uint256,uint256,address,bytes)', out0, out1, caller, '0x'),
  ]
}
