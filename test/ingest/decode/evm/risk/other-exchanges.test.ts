/** Trades simulated in pools of Uniswap V4 (its real contracts), Curve and Balancer (stand-ins of their interfaces). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { trialVenue } from '../../../../../services/ingest/decode/evm/risk/trial-venue.js'
import { OTHER_EXCHANGES, otherPool } from '../../../../rig/evm/risk/other-pools.js'
import { openRiskChain, type RiskChain } from '../../../../rig/evm/risk/risk-chain.js'
import { view } from '../../../../rig/evm/transactions.js'
import { ZERO } from '../../../../rig/evm/world.js'

let chain: RiskChain
beforeAll(async () => {
  chain = await openRiskChain()
}, 60_000)
afterAll(() => chain?.stop())

const CLEAN = {
  ...{ is_honeypot: 0, cannot_buy: 0, cannot_sell_all: 0, is_anti_whale: 0, trading_cooldown: 0 },
  ...{ buy_tax: 0, sell_tax: 0, transfer_tax: 0, risk_score: 0 },
}

describe.each(OTHER_EXCHANGES)('in a pool of %s', (exchange) => {
  test('a plain token is clean', async () => {
    const token = await chain.token('Plain')
    const risk = await chain.risk(token, await otherPool(chain, token, exchange))
    expect(risk).toMatchObject(CLEAN)
    expect(risk.buy_gas).toBeGreaterThan(20_000)
    expect(risk.sell_gas).toBeGreaterThan(20_000)
  })

  test('a honeypot is found', async () => {
    const token = await chain.token('Honeypot')
    const risk = await chain.risk(token, await otherPool(chain, token, exchange))
    expect(risk).toMatchObject({ cannot_buy: 0, is_honeypot: 1, cannot_sell_all: 1, risk_score: 100 })
  })

  test('a tax is found once it is set', async () => {
    const token = await chain.token('Taxable')
    const pool = await otherPool(chain, token, exchange)
    expect(await chain.risk(token, pool)).toMatchObject({ buy_tax: 0, sell_tax: 0 })
    await chain.send({ from: chain.owner, ...view(token, 'setFee(uint256)', 10) })
    const taxed = { is_honeypot: 0, buy_tax: 0.1, sell_tax: 0.1, transfer_tax: 0.1 }
    expect(await chain.risk(token, pool)).toMatchObject(taxed)
  })

  test('a cap of wallets is found', async () => {
    const token = await chain.token('Capped')
    expect(await chain.risk(token, await otherPool(chain, token, exchange))).toMatchObject({ is_anti_whale: 1 })
  })
})

test('what a hook refuses is unknown, not a fault of the token', async () => {
  const token = await chain.token('Plain')
  const pool = await otherPool(chain, token, 'v4')
  // Another pool, which does not exist: its purchase fails.
  const hooked = { ...pool, hooks: '0x00000000000000000000000000000000000000c0' }
  const risk = await chain.risk(token, hooked)
  expect(risk).toMatchObject({ is_honeypot: -1, cannot_buy: -1, buy_tax: -1 })
  expect((risk.risk_info as { unchecked: string[] }).unchecked).toContain('trades: the node could not simulate them')
  expect(risk.risk_score).toBeGreaterThanOrEqual(20)
})

test('a Curve pool of the coin itself, not of the token that wraps it, is not tried', async () => {
  const token = await chain.token('Plain')
  const pool = await chain.token('CurveStable', `0x${'ee'.repeat(20)}`, token)
  const reserves = { quoteReserve: 10n ** 20n, tokenReserve: 10n ** 20n }
  const curve = { pool, kind: 'curve', tokenPlace: 1, quotePlace: 0, quote: chain.weth, fee: null } as const
  expect(await chain.risk(token, { ...curve, ...reserves })).toMatchObject({ is_honeypot: -1, cannot_buy: -1 })
})

test('a V4 pool is told by its id: of the coin, of the token that wraps it, or of neither', async () => {
  const token = await chain.token('Plain')
  for (const exchange of ['v4', 'v4-native'] as const) {
    const { pool, ...made } = await otherPool(chain, token, exchange)
    if (made.kind !== 'v4') throw new Error('another kind')
    const { manager, tickSpacing, hooks, keyFee: fee, isNative } = made
    const quoteFirst = isNative || chain.weth < token
    const tokens = quoteFirst ? [chain.weth, token] : [token, chain.weth]
    const venue = { id: pool, protocol: 'uniswap-v4', amm: 'uniswapv4', tokens, fee, creator: null }
    const facts = { manager, tickSpacing, hooks }
    const { kind, keyFee } = made
    expect(trialVenue({ ...venue, facts }, quoteFirst ? 1 : 0, quoteFirst ? 0 : 1, chain.weth)).toEqual({
      ...{ kind, manager, keyFee, tickSpacing, hooks, isNative },
    })
    expect(trialVenue({ ...venue, id: ZERO, facts }, 0, 1, chain.weth)).toBeNull()
  }
})
