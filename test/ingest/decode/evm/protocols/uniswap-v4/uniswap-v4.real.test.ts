/** Random operations on the real contracts: state followed from logs alone equals the manager's exactly. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EvmLog } from '../../../../../../services/ingest/decode/evm/log.js'
import type { ChainContracts } from '../../../../../../services/ingest/decode/evm/protocol.js'
import { principalBetween } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v4/read-v4-state.js'
import { uniswapV4 } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v4/uniswap-v4.js'
import { INITIALIZE, SWAP } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v4/v4-logs.js'
import type { V4State } from '../../../../../../services/ingest/decode/evm/protocols/uniswap-v4/v4-state.js'
import type { Venue } from '../../../../../../services/ingest/decode/evm/venue.js'
import { seedsOf } from '../../../../../rig/counts.js'
import { type EvmNode, startNode } from '../../../../../rig/evm/node.js'
import { createRandom } from '../../../../../rig/market/random.js'
import { deployV4, heldByManager, initializePools, logsOf, NATIVE, playV4, readAt, type V4World } from './v4-world.js'

type Followed = { venue: Venue; state: V4State; trades: number }

const BLOCKS = 25

describe('the real pool manager', () => {
  let node: EvmNode
  let world: V4World
  let snapshot: string

  beforeAll(async () => {
    node = await startNode({ chainId: 1, genesisTimeS: 1_700_000_000 })
    world = await deployV4(node)
    snapshot = await node.snapshot()
  })
  afterAll(() => node.stop())

  test.each(seedsOf('uniswapV4Seeds'))(
    'reserves, ticks and liquidity equal the contract’s after every block, seed %i',
    async (seed) => {
      await node.revert(snapshot)
      snapshot = await node.snapshot()
      const random = createRandom(seed)
      await initializePools(world, random)
      await playV4(world, random, BLOCKS)
      const logs = (await logsOf(world)).filter(({ topics }) => uniswapV4.topics.includes(topics[0] ?? ''))
      const lastBlock = Number(await node.rpc<string>('eth_blockNumber'))
      const half = lastBlock - Math.floor(BLOCKS / 2)

      const whole = new Map<string, Followed>()
      for (const block of blocksOf(logs)) {
        for (const log of block.logs) follow(whole, log, contractsOf(world))
        for (const currency of [NATIVE, ...world.tokens]) {
          const held = await heldByManager(world, currency, block.number)
          expect({ block: block.number, currency, held: reservesOf(whole, currency, world) }).toEqual({
            block: block.number,
            currency,
            held,
          })
        }
      }
      expect(logs.filter((log) => log.topics[0] === SWAP).length).toBeGreaterThan(30)

      const late = new Map<string, Followed>()
      for (const { venue } of whole.values()) {
        late.set(venue.id, {
          venue,
          state: await readAt(world, uniswapV4.readState(venue, contractsOf(world)), half),
          trades: 0,
        })
      }
      for (const log of logs.filter(({ blockNumber }) => blockNumber > half)) follow(late, log, contractsOf(world))

      for (const [id, { venue, state }] of whole) {
        const truth = await readAt(world, uniswapV4.readState(venue, contractsOf(world)), lastBlock)
        const metLate = late.get(id)?.state
        expect(slotsOf(state)).toEqual(slotsOf(truth))
        expect(metLate && slotsOf(metLate)).toEqual(slotsOf(truth))
        // Creation not seen: only the principal, except for units that rounding leaves in the pool.
        const principal = principalBetween(state.ticks ?? new Map(), state.sqrtPrice)
        for (const token of [0, 1] as const) {
          const drift = (metLate?.reserves?.[token] ?? -1n) - (principal[token] ?? 0n)
          expect(drift).toBeGreaterThanOrEqual(-40n)
          expect(drift).toBeLessThan(1500n)
        }
      }
    },
  )
})

function contractsOf({ manager }: V4World): ChainContracts {
  const contract = { address: manager, protocol: 'uniswap-v4', amm: 'uniswapv4' }
  return { wrappedNative: `0x${'ee'.repeat(20)}`, contracts: new Map([[manager, contract]]), named: new Set() }
}

function follow(pools: Map<string, Followed>, log: EvmLog, chain: ChainContracts): void {
  const id = uniswapV4.venueOf(log) ?? ''
  const contract = chain.contracts.get(log.address)
  if (log.topics[0] === INITIALIZE && contract !== undefined) {
    const venue = uniswapV4.created(log, contract, chain)
    if (venue !== null) pools.set(id, { venue, state: uniswapV4.emptyState(venue), trades: 0 })
  }
  const pool = pools.get(id)
  if (pool === undefined) throw new Error(`no pool ${id}`)
  const { state, events } = uniswapV4.apply(log, pool.venue, pool.state)
  pools.set(id, { ...pool, state, trades: pool.trades + events.length })
}

function reservesOf(pools: ReadonlyMap<string, Followed>, currency: string, world: V4World): bigint | null {
  let sum: bigint | null = 0n
  const token = currency === NATIVE ? (contractsOf(world).wrappedNative ?? '') : currency
  for (const { venue, state } of pools.values()) {
    const place = venue.tokens.indexOf(token)
    if (place < 0) continue
    const reserve = state.reserves?.[place]
    sum = sum === null || reserve === undefined ? null : sum + reserve
  }
  return sum
}

function blocksOf(logs: readonly EvmLog[]): { number: number; logs: EvmLog[] }[] {
  const numbers = [...new Set(logs.map((log) => log.blockNumber))]
  return numbers.map((number) => ({ number, logs: logs.filter((log) => log.blockNumber === number) }))
}

function slotsOf({ sqrtPrice, tick, liquidity, protocolFees, ticks }: V4State): unknown {
  const all = [...(ticks?.values() ?? [])].flatMap((bucket) => [...bucket])
  const sorted = all.sort(([a], [b]) => a - b).map(([number, info]) => [number, info.liquidityGross, info.liquidityNet])
  return { sqrtPrice, tick, liquidity, protocolFees, ticks: sorted }
}
