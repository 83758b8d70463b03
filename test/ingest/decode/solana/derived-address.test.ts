import { expect, it } from 'vitest'
import { isDerived } from '../../../../services/ingest/decode/solana/derived-address.js'

const DLMM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

it("knows a DLMM pair's reserve from its pair and its mint", () => {
  const [pair, reserve] = [
    'H8BpENx4vyKFMeaNH1wD9jRVwN7C3qTs7PRDjgaVia6g',
    'Ag422d3DXPRzeVN2nuDXEhkHhgEsPbzWhhbhvnECxgfe',
  ]
  expect(isDerived(reserve, [pair, USDC], DLMM)).toBe(true)
  expect(isDerived(reserve, [pair, 'jtojtomepa8beP8AuQc6eXt5FriJwfFMwQx2v2f9mCL'], DLMM)).toBe(false)
  expect(isDerived(reserve, [pair, USDC], USDC)).toBe(false)
  expect(isDerived(reserve, ['no key: 0OIl', USDC], DLMM)).toBe(false)
  expect(isDerived(reserve, ['2', USDC], DLMM)).toBe(false)
})
