/** What is found of tokens on a real local chain: each for what it is, plain ones clean, and again after they change. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MetaEvent } from '../../../../../services/core/domain/records.js'
import { openRiskChain, openRiskPlace, type RiskChain } from '../../../../rig/evm/risk/risk-chain.js'
import { view } from '../../../../rig/evm/transactions.js'

let chain: RiskChain

beforeAll(async () => {
  chain = await openRiskChain()
}, 60_000)
afterAll(() => chain?.stop())

async function riskOfNew(name: string, percent?: bigint): Promise<Record<string, unknown>> {
  const token = await chain.token(name)
  return chain.risk(token, await chain.pair(token, percent))
}

const NEVER_CHECKED = [
  'is_open_source',
  'has_not_open_source',
  'has_not_audited',
  'is_lp_not_locked',
  'is_in_blacklist',
]
const CLEAN = {
  ...{ has_code: 1, is_proxy: 0, has_mint_method: 0, is_mintable: 0, has_black_method: 0, has_white_method: 0 },
  ...{ transfer_pausable: 0, owner_change_balance: 0, can_take_back_ownership: 0, hidden_owner: 0, selfdestruct: 0 },
  ...{ external_call: 0, anti_whale_modifiable: 0, slippage_modifiable: 0, personal_slippage_modifiable: 0 },
  ...{ is_honeypot: 0, cannot_buy: 0, cannot_sell_all: 0, is_anti_whale: 0, trading_cooldown: 0 },
  ...{ buy_tax: 0, sell_tax: 0, transfer_tax: 0, risk_level: 0 },
}

describe('plain tokens are clean', () => {
  test.each([
    ...['Plain', 'PlainOwned', 'PlainBurnable', 'PlainPermit', 'PlainOwnedUnoptimised', 'PlainOwnedViaIr'],
    ...['OldPlain0.4.26', 'OldPlain0.5.17', 'OldPlain0.6.12', 'OldPlain0.7.6'],
  ])('%s', async (name) => {
    const risk = await riskOfNew(name)
    const isOwned = name.startsWith('Old') || name.includes('Owned') || name === 'PlainBurnable'
    const reasons = isOwned ? ['it has an owner'] : []
    expect(risk).toMatchObject({ ...CLEAN, has_not_renounced: isOwned ? 1 : 0, risk_score: isOwned ? 5 : 0 })
    expect(risk.risk_info).toMatchObject({ reasons, unchecked: NEVER_CHECKED })
  })
})

test.each<[string, Record<string, unknown>, string[]]>([
  [
    'Honeypot',
    { is_honeypot: 1, cannot_sell_all: 1, sell_tax: -1, risk_score: 100, risk_level: -1 },
    ['what is bought cannot be sold: the simulated sale failed or gave nothing', 'it has an owner'],
  ],
  [
    'Tax10',
    { is_honeypot: 0, buy_tax: 0.1, sell_tax: 0.1, transfer_tax: 0.1, risk_score: 40 },
    ['a tax takes 10 % of a purchase, 10 % of a sale, 10 % of a transfer'],
  ],
  [
    'Taxable',
    { slippage_modifiable: 1, buy_tax: 0, risk_score: 30 },
    ['taxes can be changed: setFee(uint256)', 'it has an owner'],
  ],
  [
    'Stoppable',
    { transfer_pausable: 1, risk_score: 30 },
    ['transfers or trading can be stopped: pause(), unpause()', 'it has an owner'],
  ],
  [
    'Mintable',
    { has_mint_method: 1, is_mintable: 1, risk_score: 35 },
    ['new tokens can be minted: mint(address,uint256)', 'it has an owner'],
  ],
  [
    'Blocking',
    { has_black_method: 1, risk_score: 35 },
    ['wallets can be blocked: setBlacklist(address,bool)', 'it has an owner'],
  ],
  ['Capped', { is_anti_whale: 1, risk_score: 20 }, ['a large purchase fails: purchases or wallets are capped']],
  [
    'Patient',
    { is_honeypot: 0, trading_cooldown: 1, cannot_sell_all: 0, sell_tax: 0, risk_score: 40 },
    ['a second trade of a wallet in the same block fails', 'transfers depend on time, block or gas price'],
  ],
  ['Mortal', { selfdestruct: 1, risk_score: 65, risk_level: -1 }, ['it can destroy itself', 'it has an owner']],
  [
    'Disguised',
    { is_honeypot: 0, has_mint_method: -1, has_black_method: -1, slippage_modifiable: -1, risk_score: 30 },
    ['functions of unknown purpose change its state: 0x7aaf374a', 'it has an owner'],
  ],
])('%s is found for what it is', async (name, facts, reasons) => {
  const risk = await riskOfNew(name)
  expect(risk).toMatchObject(facts)
  expect(risk.risk_info).toMatchObject({ reasons })
})

test('a sale in a V3 pool is tried through its callback', async () => {
  const [plain, honeypot] = [await chain.token('Plain'), await chain.token('Honeypot')]
  expect(await chain.risk(plain, await chain.v3Pool(plain))).toMatchObject({ ...CLEAN, risk_score: 0 })
  const found = await chain.risk(honeypot, await chain.v3Pool(honeypot))
  expect(found).toMatchObject({ is_honeypot: 1, risk_score: 100 })
})

describe('proxies', () => {
  test('EIP-1967: the owner behind it is found although the token names none', async () => {
    const logic = await chain.token('Implementation')
    const token = await chain.token('Proxy1967', logic)
    await chain.send({ from: chain.owner, ...view(token, 'initialize(address)', chain.owner) })
    const risk = await chain.risk(token, await chain.pair(token))
    expect(risk).toMatchObject({ is_proxy: 1, hidden_owner: 1, can_take_back_ownership: 1, has_not_renounced: 1 })
    expect(risk).toMatchObject({ is_honeypot: 0, risk_level: -1 })
    expect(risk.risk_info).toMatchObject({ proxy: 'eip1967', implementation: logic, proxy_admin: chain.owner })
  })

  test('a beacon and a minimal proxy', async () => {
    const logic = await chain.token('Implementation')
    const beacon = await chain.token('BeaconProxy', await chain.token('Beacon', logic))
    const minimal = await chain.token(
      `0x3d602d80600a3d3981f3363d3d373d3d3d363d73${logic.slice(2)}5af43d82803e903d91602b57fd5bf3`,
    )
    for (const [token, kind] of [
      [beacon, 'beacon'],
      [minimal, 'eip1167'],
    ] as const) {
      await chain.send({ from: chain.owner, ...view(token, 'initialize(address)', chain.owner) })
      const risk = await chain.risk(token, await chain.pair(token))
      expect(risk).toMatchObject({ is_proxy: 1, is_honeypot: 0, buy_tax: 0 })
      expect(risk.risk_info).toMatchObject({ proxy: kind, implementation: logic })
      expect(risk.risk_score).toBeGreaterThanOrEqual(20)
    }
  })
})

test('what cannot be tried is -1, listed and never safe', async () => {
  const token = await chain.token('Plain')
  const risk = await chain.risk(token, null)
  expect(risk).toMatchObject({
    is_honeypot: -1,
    buy_tax: -1,
    sell_tax: -1,
    transfer_tax: -1,
    cannot_buy: -1,
    risk_score: 25,
  })
  expect(risk.risk_info).toMatchObject({ reasons: ['no pool is known in which a trade can be simulated'] })
  const { unchecked } = risk.risk_info as { unchecked: string[] }
  expect(unchecked).toEqual(expect.arrayContaining(['is_honeypot', 'sell_tax', 'trades: no pool to simulate them in']))
})

test('the source publishes what it found, and again when the token changes', async () => {
  const { owner, node } = chain
  const anchor = await chain.token('Plain')
  const names = ['PlainOwned', 'Taxable', 'Stoppable', 'Disguised'] as const
  const tokens: string[] = []
  for (const name of names) tokens.push(await chain.token(name))
  const [plain = '', taxable = '', stoppable = '', disguised = ''] = tokens
  const pools = new Map<string, Awaited<ReturnType<RiskChain['pair']>>>()
  for (const token of tokens) pools.set(token, await chain.pair(token))
  const logic = await chain.token('Implementation')
  const proxy = await chain.token('Proxy1967', logic)
  await chain.send({ from: owner, ...view(proxy, 'initialize(address)', owner) })
  await chain.pair(proxy)
  const place = openRiskPlace(chain, anchor, { checksPerMinute: 1000, recheckS: 1, history: true })
  const run = await place.start({})
  const newest = async (): Promise<(token: string) => Record<string, unknown>> => {
    const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    expect(await place.reached(hash, 30_000)).toBe(true)
    const lines = await place.lines()
    const metas = lines.flatMap((line) => (line.kind === 'block' ? line.events.filter(isMeta) : []))
    return (token) => JSON.parse(metas.findLast((meta) => meta.token === token)?.risk ?? '{}')
  }
  const before = await newest()
  expect(before(plain)).toMatchObject({ is_honeypot: 0, risk_score: 5 })
  expect(before(taxable)).toMatchObject({ is_honeypot: 0, sell_tax: 0 })
  expect(before(proxy)).toMatchObject({ is_honeypot: 0, is_proxy: 1 })
  expect(before(disguised)).toMatchObject({ is_honeypot: 0 })

  await chain.send({ from: owner, ...view(taxable, 'setFee(uint256)', 25) })
  await chain.send({ from: owner, ...view(stoppable, 'pause()') })
  await chain.send({ from: owner, ...view(proxy, 'upgradeTo(address)', await chain.token('Trap')) })
  await chain.send({ from: owner, ...view(plain, 'renounceOwnership()') })
  // No log tells of this change: it is found when the token trades again.
  await chain.send({ from: owner, ...view(disguised, 'syncState(uint256)', 1) })
  const pool = pools.get(disguised)
  if (pool === undefined) throw new Error('no pool')
  await chain.buy(disguised, pool, owner)
  const after = await newest()
  await run.stop()
  await place.close()
  expect(after(taxable)).toMatchObject({ sell_tax: 0.25, buy_tax: 0.25, transfer_tax: 0.25 })
  expect(after(stoppable)).toMatchObject({ cannot_buy: 1, is_honeypot: -1 })
  expect(after(proxy)).toMatchObject({ is_honeypot: 1, risk_score: 100 })
  expect(after(plain)).toMatchObject({ has_not_renounced: 0, risk_score: 0 })
  expect(after(disguised)).toMatchObject({ cannot_buy: 1 })
}, 60_000)

const isMeta = (event: { type: string }): event is MetaEvent => event.type === 'meta'
