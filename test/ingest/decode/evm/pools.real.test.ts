/** Uniswap and Pancake V2 and V3 contracts on a real node: decoded values equal the contracts' answers. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Call, ChainContracts } from '../../../../services/ingest/decode/evm/protocol.js'
import { knownContracts } from '../../../rig/evm/contracts.js'
import { decodeChain, type Followed } from '../../../rig/evm/decoded.js'
import { playMarket } from '../../../rig/evm/market.js'
import { type EvmNode, startNode } from '../../../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../../../rig/evm/opening.js'
import { type PoolTruth, truth } from '../../../rig/evm/truth.js'
import { makeLog } from './rig.js'

let node: EvmNode
let market: OpenMarket
let followed: Map<string, Followed>
let truths: PoolTruth[]

beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  market = await openMarket(node)
  const { pools } = await playMarket(market, { seed: 3, blocks: 120, reorgChance: 0 })
  followed = await decodeChain(market)
  truths = (await truth(market, pools)).pools.filter(({ kind }) => kind !== 'v4')
}, 120_000)
afterAll(() => node?.stop())

const found = (pool: string): Followed => {
  const one = followed.get(pool)
  if (one === undefined) throw new Error(`${pool} was not followed`)
  return one
}

test('reserves equal the contracts’ from their creation on', () => {
  expect(new Set(truths.map(({ kind }) => kind))).toEqual(new Set(['v2', 'pancakeV2', 'v3', 'pancakeV3']))
  const decoded = truths.map(({ pool, kind }) => ({ pool, kind, reserves: found(pool).state.reserves }))
  expect(decoded).toEqual(truths.map(({ pool, kind, reserves }) => ({ pool, kind, reserves })))
})

test('the last event of a pool has its final reserves', () => {
  const published = truths.flatMap(({ pool, reserves }) => {
    const last = found(pool).events.toSorted(inOrder).at(-1)
    return last === undefined ? [] : [{ pool, published: last.reserves, reserves }]
  })
  expect(published.length).toBeGreaterThan(5)
  expect(published.map(({ published }) => published)).toEqual(published.map(({ reserves }) => reserves))
})

test('the last trade of a concentrated pool has its price', () => {
  const swapped = truths.flatMap(({ pool, sqrtPrice }) => {
    const last = found(pool)
      .events.toSorted(inOrder)
      .findLast(({ kind }) => kind === 'swap')
    return last?.kind !== 'swap' || sqrtPrice === null ? [] : [{ published: last.sqrtPrice, sqrtPrice }]
  })
  expect(swapped.length).toBeGreaterThan(2)
  expect(swapped.map(({ published }) => published)).toEqual(swapped.map(({ sqrtPrice }) => sqrtPrice))
})

test('a pool read without its creation equals the created one, and only its own protocol accepts it', async () => {
  const chain: ChainContracts = {
    wrappedNative: market.contracts.tokens.weth.address,
    contracts: new Map(knownContracts(market.contracts).map((contract) => [contract.address, contract])),
    named: new Set(),
  }
  const protocols = new Set([...followed.values()].map(({ protocol }) => protocol))
  for (const { pool, reserves } of truths) {
    const { venue, protocol } = found(pool)
    for (const each of protocols) {
      const described = await readFrom(each.describe(pool, makeLog('Any()', [], [], { address: pool }), chain))
      if (each === protocol) expect(described).toEqual(venue)
      else expect(described).toHaveProperty('refused')
    }
    expect((await readFrom(protocol.readState(venue, chain))).reserves).toEqual(reserves)
  }
})

const inOrder = (a: Followed['events'][number], b: Followed['events'][number]) =>
  a.log.blockNumber - b.log.blockNumber || a.log.logIndex - b.log.logIndex

type AnyReading<T> = Generator<readonly Call[], T, readonly (string | null)[]>

async function readFrom<T>(reading: AnyReading<T>): Promise<T> {
  let step = reading.next()
  while (!step.done) step = reading.next(await Promise.all(step.value.map(ask)))
  return step.value
}

async function ask(call: Call): Promise<string | null> {
  try {
    return await node.rpc<string>('eth_call', [call, 'latest'])
  } catch {
    return null
  }
}
