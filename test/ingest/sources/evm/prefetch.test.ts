/** Pool data read before its block is decoded. */
import { expect, it } from 'vitest'
import { selectorOf } from '../../../../services/ingest/decode/evm/abi/keccak.js'
import { memoryBook } from '../../../../services/ingest/decode/evm/block/book.js'
import { createRules } from '../../../../services/ingest/decode/evm/block/decode-rules.js'
import { PROTOCOLS } from '../../../../services/ingest/decode/evm/protocols.js'
import { prefetchFor } from '../../../../services/ingest/sources/evm/prefetch.js'
import { address, FACTORY, makeLog, POOL, TOKEN0, TOKEN1, word } from '../../decode/evm/rig.js'

it('accepts a Curve pool that traded before any registry listed it, by today’s registry', async () => {
  const scope = {
    pools: new Set<string>(),
    tokens: new Set<string>(),
    amms: new Set<string>(),
    balances: 'off' as const,
  }
  const contracts = [{ address: FACTORY, protocol: 'curve', amm: 'curve' }]
  const rules = createRules({
    ...{ chain: 't', money: new Set<string>(), protocols: PROTOCOLS, contracts, wrappedNative: undefined, scope },
  })
  const header = (number: number) => ({ number, hash: `h${number}`, parentHash: `h${number - 1}`, timeS: number })
  const exchange = 'TokenExchange(address,int128,uint256,int128,uint256)'
  const logs = [makeLog(exchange, [address(0x99)], [0, 5, 1, 4])]
  const coins = [TOKEN0, TOKEN1].map((coin) => `0x${word(coin)}`)
  const reader = {
    head: async () => header(900),
    call: async (calls: readonly { to: string; data: string }[], at: { number: number }) =>
      calls.map(({ to, data }) => {
        if (to === FACTORY) return at.number < 500 ? null : `0x${word(TOKEN0)}${word(TOKEN1)}`
        if (to !== POOL) return null
        if (data.startsWith(selectorOf('coins(uint256)'))) return coins[Number(`0x${data.slice(10)}`)] ?? null
        return data.startsWith(selectorOf('balances(uint256)')) ? `0x${word(at.number)}` : null
      }),
  }
  const refusals = new Map()
  const block = { ...header(10), logs, senders: new Map() } as never
  const deps = { reader: reader as never, rules, refusals, onPruned: () => {} }
  const prefetched = await prefetchFor(
    [{ block, parent: header(9) as never }],
    memoryBook(),
    deps,
    AbortSignal.timeout(5000),
  )
  expect(refusals.size).toBe(0)
  expect(prefetched.venues.get(POOL)).toMatchObject({
    venue: { id: POOL, protocol: 'curve', tokens: [TOKEN0, TOKEN1] },
    state: { reserves: [9n, 9n] },
  })
})
