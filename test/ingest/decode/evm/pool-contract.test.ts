/** A pool whose creation was not seen is accepted only if its factory confirms it or it is configured. */
import { describe, expect, it } from 'vitest'
import { selectorOf } from '../../../../services/ingest/decode/evm/abi/keccak.js'
import type { Call, ChainContracts, Protocol } from '../../../../services/ingest/decode/evm/protocol.js'
import { solidly } from '../../../../services/ingest/decode/evm/protocols/uniswap-v2/solidly.js'
import { uniswapV2 } from '../../../../services/ingest/decode/evm/protocols/uniswap-v2/uniswap-v2.js'
import { algebra } from '../../../../services/ingest/decode/evm/protocols/uniswap-v3/algebra.js'
import { pancakeV3 } from '../../../../services/ingest/decode/evm/protocols/uniswap-v3/pancake-v3.js'
import { slipstream } from '../../../../services/ingest/decode/evm/protocols/uniswap-v3/slipstream.js'
import { uniswapV3 } from '../../../../services/ingest/decode/evm/protocols/uniswap-v3/uniswap-v3.js'
import type { Venue } from '../../../../services/ingest/decode/evm/venue.js'
import { address, answerWith, chainOf, FACTORY, makeLog, POOL, TOKEN0, TOKEN1, venue, type Word, word } from './rig.js'

const ANY_LOG = makeLog('Any()', [], [])
const words = (...values: Word[]) => `0x${values.map(word).join('')}`
const slot0 = words(2n ** 96n, 0, 0, 1, 1, 0, true)

type Case = { protocol: Protocol; answers: Record<string, string>; asked: string; pool: Partial<Venue>; fork: string }

const CASES: Record<string, Case> = {
  'Uniswap V2': {
    protocol: uniswapV2,
    answers: { 'getReserves()': words(1, 2, 3) },
    asked: `${selectorOf('getPair(address,address)')}${word(TOKEN0)}${word(TOKEN1)}`,
    pool: {},
    fork: 'v2fork',
  },
  Solidly: {
    protocol: solidly,
    answers: { 'getReserves()': words(1, 2, 3), 'stable()': words(true) },
    asked: `${selectorOf('getPool(address,address,bool)')}${word(TOKEN0)}${word(TOKEN1)}${word(true)}`,
    pool: { facts: { stable: true } },
    fork: 'v2fork',
  },
  'Solidly, first version': {
    protocol: solidly,
    answers: { 'getReserves()': words(1, 2, 3), 'stable()': words(false) },
    asked: `${selectorOf('getPair(address,address,bool)')}${word(TOKEN0)}${word(TOKEN1)}${word(false)}`,
    pool: { facts: { stable: false } },
    fork: 'v2fork',
  },
  'Uniswap V3': {
    protocol: uniswapV3,
    answers: { 'fee()': words(500), 'slot0()': slot0 },
    asked: `${selectorOf('getPool(address,address,uint24)')}${word(TOKEN0)}${word(TOKEN1)}${word(500)}`,
    pool: { fee: 500 },
    fork: 'v3fork',
  },
  'Pancake V3': {
    protocol: pancakeV3,
    answers: { 'fee()': words(2500), 'slot0()': slot0, 'lmPool()': words(address(0)) },
    asked: `${selectorOf('getPool(address,address,uint24)')}${word(TOKEN0)}${word(TOKEN1)}${word(2500)}`,
    pool: { fee: 2500 },
    fork: 'v3fork',
  },
  Slipstream: {
    protocol: slipstream,
    answers: {
      'fee()': words(9),
      'slot0()': words(2n ** 96n, 0, 0, 1, 1, true),
      'gauge()': words(address(9)),
      'tickSpacing()': words(200),
    },
    asked: `${selectorOf('getPool(address,address,int24)')}${word(TOKEN0)}${word(TOKEN1)}${word(200)}`,
    pool: { facts: { tickSpacing: 200 } },
    fork: 'v3fork',
  },
  Algebra: {
    protocol: algebra,
    answers: { 'globalState()': words(2n ** 96n, 0, 100, 0, 0, 0, true) },
    asked: `${selectorOf('poolByPair(address,address)')}${word(TOKEN0)}${word(TOKEN1)}`,
    pool: {},
    fork: 'v3fork',
  },
}

const VIEWS = { 'token0()': words(TOKEN0), 'token1()': words(TOKEN1), 'factory()': words(FACTORY) }

/** A pool with these view results, and a factory that answers one call with `confirmed`. */
function contracts(views: Record<string, string>, asked: string, confirmed: string) {
  const bySelector = new Map(Object.entries(views).map(([view, answer]) => [selectorOf(view), answer]))
  return ({ to, data }: Call) => {
    if (to === FACTORY) return data === asked ? words(confirmed) : null
    return to === POOL ? (bySelector.get(data) ?? null) : null
  }
}

describe.each(Object.entries(CASES))('%s', (_, { protocol, answers, asked, pool, fork }) => {
  const describeWith = (views: Record<string, string>, chain: ChainContracts, confirmed = POOL) =>
    answerWith(protocol.describe(POOL, ANY_LOG, chain), contracts(views, asked, confirmed))
  const views = { ...VIEWS, ...answers }
  const named = { named: new Set([POOL]) }

  it('is accepted if its factory confirms it', () => {
    expect(describeWith(views, chainOf(protocol.name))).toEqual(venue(protocol.name, pool))
  })

  it('is rejected if its factory does not list it', () => {
    expect(describeWith(views, chainOf(protocol.name), address(0))).toEqual({
      refused: `its factory ${FACTORY} does not confirm it`,
    })
  })

  it('is rejected if its factory is unknown', () => {
    expect(describeWith(views, chainOf(protocol.name, { contracts: new Map() }))).toEqual({
      refused: `its factory ${FACTORY} is unknown`,
    })
  })

  it('is accepted as a fork if it is configured by name', () => {
    const chain = chainOf(protocol.name, { ...named, contracts: new Map() })
    expect(describeWith(views, chain)).toEqual(venue(protocol.name, { ...pool, amm: fork }))
  })

  it('is left to the protocol its factory belongs to', () => {
    expect(describeWith(views, chainOf('another', named))).toEqual({ refused: 'its factory belongs to another' })
  })

  it('is rejected without two tokens', () => {
    const same = { ...views, 'token1()': words(TOKEN0) }
    expect(describeWith(same, chainOf(protocol.name, named))).toEqual({
      refused: 'it does not return two different tokens',
    })
    expect(describeWith({}, chainOf(protocol.name, named))).toEqual({
      refused: 'it does not return two different tokens',
    })
  })

  it('is not accepted by any other protocol, even if configured by name', () => {
    const chain = chainOf(protocol.name, { ...named, contracts: new Map() })
    const others = new Map(Object.values(CASES).map((other) => [other.protocol.name, other]))
    const takers = [...others.values()].filter(
      (other) =>
        !('refused' in answerWith(other.protocol.describe(POOL, ANY_LOG, chain), contracts(views, asked, POOL))),
    )
    expect(takers.map((taker) => taker.protocol.name)).toEqual([protocol.name])
  })
})
