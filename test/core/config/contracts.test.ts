import { describe, expect, it } from 'vitest'
import { BUILT_IN_CHAINS } from '../../../services/core/config/built-in-chains.js'
import { BUILT_IN_CONTRACTS } from '../../../services/core/config/evm-source.js'
import { protocolNamed } from '../../../services/ingest/decode/evm/protocols.js'

describe('the built-in contracts', () => {
  it('belong to built-in chains, and every built-in EVM chain has some', () => {
    const evm = BUILT_IN_CHAINS.filter(({ family }) => family === 'evm').map(({ chain }) => chain)
    expect([...BUILT_IN_CONTRACTS.keys()].sort()).toEqual(evm.sort())
  })

  it.each([...BUILT_IN_CONTRACTS])('of %s are unique addresses of supported protocols', (_, contracts) => {
    expect(new Set(contracts.map(({ address }) => address)).size).toBe(contracts.length)
    for (const { address, protocol, amm, fee = 0 } of contracts) {
      expect(address).toMatch(/^0x[0-9a-f]{40}$/)
      expect(amm).toMatch(/^[a-z0-9]+$/)
      expect(fee).toBeLessThan(1_000_000)
      expect(protocolNamed(protocol), protocol).toBeDefined()
    }
  })
})
