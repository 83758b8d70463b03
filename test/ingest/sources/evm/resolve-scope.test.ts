import { expect, it } from 'vitest'
import { BUILT_IN_CONTRACTS } from '../../../../services/core/config/evm-source.js'
import { createRules } from '../../../../services/ingest/decode/evm/block/decode-rules.js'
import type { Call } from '../../../../services/ingest/decode/evm/protocol.js'
import { PROTOCOLS } from '../../../../services/ingest/decode/evm/protocols.js'
import { describeNamed } from '../../../../services/ingest/sources/evm/resolve-scope.js'

const V4_ID = `0x${'ab'.repeat(32)}`
const CURVE = `0x${'cd'.repeat(20)}_fo`
const HEAD = { number: 7, hash: '0x7', parentHash: '0x6', timeS: 1000, logsBloom: '0x' }

/** With a node that answers nothing and accepts only addresses. */
async function described(chain: string, pools: string[]) {
  const call = async (calls: readonly Call[]) => {
    for (const { to } of calls) expect(to).toMatch(/^0x[0-9a-f]{40}$/)
    return calls.map(() => null)
  }
  const contracts = BUILT_IN_CONTRACTS.get(chain) ?? []
  const scope = { pools: new Set(pools), tokens: new Set<string>(), amms: new Set<string>(), balances: 'off' as const }
  const rules = createRules({
    chain,
    scope,
    money: new Set(),
    protocols: PROTOCOLS,
    contracts,
    wrappedNative: undefined,
  })
  const { awaited } = await describeNamed(pools, rules, PROTOCOLS, HEAD, { call }, new AbortController().signal)
  return awaited.map(({ id, emitters }) => [id, emitters.map((emitter) => rules.contracts.contracts.get(emitter)?.amm)])
}

it('asks only the matching singleton about a pool id or a curve, because others would get an invalid address', async () => {
  expect(await described('base', [V4_ID])).toEqual([[V4_ID, ['uniswapv4']]])
  expect(await described('bsc', [CURVE])).toEqual([[CURVE, ['fourmeme', 'fourmeme']]])
})

it('rejects a pool that no contract of the chain can hold, instead of waiting for it', async () => {
  await expect(described('eth', [CURVE])).rejects.toThrow(/_fo: no known contract on this chain uses such pool ids/)
})
