import { describe, expect, it } from 'vitest'
import type { Block } from '../../../services/core/domain/records.js'
import { flagships } from '../../../services/ingest/sources/simulator/simulator.js'
import { rhythmAt } from '../../../services/ingest/sources/simulator/timeline.js'
import { CHAINS, chainOfRecord, DAY_S, eventsOf, played, RATE, START_S, survivors } from './rig.js'

const HISTORY_S = 3 * DAY_S
const LIVE_S = START_S + HISTORY_S
const LIVE_FOR_S = 900
const records = played({ liveS: LIVE_FOR_S })
const blocksOf = new Map(CHAINS.map(({ chain }) => [chain, survivors(records, chain)]))
const past = (chain: string): Block[] => (blocksOf.get(chain) ?? []).filter(({ time }) => time < LIVE_S)
const live = (chain: string): Block[] => (blocksOf.get(chain) ?? []).filter(({ time }) => time >= LIVE_S)
const swapsOf = (blocks: readonly Block[], pool: string) =>
  blocks.flatMap(({ time, events }) => events.flatMap((e) => (e.type === 'swap' && e.pool === pool ? time : [])))

describe('the history', () => {
  it('has about 30,000 swaps, several a block, shared among the chains', () => {
    const counts = CHAINS.map(({ chain }) => eventsOf(past(chain), 'swap').length)
    const total = counts.reduce((a, b) => a + b, 0)
    expect(Math.abs(total - 30_000)).toBeLessThan(2_500)
    const shares = counts.map((count) => count / total)
    for (const [at, share] of [0.25, 0.3, 0.45].entries())
      expect(Math.abs((shares[at] ?? 0) - share)).toBeLessThan(0.02)
    const blocks = CHAINS.reduce((sum, { chain }) => sum + past(chain).length, 0)
    expect(total / blocks).toBeGreaterThan(7)
  })

  it.each([1, 2000])('has the expected number at %d swaps per second', (swapsPerS) => {
    const thin = played({ swapsPerS, historySwaps: 9_000 })
    const total = CHAINS.reduce((sum, { chain }) => sum + eventsOf(survivors(thin, chain), 'swap').length, 0)
    expect(Math.abs(total - 9_000)).toBeLessThan(900)
  })

  it.each(flagships(1, CHAINS))('of $chain has its pairs trade throughout', ({ chain, pair }) => {
    const [deep] = CHAINS.filter((facts) => facts.chain === chain)
    const other = eventsOf(past(chain), 'pool').find(
      ({ pool, token0, token1 }) =>
        pool !== pair && [token0, token1].includes(deep?.native ?? '') && [token0, token1].includes(deep?.anchor ?? ''),
    )
    for (const pool of [pair, other?.pool ?? '']) {
      const times = swapsOf(past(chain), pool)
      const quarters = new Set(times.map((time) => Math.floor((time - START_S) / 900)))
      const minutes = new Set(
        times.filter((time) => time >= LIVE_S - 7200).map((time) => Math.floor((time - LIVE_S) / 60)),
      )
      expect(quarters.size).toBeGreaterThan(0.8 * (HISTORY_S / 900))
      expect(minutes.size).toBeGreaterThan(0.7 * 120)
    }
  })

  it('has launches that fail and launches that graduate, on Solana and BNB Smart Chain', () => {
    for (const [chain, curve, amm] of [
      ['solana', 'pump', 'pumpamm'],
      ['bsc', 'fourmeme', 'cakev2'],
    ] as const) {
      const launches = eventsOf(past(chain), 'launch')
      const created = launches.filter(({ stage }) => stage === 'created')
      const graduated = launches.filter(({ stage }) => stage === 'graduated')
      expect([created.length > 8, graduated.length > 0, graduated.length < created.length / 2]).toEqual([
        true,
        true,
        true,
      ])
      expect(launches.every(({ platform }) => platform === curve)).toBe(true)
      const pools = new Map(eventsOf(past(chain), 'pool').map((pool) => [pool.pool, pool]))
      expect(graduated.map(({ pool }) => pools.get(pool ?? '')?.amm)).toEqual(graduated.map(() => amm))
      if (curve === 'fourmeme')
        expect(created.map(({ pool }) => pool)).toEqual(created.map(({ token }) => `${token}_fo`))
    }
  })

  it('has every kind of liquidity change, new pools, forks, new wallets, and token facts', () => {
    for (const { chain } of CHAINS) {
      const blocks = past(chain)
      expect(new Set(eventsOf(blocks, 'liquidity').map(({ kind }) => kind))).toEqual(
        new Set(['create', 'add', 'remove']),
      )
      expect(eventsOf(blocks.slice(1), 'pool').length).toBeGreaterThan(0)
      expect(new Set(eventsOf(blocks, 'swap').map(({ wallet }) => wallet)).size).toBeGreaterThan(500)
      expect(records.some((record) => record.kind === 'retract' && chainOfRecord(record) === chain)).toBe(true)
      const metas = eventsOf(blocks, 'meta')
      expect(metas.length).toBeGreaterThanOrEqual(30)
      expect(JSON.parse(metas[0]?.risk ?? '')).toMatchObject({
        is_honeypot: expect.any(Number),
        risk_score: expect.any(Number),
      })
      expect(new Set(eventsOf(blocks, 'token').map(({ decimals }) => decimals)).size).toBeGreaterThanOrEqual(4)
    }
  })

  it('has transactions of two swaps: arbitrage and routes', () => {
    const [first] = past('eth')
      .slice(1)
      .flatMap(({ events }) =>
        events.flatMap((event, at) => {
          const next = events[at + 1]
          return event.type === 'swap' && next?.type === 'swap' && next.tx_hash === event.tx_hash ? [[event, next]] : []
        }),
      )
    expect(first?.[0]?.token_out).toBe(first?.[1]?.token_in)
    expect(first?.[0]?.amount_out).toBe(first?.[1]?.amount_in)
  })
})

describe('live', () => {
  it('keeps the rate of its hour', () => {
    const total = CHAINS.reduce((sum, { chain }) => sum + eventsOf(live(chain), 'swap').length, 0)
    const expected = RATE * LIVE_FOR_S * rhythmAt((LIVE_S + LIVE_FOR_S / 2) * 1000)
    expect(Math.abs(total / expected - 1)).toBeLessThan(0.2)
  })

  it.each(flagships(1, CHAINS))(
    'the flagship pair of $chain trades every 3 s, its liquidity changes every 9 s',
    ({ chain, pair }) => {
      const gapOf = (times: readonly number[]) => Math.max(...times.slice(1).map((time, at) => time - (times[at] ?? 0)))
      const liquidity = live(chain).flatMap(({ time, events }) =>
        events.flatMap((event) => (event.type === 'liquidity' && event.pool === pair ? time : [])),
      )
      expect(gapOf(swapsOf(live(chain), pair))).toBeLessThanOrEqual(3)
      expect(gapOf(liquidity)).toBeLessThanOrEqual(9)
      expect(liquidity.length).toBeGreaterThan(LIVE_FOR_S / 9)
    },
  )

  it('has a fork about every 90 s on each chain', () => {
    for (const { chain } of CHAINS) {
      const forks = records.filter((record) => record.kind === 'retract' && chainOfRecord(record) === chain)
      expect(forks.length).toBeGreaterThan(4)
    }
  })
})
