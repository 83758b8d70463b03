import { describe, expect, it } from 'vitest'
import {
  amountOut,
  costOf,
  curveSqrtPrice,
  FOURMEME,
  PUMP,
  quoteFor,
  squareRoot,
  tokensFor,
} from '../../../services/ingest/sources/simulator/pool-arithmetic.js'
import { createRandom, exponential } from '../../../services/ingest/sources/simulator/random.js'

const SOL = 10n ** 9n

describe('a pool', () => {
  it('gives the output that Uniswap V2’s router computes', () => {
    // 1,000 × 9,970 × 2,000,000 / (1,000,000 × 10,000 + 1,000 × 9,970) = 1,992.013…
    expect(amountOut(1000n, 1_000_000n, 2_000_000n, 30n)).toBe(1992n)
    expect(amountOut(1000n, 1_000_000n, 2_000_000n, 25n)).toBe(1993n)
    expect(amountOut(1n, 1_000_000n, 2n, 30n)).toBe(0n)
  })

  it('has exact square roots', () => {
    for (const root of [1n, 2n, 3n, 99n, 10n ** 20n + 7n, 2n ** 127n - 1n]) {
      expect([squareRoot(root * root), squareRoot(root * root - 1n), squareRoot(root * root + 1n)]).toEqual([
        root,
        root - 1n,
        root === 0n ? 1n : root,
      ])
    }
  })
})

describe('the curve of Pump.fun', () => {
  it('sells 34,612,903.225806 tokens for the first SOL', () => {
    // 1,073,000,000 × 1 / (30 + 1)
    expect(tokensFor(SOL, PUMP)).toBe(34_612_903_225_806n)
  })

  it('buys them back for no more than was paid', () => {
    const bought = tokensFor(SOL, PUMP)
    const after = { virtualBase: PUMP.virtualBase - bought, virtualQuote: PUMP.virtualQuote + SOL }
    expect(quoteFor(bought, after)).toBe(999_999_999n)
  })

  it('is sold out at 85.005359057 SOL, at the price of the pool it opens', () => {
    // 30 × 793,100,000 / (1,073,000,000 − 793,100,000)
    const raised = costOf(PUMP.forSale, PUMP)
    expect(raised).toBe(85_005_359_057n)
    const last = Number(PUMP.virtualQuote + raised) / Number(PUMP.virtualBase - PUMP.forSale)
    const opening = Number(raised) / Number(PUMP.supply - PUMP.forSale)
    expect(Math.abs(last / opening - 1)).toBeLessThan(0.001)
  })

  it('publishes its price as Q64.64: √(30 SOL / 1,073,000,000 tokens), raw', () => {
    const root = Number(curveSqrtPrice('solana', PUMP, true)) / 2 ** 64
    expect(root * root).toBeCloseTo(30e9 / 1_073e12, 15)
  })
})

it("the curve of four.meme raises 24 BNB, at its pool's price", () => {
  const raised = costOf(FOURMEME.forSale, FOURMEME)
  expect(Number(raised) / 1e18).toBeCloseTo(24, 6)
  const root = Number(curveSqrtPrice('evm', FOURMEME, true)) / 2 ** 96
  expect((root * root) / (8 / 1_066_666_667)).toBeCloseTo(1, 12)
})

describe('the random numbers', () => {
  it('depend on each of the four words that name a stream', () => {
    const random = createRandom()
    const first = (...words: [number, number, number, number]) => {
      random.start(...words)
      return random.word()
    }
    const streams = [first(1, 2, 3, 4), first(2, 2, 3, 4), first(1, 3, 3, 4), first(1, 2, 4, 4), first(1, 2, 3, 5)]
    expect(new Set(streams).size).toBe(5)
    expect(first(1, 2, 3, 4)).toBe(streams[0])
  })

  it('are uniform, and the normal and skewed ones have their stated mean and spread', () => {
    const random = createRandom()
    random.start(7, 7, 7, 7)
    const count = 200_000
    const mean = (draw: () => number) => Array.from({ length: count }, draw).reduce((a, b) => a + b, 0) / count
    expect(mean(random.next)).toBeCloseTo(0.5, 2)
    expect(mean(() => random.bell() ** 2)).toBeCloseTo(1, 1)
    expect(mean(() => random.skewed(0.8))).toBeCloseTo(1, 1)
  })

  it('have an accurate exponential function', () => {
    for (const x of [-5, -0.3, 0, 0.7, 4]) expect(exponential(x) / Math.exp(x)).toBeCloseTo(1, 9)
  })
})
