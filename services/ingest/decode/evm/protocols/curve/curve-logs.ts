/**
 * The logs of Curve's pools. Each pool generation has its own events (curve-contract: pool-templates;
 * curve-crypto-contract; stableswap-ng; tricrypto-ng; twocrypto-ng): coins indexed by int128 or uint256, amounts in
 * fixed or dynamic arrays.
 */

import { topicOf } from '../../abi/keccak.js'
import { expectShape, indexedAddress, intAt, uintAt, uintsAt } from '../../abi/log-fields.js'
import type { EvmLog } from '../../log.js'
import { BadLog } from '../../protocol.js'

export type CurveLog =
  | { kind: 'swap'; who: string; sold: number; amountSold: bigint; bought: number; amountBought: bigint }
  | { kind: 'add' | 'remove'; who: string; amounts: readonly bigint[] }
  | { kind: 'remove-one'; who: string; coin: number; amount: bigint }
  /** Balances changed, and the log does not say which coin. */
  | { kind: 'moved'; who: string }

type Reader = (log: EvmLog, isCrypto: boolean) => CurveLog

/** The most coins a pool can have. */
export const MAX_COINS = 8
/** Pools with more coins use dynamic arrays. */
const MAX_FIXED = 4

const READERS = new Map<string, Reader>()

READERS.set(topicOf('TokenExchange(address,int128,uint256,int128,uint256)'), exchange(4))
READERS.set(topicOf('TokenExchange(address,uint256,uint256,uint256,uint256)'), exchange(4))
READERS.set(topicOf('TokenExchange(address,uint256,uint256,uint256,uint256,uint256)'), exchange(5))
READERS.set(topicOf('TokenExchange(address,uint256,uint256,uint256,uint256,uint256,uint256)'), exchange(6))
// A trade of an underlying pool's coins: the log does not say what this pool traded.
READERS.set(topicOf('TokenExchangeUnderlying(address,int128,uint256,int128,uint256)'), moved(4))

for (let coins = 2; coins <= MAX_FIXED; coins += 1) {
  const list = `uint256[${coins}]`
  READERS.set(topicOf(`AddLiquidity(address,${list},${list},uint256,uint256)`), liquidity('add', coins, 2 * coins + 2))
  READERS.set(topicOf(`AddLiquidity(address,${list},uint256,uint256)`), liquidity('add', coins, coins + 2))
  READERS.set(topicOf(`AddLiquidity(address,${list},uint256,uint256,uint256)`), liquidity('add', coins, coins + 3))
  READERS.set(topicOf(`RemoveLiquidity(address,${list},${list},uint256)`), liquidity('remove', coins, 2 * coins + 1))
  READERS.set(topicOf(`RemoveLiquidity(address,${list},uint256)`), liquidity('remove', coins, coins + 1))
  READERS.set(
    topicOf(`RemoveLiquidityImbalance(address,${list},${list},uint256,uint256)`),
    liquidity('remove', coins, 2 * coins + 2),
  )
}
READERS.set(topicOf('AddLiquidity(address,uint256[],uint256[],uint256,uint256)'), listedLiquidity('add'))
READERS.set(topicOf('RemoveLiquidity(address,uint256[],uint256[],uint256)'), listedLiquidity('remove'))
READERS.set(topicOf('RemoveLiquidityImbalance(address,uint256[],uint256[],uint256,uint256)'), listedLiquidity('remove'))

// twocrypto-ng since 2.1, `remove_liquidity_fixed_out`: the shares come before the amounts.
READERS.set(topicOf('RemoveLiquidityImbalance(address,uint256,uint256[2],uint256,uint256)'), (log) => {
  expectShape(log, 2, 5)
  return { kind: 'remove', who: indexedAddress(log, 1), amounts: [uintAt(log, 1), uintAt(log, 2)] }
})
// Crypto pools pay the protocol from their balances, in shares or in amounts by coin.
READERS.set(topicOf('ClaimAdminFee(address,uint256)'), moved(1))
READERS.set(topicOf('ClaimAdminFee(address,uint256[2])'), moved(2))
READERS.set(topicOf('ClaimAdminFee(address,uint256[3])'), moved(3))

READERS.set(topicOf('RemoveLiquidityOne(address,uint256,uint256)'), moved(2))
// One signature with two meanings: shares, amount, supply; in crypto pools: shares, coin, amount.
READERS.set(topicOf('RemoveLiquidityOne(address,uint256,uint256,uint256)'), (log, isCrypto) =>
  isCrypto ? removedOne(log, 3, 1, 2) : moved(3)(log, isCrypto),
)
READERS.set(topicOf('RemoveLiquidityOne(address,int128,uint256,uint256,uint256)'), (log) => removedOne(log, 4, 0, 2))
READERS.set(topicOf('RemoveLiquidityOne(address,uint256,uint256,uint256,uint256,uint256)'), (log) =>
  removedOne(log, 5, 1, 2),
)

export const TOPICS: readonly string[] = [...READERS.keys()]

export function curveLogOf(log: EvmLog, isCrypto: boolean): CurveLog {
  const reader = READERS.get(log.topics[0] ?? '')
  if (reader === undefined) throw new BadLog(log, 'not a log of a Curve pool')
  return reader(log, isCrypto)
}

function exchange(words: number): Reader {
  return (log) => {
    expectShape(log, 2, words)
    return {
      kind: 'swap',
      who: indexedAddress(log, 1),
      sold: coinAt(log, 0),
      amountSold: uintAt(log, 1),
      bought: coinAt(log, 2),
      amountBought: uintAt(log, 3),
    }
  }
}

function liquidity(kind: 'add' | 'remove', coins: number, words: number): Reader {
  return (log) => {
    expectShape(log, 2, words)
    const amounts = Array.from({ length: coins }, (_, coin) => uintAt(log, coin))
    return { kind, who: indexedAddress(log, 1), amounts }
  }
}

function listedLiquidity(kind: 'add' | 'remove'): Reader {
  return (log) => {
    if (log.topics.length !== 2) throw new BadLog(log, `${log.topics.length} topics, expected 2`)
    // Removals leave the list of fees empty; it must be whole all the same.
    uintsAt(log, 1)
    return { kind, who: indexedAddress(log, 1), amounts: uintsAt(log, 0) }
  }
}

function removedOne(log: EvmLog, words: number, coinWord: number, amountWord: number): CurveLog {
  expectShape(log, 2, words)
  return {
    kind: 'remove-one',
    who: indexedAddress(log, 1),
    coin: coinAt(log, coinWord),
    amount: uintAt(log, amountWord),
  }
}

function moved(words: number): Reader {
  return (log) => {
    expectShape(log, 2, words)
    return { kind: 'moved', who: indexedAddress(log, 1) }
  }
}

/** int128 and uint256 read alike for every valid coin index. */
function coinAt(log: EvmLog, word: number): number {
  const coin = intAt(log, word)
  if (coin < 0n || coin >= BigInt(MAX_COINS)) throw new BadLog(log, `coin ${coin} is out of range`)
  return Number(coin)
}
