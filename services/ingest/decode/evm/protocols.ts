/** Every protocol that is decoded. Adding one is its file and a line here. */
import { algebra } from './algebra.js'
import { balancer } from './balancer.js'
import { balancerV3 } from './balancer-v3.js'
import { curve } from './curve.js'
import { fourMeme } from './four-meme.js'
import { liquidityBook } from './liquidity-book.js'
import { pancakeV3 } from './pancake-v3.js'
import type { Protocol } from './protocol.js'
import { slipstream } from './slipstream.js'
import { solidly } from './solidly.js'
import { uniswapV2 } from './uniswap-v2.js'
import { uniswapV3 } from './uniswap-v3.js'
import { uniswapV4 } from './uniswap-v4.js'

export const PROTOCOLS: readonly Protocol[] = [
  uniswapV2,
  solidly,
  uniswapV3,
  pancakeV3,
  slipstream,
  algebra,
  uniswapV4,
  curve,
  balancer,
  balancerV3,
  liquidityBook,
  fourMeme,
]

const BY_NAME = new Map(PROTOCOLS.map((protocol) => [protocol.name, protocol]))

export function protocolNamed(name: string): Protocol | undefined {
  return BY_NAME.get(name)
}
