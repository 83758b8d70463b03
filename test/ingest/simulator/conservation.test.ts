import { describe, expect, it } from 'vitest'
import type { Block } from '../../../services/core/domain/records.js'
import { CHAINS, eventsOf, factsOf, played, survivors } from './rig.js'

const records = played({ historySwaps: 12_000, liveS: 150 })

type Reserves = { token0: string; reserve0: bigint; reserve1: bigint }

/** Recomputes every pool's reserves from amounts alone; throws if an event has other reserves. */
function followReserves(blocks: readonly Block[], onSwap?: (before: Reserves, after: Reserves, amm: string) => void) {
  const pools = new Map<string, Reserves>()
  for (const event of blocks.flatMap(({ events }) => events)) {
    if (event.type === 'pool') pools.set(event.pool, { token0: event.token0, reserve0: 0n, reserve1: 0n })
    if (event.type !== 'swap' && event.type !== 'liquidity') continue
    const before = pools.get(event.pool)
    if (before === undefined) throw new Error(`${event.pool} was never described`)
    const after = { ...before }
    if (event.type === 'liquidity') {
      const sign = event.kind === 'remove' ? -1n : 1n
      after.reserve0 += sign * BigInt(event.amount0)
      after.reserve1 += sign * BigInt(event.amount1)
    } else {
      const zeroIn = event.token_in === before.token0
      after.reserve0 += zeroIn ? BigInt(event.amount_in) : -BigInt(event.amount_out)
      after.reserve1 += zeroIn ? -BigInt(event.amount_out) : BigInt(event.amount_in)
      onSwap?.(before, after, event.amm)
    }
    expect([event.reserve0, event.reserve1]).toEqual([`${after.reserve0}`, `${after.reserve1}`])
    pools.set(event.pool, after)
  }
  return pools
}

describe.each(CHAINS.map(({ chain }) => chain))('on %s', (chain) => {
  const blocks = survivors(records, chain)
  const { anchor, family, native } = factsOf(chain)

  it('reserves equal inflow minus outflow, and k never falls in a swap', () => {
    let swaps = 0
    followReserves(blocks, (before, after, amm) => {
      swaps += 1
      if (amm === 'pump' || amm === 'fourmeme') return
      expect(after.reserve0 * after.reserve1).toBeGreaterThanOrEqual(before.reserve0 * before.reserve1)
    })
    expect(swaps).toBeGreaterThan(2000)
  })

  it('no balance is negative, each block publishes a balance once, and balances add up to the supply', () => {
    const balances = new Map<string, bigint>()
    const supplies = new Map<string, bigint>()
    for (const block of blocks) {
      const published = new Set<string>()
      for (const event of block.events) {
        if (event.type === 'token') supplies.set(event.token, BigInt(event.total_supply ?? '0'))
        if (event.type !== 'balance') continue
        const key = `${event.token} ${event.holder}`
        expect(published.has(key)).toBe(false)
        published.add(key)
        expect(family === 'evm' ? event.balance : event.delta).toBeNull()
        const after =
          event.balance === null ? (balances.get(key) ?? 0n) + BigInt(event.delta ?? '0') : BigInt(event.balance)
        expect(after >= 0n).toBe(true)
        balances.set(key, after)
      }
      const firstBalance = block.events.findIndex(({ type }) => type === 'balance')
      if (firstBalance >= 0) expect(block.events.slice(firstBalance).every(({ type }) => type === 'balance')).toBe(true)
    }
    const sums = new Map<string, bigint>()
    for (const [key, balance] of balances) {
      const token = key.split(' ')[0] ?? ''
      sums.set(token, (sums.get(token) ?? 0n) + balance)
    }
    supplies.delete(anchor ?? '')
    expect(sums).toEqual(supplies)
    expect(sums.has(native ?? '')).toBe(true)
  })

  it('pools hold the balances of their reserves', () => {
    const held = new Map<string, bigint>()
    for (const event of eventsOf(blocks, 'balance')) {
      const key = `${event.token} ${event.holder}`
      held.set(key, event.balance === null ? (held.get(key) ?? 0n) + BigInt(event.delta ?? '0') : BigInt(event.balance))
    }
    const curves = new Set(
      eventsOf(blocks, 'pool').flatMap(({ pool, amm }) => (/^(pump|fourmeme)$/.test(amm) ? pool : [])),
    )
    for (const [pool, { token0, reserve0 }] of followReserves(blocks)) {
      if (!curves.has(pool) && token0 !== anchor) expect(held.get(`${token0} ${pool}`)).toBe(reserve0)
    }
  })
})

it('only Solana swaps have profiles, and all of them do', () => {
  const solana = eventsOf(survivors(records, 'solana'), 'swap')
  expect(solana.every(({ profile }) => profile !== null)).toBe(true)
  expect(solana.some(({ profile }) => profile?.token0HasNewAccount)).toBe(true)
  expect(solana.some(({ profile }) => profile?.token0HasClearedAccount)).toBe(true)
  expect(eventsOf(survivors(records, 'eth'), 'swap').every(({ profile }) => profile === null)).toBe(true)
})
