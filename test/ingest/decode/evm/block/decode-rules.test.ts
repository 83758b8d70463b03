import { expect, it } from 'vitest'
import { createRules } from '../../../../../services/ingest/decode/evm/block/decode-rules.js'
import { PROTOCOLS } from '../../../../../services/ingest/decode/evm/protocols.js'
import { FACTORY } from '../rig.js'

it('rejects an unknown protocol and suggests the nearest name, because its pools would never appear', () => {
  const scope = {
    pools: new Set<string>(),
    tokens: new Set<string>(),
    amms: new Set<string>(),
    balances: 'off' as const,
  }
  const rulesFor = (protocol: string) =>
    createRules({
      ...{ chain: 'mine', scope, money: new Set(), protocols: PROTOCOLS, wrappedNative: undefined },
      contracts: [{ address: FACTORY, protocol, amm: 'myswap' }],
    })
  expect(() => rulesFor('unisawp-v2')).toThrow(
    `"chains.mine.contracts": unknown protocol "unisawp-v2" for ${FACTORY}. Did you mean "uniswap-v2"?`,
  )
  expect(() => rulesFor('x')).toThrow(/expected uniswap-v2, solidly,/)
  expect(rulesFor('uniswap-v2').chain).toBe('mine')
})
