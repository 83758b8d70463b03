/** Every protocol that is decoded. To add one, write its folder in `protocols/` and add a line here. */

import type { Protocol } from './protocol.js'
import { balancer } from './protocols/balancer/balancer.js'
import { balancerV3 } from './protocols/balancer/balancer-v3.js'
import { curve } from './protocols/curve/curve.js'
import { fourMeme } from './protocols/four-meme/four-meme.js'
import { liquidityBook } from './protocols/liquidity-book/liquidity-book.js'
import { solidly } from './protocols/uniswap-v2/solidly.js'
import { uniswapV2 } from './protocols/uniswap-v2/uniswap-v2.js'
import { algebra } from './protocols/uniswap-v3/algebra.js'
import { pancakeV3 } from './protocols/uniswap-v3/pancake-v3.js'
import { slipstream } from './protocols/uniswap-v3/slipstream.js'
import { uniswapV3 } from './protocols/uniswap-v3/uniswap-v3.js'
import { uniswapV4 } from './protocols/uniswap-v4/uniswap-v4.js'

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
