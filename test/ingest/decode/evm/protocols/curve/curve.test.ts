/** Curve pools of all generations. */
import { describe, expect, it } from 'vitest'
import { selectorOf } from '../../../../../../services/ingest/decode/evm/abi/keccak.js'
import { BadLog, type Call } from '../../../../../../services/ingest/decode/evm/protocol.js'
import { curve } from '../../../../../../services/ingest/decode/evm/protocols/curve/curve.js'
import { address, answerWith, chainOf, FACTORY, makeLog, POOL, venue, type Word, word } from '../../rig.js'

const WHO = address(0x99)
const COINS = [address(0xda1), `0x${'e'.repeat(40)}`, address(0x5d)] as const
const WRAPPED = address(0xe7)
const plain = venue('curve', {
  tokens: [COINS[0], WRAPPED, COINS[2]],
  facts: { numbering: 'uint256', isCrypto: false },
})
const crypto = { ...plain, facts: { numbering: 'uint256', isCrypto: true } }
const words = (...values: Word[]): string => `0x${values.map(word).join('')}`

const event = (signature: string, data: readonly Word[], at = plain) => {
  const log = makeLog(signature, [WHO], data)
  const { events } = curve.apply(log, at, { reserves: null })
  expect(events).toHaveLength(1)
  const { log: eventLog, ...rest } = events[0] ?? { log: null }
  expect(eventLog).toBe(log)
  return rest
}

describe('a log', () => {
  const swap = {
    kind: 'swap',
    sender: WHO,
    recipient: WHO,
    tokenIn: 2,
    tokenOut: 0,
    amountIn: 700n,
    amountOut: 690n,
    reserves: null,
  }
  it.each([
    ['TokenExchange(address,int128,uint256,int128,uint256)', [2, 700, 0, 690]],
    ['TokenExchange(address,uint256,uint256,uint256,uint256)', [2, 700, 0, 690]],
    ['TokenExchange(address,uint256,uint256,uint256,uint256,uint256)', [2, 700, 0, 690, 5]],
    ['TokenExchange(address,uint256,uint256,uint256,uint256,uint256,uint256)', [2, 700, 0, 690, 5, 10n ** 18n]],
  ])('%s is a swap', (signature, data) => expect(event(signature, data)).toEqual(swap))

  const change = (kind: 'add' | 'remove', amounts: readonly bigint[]) => ({
    kind: 'liquidity',
    change: kind,
    sender: WHO,
    amounts,
    reserves: null,
  })
  const three = [1, 2, 3]
  it.each([
    ['AddLiquidity(address,uint256[3],uint256[3],uint256,uint256)', [...three, 0, 0, 0, 9, 9], 'add'],
    ['AddLiquidity(address,uint256[3],uint256,uint256)', [...three, 0, 9], 'add'],
    ['AddLiquidity(address,uint256[3],uint256,uint256,uint256)', [...three, 0, 9, 9], 'add'],
    ['AddLiquidity(address,uint256[],uint256[],uint256,uint256)', [128, 256, 9, 9, 3, ...three, 3, 0, 0, 0], 'add'],
    ['RemoveLiquidity(address,uint256[3],uint256[3],uint256)', [...three, 0, 0, 0, 9], 'remove'],
    ['RemoveLiquidity(address,uint256[3],uint256)', [...three, 9], 'remove'],
    ['RemoveLiquidity(address,uint256[],uint256[],uint256)', [96, 224, 9, 3, ...three, 0], 'remove'],
    ['RemoveLiquidityImbalance(address,uint256[3],uint256[3],uint256,uint256)', [...three, 0, 0, 0, 9, 9], 'remove'],
    [
      'RemoveLiquidityImbalance(address,uint256[],uint256[],uint256,uint256)',
      [128, 256, 9, 9, 3, ...three, 3, 0, 0, 0],
      'remove',
    ],
  ] as const)('%s moves liquidity', (signature, data, kind) =>
    expect(event(signature, data)).toEqual(change(kind, [1n, 2n, 3n])),
  )

  it('of a single-coin removal names the coin, if the event has it', () => {
    const one = change('remove', [0n, 55n, 0n])
    const unknown = { kind: 'reserves', sender: WHO, reserves: null }
    expect(event('RemoveLiquidityOne(address,int128,uint256,uint256,uint256)', [1, 50, 55, 9])).toEqual(one)
    expect(event('RemoveLiquidityOne(address,uint256,uint256,uint256,uint256,uint256)', [50, 1, 55, 0, 9])).toEqual(one)
    expect(event('RemoveLiquidityOne(address,uint256,uint256,uint256)', [50, 1, 55], crypto)).toEqual(one)
    expect(event('RemoveLiquidityOne(address,uint256,uint256,uint256)', [50, 1, 55], plain)).toEqual(unknown)
    expect(event('RemoveLiquidityOne(address,uint256,uint256)', [50, 55])).toEqual(unknown)
  })

  it('of a trade between underlying coins changes only the reserves', () =>
    expect(event('TokenExchangeUnderlying(address,int128,uint256,int128,uint256)', [0, 5, 3, 5])).toEqual({
      kind: 'reserves',
      sender: WHO,
      reserves: null,
    }))

  it('of twocrypto’s fixed-amount removal has the amounts after the shares', () => {
    const two = { ...crypto, tokens: crypto.tokens.slice(0, 2) }
    const data = [50, 7, 9, 1, 10n ** 18n]
    expect(event('RemoveLiquidityImbalance(address,uint256,uint256[2],uint256,uint256)', data, two)).toEqual(
      change('remove', [7n, 9n]),
    )
  })

  it.each([
    ['ClaimAdminFee(address,uint256)', [5]],
    ['ClaimAdminFee(address,uint256[2])', [5, 6]],
    ['ClaimAdminFee(address,uint256[3])', [5, 6, 7]],
  ])('%s changes only the reserves', (signature, data) =>
    expect(event(signature, data, crypto)).toEqual({ kind: 'reserves', sender: WHO, reserves: null }),
  )

  it.each([
    ['TokenExchange(address,int128,uint256,int128,uint256)', [3, 700, 0, 690]],
    ['TokenExchange(address,int128,uint256,int128,uint256)', [1, 700, 1, 690]],
    ['TokenExchange(address,int128,uint256,int128,uint256)', [-1, 700, 1, 690]],
    ['AddLiquidity(address,uint256[2],uint256,uint256)', [1, 2, 0, 9]],
  ])('%s with coins outside the pool is a bad log', (signature, data) =>
    expect(() => event(signature, data)).toThrow(BadLog),
  )
})

describe('a pool whose creation was not seen', () => {
  const log = makeLog('Any()', [], [])
  const chain = chainOf('curve', { wrappedNative: WRAPPED })
  const answers =
    (numbering: 'uint256' | 'int128', registry: string | null, more: Record<string, string> = {}) =>
    ({ to, data }: Call): string | null => {
      if (to === FACTORY) return data === selectorOf('get_coins(address)') + word(POOL) ? registry : null
      const place = Number(BigInt(`0x${data.slice(10) || '0'}`))
      if (data.startsWith(selectorOf(`coins(${numbering})`)))
        return COINS[place] === undefined ? null : words(COINS[place])
      if (data.startsWith(selectorOf(`balances(${numbering})`))) return words(100 + place)
      const name = Object.keys(more).find((signature) => data === selectorOf(signature))
      return name === undefined ? null : (more[name] ?? null)
    }
  const fixed = words(...COINS, ...Array.from({ length: 5 }, () => 0))
  const describe = () => curve.describe(POOL, log, chain)

  it('is accepted if a registry lists it, as a list or a fixed array, with its native coin wrapped', () => {
    const expected = { ...plain, amm: 'test', fee: 400 }
    const fee = { 'fee()': words(4_000_000) }
    expect(answerWith(describe(), answers('uint256', fixed, fee))).toEqual(expected)
    const absurd = { 'fee()': words(4n * 10n ** 15n) }
    expect(answerWith(describe(), answers('uint256', fixed, absurd))).toEqual({ ...expected, fee: null })
    expect(answerWith(describe(), answers('uint256', words(32, 3, ...COINS), fee))).toEqual(expected)
    expect(answerWith(describe(), answers('int128', fixed, fee))).toEqual({
      ...expected,
      facts: { numbering: 'int128', isCrypto: false },
    })
  })

  it('of the crypto kind has no fixed fee', () => {
    const more = { 'fee()': words(4_000_000), 'gamma()': words(145) }
    expect(answerWith(describe(), answers('uint256', fixed, more))).toEqual({ ...crypto, amm: 'test', fee: null })
  })

  it.each([
    ['null', null],
    ['zeros', words(0, 0, 0, 0)],
    ['an empty list', words(32, 0)],
    ['another pool’s coins', words(COINS[2])],
  ])('is rejected if registries answer %s, unless it is configured by name', (_, answer) => {
    expect(answerWith(describe(), answers('uint256', answer))).toHaveProperty('refused')
    const named = { ...chain, named: new Set([POOL]) }
    expect(answerWith(curve.describe(POOL, log, named), answers('uint256', answer))).toEqual({ ...plain, amm: 'curve' })
  })

  it('is not confirmed by zeros if its first coin is zero', () => {
    const zeros = () => words(0, 0, 0, 0)
    expect(answerWith(describe(), zeros)).toHaveProperty('refused')
  })

  it('reads balances by the pool’s index type', () => {
    const old = { ...plain, facts: { numbering: 'int128', isCrypto: false } }
    expect(answerWith(curve.readState(old, chain), answers('int128', fixed))).toEqual({ reserves: [100n, 101n, 102n] })
    expect(answerWith(curve.readState(plain, chain), answers('int128', fixed))).toEqual({ reserves: null })
  })
})
