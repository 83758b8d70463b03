/**
 * Uniswap V3 and forks with the same logs (Sushi V3 …), and what each log of a pool does: other forks share most of them.
 * Signatures: `IUniswapV3Factory`, `IUniswapV3PoolState`, `IUniswapV3PoolEvents` of @uniswap/v3-core.
 */
import type { KnownContract } from '../../../../../core/domain/exchanges.js'
import { selectorOf, topicOf } from '../../abi/keccak.js'
import { addressAt, expectShape, indexedAddress, indexedInt, indexedUint, intAt, uintAt } from '../../abi/log-fields.js'
import { type Answer, addressWord, answeredAddress, answeredUint, callOf, uintWord } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import { type PoolFacts, type PoolKind, type Tokens, tokensOf, venueOf } from '../../pool-contract.js'
import { type Call, netSwap } from '../../protocol.js'
import type { Venue } from '../../venue.js'
import { type Amounts, type Move, type ReadMove, v3Protocol } from './v3-pool.js'

export const POOL_CREATED = topicOf('PoolCreated(address,address,uint24,int24,address)')

export const SLOT0 = selectorOf('slot0()')
export const FEE = selectorOf('fee()')
/** Only Pancake's pools have it. */
export const LM_POOL = selectorOf('lmPool()')
const GET_POOL = selectorOf('getPool(address,address,uint24)')

const FEE_BITS = 24
/** Ticks are int24. */
const TICK_BITS = 24

export const SWAP = topicOf('Swap(address,address,int256,int256,uint160,uint128,int24)')

/** All but Swap, whose fields differ most between forks. */
export const V3_MOVES: ReadonlyMap<string, ReadMove> = new Map([
  [topicOf('Initialize(uint160,int24)'), initialize],
  [topicOf('Mint(address,address,int24,int24,uint128,uint256,uint256)'), mint],
  [topicOf('Burn(address,int24,int24,uint128,uint256,uint256)'), burnWith(3)],
  [topicOf('Collect(address,address,int24,int24,uint128,uint128)'), collect],
  [topicOf('CollectProtocol(address,address,uint128,uint128)'), payOut],
  [topicOf('Flash(address,address,uint256,uint256,uint256,uint256)'), flash],
])

const KIND: PoolKind = {
  protocol: 'uniswap-v3',
  forkAmm: 'v3fork',
  asks: [FEE, SLOT0, LM_POOL],
  factsOf: ([fee, slot0, lmPool]) => (answeredAddress(lmPool) === null ? feeOf(fee, slot0) : null),
  confirm: confirmByFee,
}

export const uniswapV3 = v3Protocol({
  kind: KIND,
  moves: new Map([[SWAP, swapWith(5)], ...V3_MOVES]),
  creations: new Map([[POOL_CREATED, (log, contract) => createdWithFee(log, contract, KIND.protocol)]]),
})

/** `slot0` has seven words here and six in Slipstream. */
export function feeOf(fee: Answer, slot0: Answer): PoolFacts | null {
  const value = answeredUint(fee, 0, FEE_BITS)
  return value === null || answeredUint(slot0, 6) === null ? null : { fee: Number(value) }
}

export function confirmByFee(factory: string, [token0, token1]: Tokens, { fee }: PoolFacts): readonly Call[] {
  return [callOf(factory, GET_POOL, addressWord(token0), addressWord(token1), uintWord(fee ?? 0))]
}

export function createdWithFee(log: EvmLog, { amm }: KnownContract, protocol: string): Venue | null {
  expectShape(log, 4, 2)
  intAt(log, 0, 24)
  const tokens = tokensOf(indexedAddress(log, 1), indexedAddress(log, 2))
  const fee = Number(indexedUint(log, 3, FEE_BITS))
  const pool = addressAt(log, 1)
  return tokens === null ? null : venueOf(pool, protocol, amm, tokens, { fee })
}

/** `words`: length of its data. All forks begin with Uniswap's five. */
export function swapWith(words: number): ReadMove {
  return (log) => {
    expectShape(log, 3, words)
    const gained: Amounts = [intAt(log, 0), intAt(log, 1)]
    const sqrtPrice = uintAt(log, 2, 160)
    return { gained, draft: netSwap(gained, indexedAddress(log, 1), indexedAddress(log, 2), sqrtPrice), sqrtPrice }
  }
}

/** Tokens are set aside; nothing leaves the pool yet. */
export function burnWith(words: number): ReadMove {
  return (log) => {
    expectShape(log, 4, words)
    return {
      gained: [0n, 0n],
      draft: {
        kind: 'liquidity',
        change: 'remove',
        sender: indexedAddress(log, 1),
        amounts: [uintAt(log, 1), uintAt(log, 2)],
      },
      burns: positionOf(log),
    }
  }
}

/** A payout not to a position's owner: the protocol's share, a gauge's fees. Sender and recipient are indexed. */
export function payOut(log: EvmLog): Move {
  expectShape(log, 3, 2)
  return {
    gained: [-uintAt(log, 0, 128), -uintAt(log, 1, 128)],
    draft: { kind: 'reserves', sender: indexedAddress(log, 1) },
  }
}

function initialize(log: EvmLog): Move {
  expectShape(log, 1, 2)
  intAt(log, 1, TICK_BITS)
  return { gained: [0n, 0n], draft: null, sqrtPrice: uintAt(log, 0, 160) }
}

/** The sender is the payer, not necessarily the position's owner; a Burn names only the owner. */
function mint(log: EvmLog): Move {
  expectShape(log, 4, 4)
  const gained: Amounts = [uintAt(log, 2), uintAt(log, 3)]
  return { gained, draft: { kind: 'liquidity', change: 'add', sender: addressAt(log, 0), amounts: gained } }
}

function collect(log: EvmLog): Move {
  expectShape(log, 4, 3)
  return {
    gained: [-uintAt(log, 1, 128), -uintAt(log, 2, 128)],
    draft: { kind: 'reserves', sender: indexedAddress(log, 1) },
    collects: positionOf(log),
  }
}

/** The loan came back; `paid` is the fee on top. */
function flash(log: EvmLog): Move {
  expectShape(log, 3, 4)
  return {
    gained: [uintAt(log, 2), uintAt(log, 3)],
    draft: { kind: 'reserves', sender: indexedAddress(log, 1) },
  }
}

function positionOf(log: EvmLog): string {
  return `${indexedAddress(log, 1)}:${indexedInt(log, 2, TICK_BITS)}:${indexedInt(log, 3, TICK_BITS)}`
}
