import { address, getProgramDerivedAddress } from '@solana/kit'
import { expect, it } from 'vitest'
import { derivedAddress, isDerived } from '../../../../../services/ingest/decode/solana/keys/derived-address.js'
import { createRandom } from '../../../../rig/market/random.js'
import { key } from '../anchor-calls.js'

const DLMM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'

it('derives the reserve of a DLMM pair from its pair and mint', () => {
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

it('derives the same addresses as Solana’s client', async () => {
  const random = createRandom(8)
  for (let n = 0; n < 100; n += 1) {
    const seeds = [
      Uint8Array.from({ length: random.int(0, 32) }, () => random.int(0, 255)),
      Uint8Array.from(Buffer.from(`seed ${n}`)),
    ]
    const programId = key(`program ${n % 7}`)
    const [expected] = await getProgramDerivedAddress({ programAddress: address(programId), seeds })
    expect(derivedAddress(seeds, programId)).toBe(expected)
  }
  expect(derivedAddress([], 'no key: 0OIl')).toBeNull()
})
