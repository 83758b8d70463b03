/** The trade in a Swap log, read without the decoders. */
import { signed, words } from './abi.js'
import type { ChainLog } from './truth.js'
import { isV2, type Pool, ZERO } from './world.js'

export type ChainTrade = {
  block: number
  logIndex: number
  tokenIn: string
  amountIn: bigint
  tokenOut: string
  amountOut: bigint
}

/** Null: not a trade of one token for the other, such as a repaid flash loan or an amount of zero. */
export function tradeIn(log: ChainLog, pool: Pool, wrappedNative: string): ChainTrade | null {
  const [gained0, gained1] = gainedBy(log, pool)
  if (gained0 === 0n || gained1 === 0n || gained0 > 0n === gained1 > 0n) return null
  const nameOf = (address: string) => (address === ZERO ? wrappedNative : address)
  const [token0, token1] = [nameOf(pool.token0.address), nameOf(pool.token1.address)]
  const place = { block: Number(log.blockNumber), logIndex: Number(log.logIndex) }
  return gained0 > 0n
    ? { ...place, tokenIn: token0, amountIn: gained0, tokenOut: token1, amountOut: -gained1 }
    : { ...place, tokenIn: token1, amountIn: gained1, tokenOut: token0, amountOut: -gained0 }
}

function gainedBy({ data }: ChainLog, pool: Pool): [bigint, bigint] {
  const [first = 0n, second = 0n, third = 0n, fourth = 0n] = words(data)
  if (isV2(pool)) return [first - third, second - fourth]
  // V4 logs the trader's gain.
  return pool.kind === 'v4' ? [-signed(first), -signed(second)] : [signed(first), signed(second)]
}
