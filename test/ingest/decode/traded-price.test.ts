import { expect, it } from 'vitest'
import { tradedSqrtPrice } from '../../../services/ingest/decode/traded-price.js'

it('the price of a trade is the square root of its two amounts, in the format of each pool family', () => {
  expect(tradedSqrtPrice('evm', 25n, 100n)).toBe(2n ** 97n)
  expect(tradedSqrtPrice('evm', 100n, 25n)).toBe(2n ** 95n)
  expect(tradedSqrtPrice('solana', 25n, 100n)).toBe(2n ** 65n)
})

it.each([
  [0n, 5n],
  [5n, 0n],
  [0n, 0n],
  [1n, 2n ** 128n],
  [2n ** 255n, 1n],
])('a trade of %d for %d has no price, or one within bounds', (amount0, amount1) => {
  const price = tradedSqrtPrice('evm', amount0, amount1)
  expect(price === null || (price > 0n && price < 2n ** 160n)).toBe(true)
  expect(amount0 === 0n || amount1 === 0n ? price : null).toBeNull()
})
