import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILT_IN_CHAINS } from '../../../services/core/config/built-in-chains.js'
import { missingFields } from '../fields.js'
import { type Rig, row, startRig } from '../rig.js'
import {
  CHAIN,
  firstUpdate,
  OTHER_PAIR,
  PAIR,
  pairInfo,
  pairUpdate,
  T0,
  TOKEN,
  tokenInfo,
  tokenUpdate,
  trade,
  update,
  updateWindows,
  WETH,
} from '../updates.js'

let rig: Rig
type Json = Record<string, unknown>
const NOBODY = `0x${'00'.repeat(20)}`
const DEAD = `0x${'0'.repeat(36)}dead`
const QUIET = `0x${'22'.repeat(20)}`
const RISKY = `0x${'33'.repeat(20)}`
const LAUNCHED = `0x${'34'.repeat(20)}`
const CURVE = `${LAUNCHED}_fo`
const OWNER = '0xowner'
const CREATOR = '0xcreator'
const holder = (token: string, address: string, balance: string) =>
  row('holder_rows', { chain: CHAIN, token, holder: address, balance, updated_at: T0, version: 1 })
const data = async (path: string) => ((await (await rig.get(path)).json()) as { data: Json }).data

beforeAll(async () => {
  const logos = new Map([
    [TOKEN, 'ipfs://listed'],
    [RISKY, 'ipfs://listed'],
  ])
  const facts = BUILT_IN_CHAINS.map(
    (one) => [one.chain, one.chain === CHAIN ? { ...one, audited: [TOKEN], logos } : one] as const,
  )
  rig = await startRig({
    // Rows are inserted here without a flush, which memory would wait for.
    ...{ hotHistoryBytes: 0, answerBytes: 0 },
    config: {
      ...{ host: '127.0.0.1', httpPort: 0, wsPort: 0, apiKey: { kind: 'none' }, envelope: 'spec' },
      chains: new Map(facts),
      contracts: new Map(),
    },
  })
  await rig.store.insert(
    'holder_rows',
    [
      // A tenth of 1,000,000 tokens (six decimals) is burnt at two addresses; the update has the sum.
      holder(TOKEN, DEAD, '90000000000'),
      holder(TOKEN, NOBODY, '10000000000'),
      holder(TOKEN, PAIR, '300000000000'),
      holder(TOKEN, OWNER, '5000000'),
      holder(TOKEN, CREATOR, '0'),
      holder(RISKY, CREATOR, '60000000000'),
      holder(LAUNCHED, CREATOR, '250000000000'),
      holder(LAUNCHED, CURVE, '600000000000'),
      holder(TOKEN, '0xindebted', '-90000000000000'),
      ...Array.from({ length: 10 }, (_, n) => holder(TOKEN, `0xsmall${n}`, '1000000')),
    ].join(''),
  )
  const deposit = (log_index: number, given: Record<string, unknown>) =>
    row('liquidity_rows', {
      ...{ chain: CHAIN, pair: CURVE, time: T0, block_number: 1, tx_index: 0, log_index, sub: 0, tx_hash: '0xtx' },
      ...{ id: `1-${log_index}`, kind: 'create', sender: '0xs', wallet: CREATOR, amount0: '1', amount1: '1' },
      ...{ reserve0: '1', reserve1: '1', amount_usd: 500, amount_native: 1, price0_usd: 1, price1_usd: 1 },
      ...{ version: 1, is_deleted: 0, ...given },
    })
  const deposits = [
    deposit(1, {}),
    deposit(2, { kind: 'add' }),
    deposit(3, { pair: PAIR }),
    deposit(4, { pair: PAIR, amount_usd: 10_000 }),
  ]
  await rig.store.insert('liquidity_rows', deposits.join(''))
  const risk = {
    ...{ is_honeypot: 1, has_mint_method: true, is_proxy: false, buy_tax: '0.05', sell_tax: 0.1, risk_score: 60 },
    ...{ analysis_risk_score: '40', previous_owner: '0xbefore', bundle_wallet_rate: 0.25 },
    ...{ risk_level: -1, creator_address: CREATOR, lock_amount: '12.5', risk_info: ['taxed'], pair_holders: 3 },
  }
  const pools = Array.from({ length: 5 }, (_, n) =>
    pairUpdate({
      pair: `0x${String(n).repeat(40)}`,
      info: pairInfo({ token0: WETH, token1: TOKEN, target: n === 4 ? 0 : 1, fee: null }),
      tvl: n === 0 ? Number.NaN : 1000 * n,
      ...(n === 0 ? { windows: updateWindows({ buy_volume: 900 }) } : {}),
    }),
  )
  const first = firstUpdate([trade()])
  await rig.append({
    ...first,
    pairs: [
      ...first.pairs,
      ...pools,
      pairUpdate({ pair: CURVE, info: pairInfo({ token0: WETH, token1: LAUNCHED, target: 1, creator: CREATOR }) }),
    ],
    tokens: [
      ...first.tokens.filter(({ token }) => token !== TOKEN),
      tokenUpdate({
        info: tokenInfo({
          ...{ owner: OWNER, logo_url: 'https://x/logo.png', links: '{"twitter":"x"}', burnt_supply: '100000000000' },
        }),
      }),
      tokenUpdate({
        token: QUIET,
        price_usd: Number.NaN,
        main_pair: null,
        tvl: Number.NaN,
        holders: 0,
        windows: updateWindows({ buys: 0 }),
      }),
      tokenUpdate({
        token: LAUNCHED,
        main_pair: CURVE,
        info: tokenInfo({ launch_platform: 'pump', launch_stage: 'graduated', launch_pool: CURVE }),
      }),
      tokenUpdate({
        token: RISKY,
        main_pair: null,
        info: tokenInfo({ owner: OWNER, risk: JSON.stringify(risk), launch_platform: 'pump' }),
      }),
    ],
  })
  await rig.start()
}, 60_000)
afterAll(() => rig.stop())

describe('GET /v2/tokens/{token-id}', () => {
  it('returns every field in the envelope, valued without burnt supply', async () => {
    const response = await rig.get(`/v2/tokens/${TOKEN}-eth`)
    const body = (await response.json()) as Json & { data: { is_audited: boolean; token: Json; pairs: Json[] } }
    expect([response.status, body.status, body.msg, body.data_type]).toEqual([200, 1, 'SUCCESS', 1])
    expect([response.headers.get('x-cu-cost'), response.headers.get('x-as-of')]).toEqual(['5', String(T0 + 1)])
    expect(Object.keys(body.data).sort()).toEqual(['is_audited', 'pairs', 'token'])
    expect(missingFields('tokensSearch', body.data.token)).toEqual([])
    expect(body.data.is_audited).toBe(true)
    expect(body.data.token).toMatchObject({
      ...{ token: TOKEN, chain: 'eth', name: 'Token', symbol: 'TKN', decimal: 6, total: '1000000' },
      ...{ current_price_usd: '2', burn_amount: '100000', market_cap: '1800000', fdv: '1800000', lock_amount: null },
      ...{ tvl: '4000', holders: 12, logo_url: 'https://x/logo.png', appendix: '{"twitter":"x"}', updated_at: T0 + 1 },
      ...{ token_tx_count_5m: 1, token_buy_tx_count_5m: 1, token_sellers_5m: 0, token_tx_volume_usd_1h: '42.5' },
    })
  })

  it('returns its five deepest pairs, quote side included, ties by volume', async () => {
    const { pairs } = (await data(`/v2/tokens/${TOKEN}-eth`)) as { pairs: Json[] }
    const fill = (n: number) => `0x${String(n).repeat(40)}`
    // The fourth pool, PAIR and OTHER_PAIR all have 4,000: ordered by volume, then by address.
    expect(pairs.map(({ pair }) => pair)).toEqual([fill(4), PAIR, OTHER_PAIR, fill(3), fill(2)])
    expect(pairs.filter((pair) => missingFields('tokenPair', pair).length > 0)).toEqual([])
    expect(pairs[1]).toEqual({
      ...{ pair: PAIR, chain: 'eth', amm: 'uniswapv2', target_token: TOKEN },
      ...{ token0_address: TOKEN, token0_symbol: 'TKN', token0_decimal: 6, token0_price_eth: '0.002' },
      ...{ token0_price_usd: '2', token1_address: WETH, token1_symbol: 'WETH', token1_decimal: 18 },
      ...{ token1_price_eth: '1', token1_price_usd: '1000', reserve0: '5000000', reserve1: '2' },
      ...{ price_change: '60', price_change_24h: '25', volume_u: '42.5', low_u: '1.5', high_u: '2.5', fee: 0.003 },
      ...{ total_supply: null, tx_amount: '21', tx_count: 5, created_at: T0 - 1000, updated_at: T0 + 1 },
      ...{ price_change_1h: '25', price_change_1d: '60', market_cap: '2000000', fdv: '2000000', is_fake: null },
    })
    expect(pairs[2]).toMatchObject({ token0_price_usd: '', price_change: '', price_change_24h: '' })
  })

  it('returns empty strings for required strings of a token without trades', async () => {
    const response = await rig.get(`/v2/tokens/${QUIET}-eth`)
    expect(response.headers.get('x-reason')).toBe('no_trades')
    expect(((await response.json()) as { data: Json }).data).toMatchObject({
      is_audited: false,
      pairs: [],
      token: { current_price_usd: '', market_cap: '', tvl: '', logo_url: '', fdv: null, burn_amount: null },
    })
  })

  it('returns the findings of the contract check, and what was not checked as unknown', async () => {
    expect(await data(`/v2/tokens/${RISKY}-eth`)).toMatchObject({
      token: {
        ...{ risk_level: -1, ave_risk_level: -1, risk_score: 60, risk_info: '["taxed"]', bundle_wallet_rate: 0.25 },
        ...{ cluster_wallet_rate: null, insider_wallet_rate: null, phishing_wallet_rate: null, rug_risk_rate: null },
        ...{ lock_platform: '', intro_cn: '' },
      },
    })
  })

  it('takes the logo from a token list when the token’s metadata has none', async () => {
    expect(await data(`/v2/tokens/${RISKY}-eth`)).toMatchObject({ token: { logo_url: 'ipfs://listed' } })
  })

  it('returns null for an unknown token', async () => {
    const response = await rig.get(`/v2/tokens/${NOBODY}-eth`)
    expect([response.status, response.headers.get('x-reason')]).toEqual([200, 'unknown_token'])
    expect(await response.json()).toEqual({ status: 1, msg: 'token not found', data_type: 1, data: null })
  })
})

describe('GET /v2/signals/public/list', () => {
  it('lists the first deposit of a pool that a token graduated to, whatever it is worth', async () => {
    const signals = (await data('/v2/signals/public/list?chain=eth')) as unknown as Json[]
    const named = signals.map(({ id, token, headline }) => [id, token, headline])
    expect(named).toEqual([
      ['1-4-first_liquidity', TOKEN, 'First liquidity of TKN: 10000 USD'],
      ['1-1-graduation', LAUNCHED, 'Graduation of TKN: 500 USD'],
    ])
    expect(signals[1]?.actions).toMatchObject([{ id: '1-1', wallet_address: CREATOR, tx_hash: '0xtx' }])
  })
})

describe('GET /v2/contracts/{token-id}', () => {
  it('returns the findings of the contract check', async () => {
    const contract = await data(`/v2/contracts/${RISKY}-eth`)
    expect(missingFields('contracts', contract)).toEqual([])
    expect(contract).toMatchObject({
      ...{ is_honeypot: 1, has_mint_method: 1, is_proxy: 0, buy_tax: 0.05, sell_tax: 0.1, transfer_tax: null },
      ...{ risk_score: 60, risk_level: -1, creator_address: CREATOR, lock_amount: '12.5', pair_holders: 3 },
      ...{
        analysis_creator_gt_5percent: 1,
        analysis_risk_score: 40,
        analysis_big_wallet: 0,
        previous_owner: '0xbefore',
      },
      ...{ risk_info: '["taxed"]', owner: OWNER, issue_platform: 'pump', is_in_dex: 0, dex: [], has_code: null },
    })
  })

  it('knows who launched a token by its curve, and who holds much of it', async () => {
    expect(await data(`/v2/contracts/${LAUNCHED}-eth`)).toMatchObject({
      ...{ creator_address: CREATOR, creator_percent: 0.25, analysis_creator_gt_5percent: 1, analysis_big_wallet: 1 },
      holder_analysis: 'the 1 largest holders beside pools, lockers and burn addresses have 25 % of the supply',
    })
  })

  it('does not report an unchecked contract as safe', async () => {
    const response = await rig.get(`/v2/contracts/${TOKEN}-eth`)
    expect([response.headers.get('x-reason'), response.headers.get('x-cu-cost')]).toEqual(['unverified', '10'])
    const { data: contract } = (await response.json()) as { data: Json }
    expect(missingFields('contracts', contract)).toEqual([])
    const { dex, token_holders_rank, pair_holders_rank, ...rest } = contract
    expect(rest).toEqual({
      ...{ token: TOKEN, chain: 'eth', token_name: 'Token', token_symbol: 'TKN', decimal: 6, total: '1000000' },
      ...{
        holders: 12,
        holders_complete_since: null,
        owner: OWNER,
        creator_address: '',
        issue_platform: '',
        is_in_dex: 1,
        risk_info: '',
      },
      ...{ is_honeypot: -1, risk_level: 0, risk_score: null, burn_amount: '100000', lock_amount: null },
      ...{ owner_balance: '5', owner_percent: 0.000005, creator_balance: null, creator_percent: null },
      ...{ pair_holders: null, pair_total: null, token_lock_percent: null, pair_lock_percent: null },
      ...{
        creator_launches: null,
        sniper_wallet_rate: null,
        insider_wallet_rate: null,
        bundle_wallet_rate: null,
        cluster_wallet_rate: null,
      },
      ...{ has_code: null, is_proxy: null, is_open_source: null, has_mint_method: null, has_black_method: null },
      ...{ has_white_method: null, transfer_pausable: null, hidden_owner: null, can_take_back_ownership: null },
      ...{ owner_change_balance: null, selfdestruct: null, external_call: null, is_anti_whale: null },
      ...{ anti_whale_modifiable: null, trading_cooldown: null, slippage_modifiable: null },
      ...{ personal_slippage_modifiable: null, cannot_buy: null, cannot_sell_all: null, buy_tax: null },
      ...{ sell_tax: null, transfer_tax: null, buy_gas: null, sell_gas: null, approve_gas: null },
      ...{ analysis_risk_score: null, analysis_big_wallet: 0, analysis_creator_gt_5percent: null },
      ...{ analysis_lp_current_adequate: null, analysis_lp_current_volume: null, analysis_scam_wallet: null },
      holder_analysis: 'the 7 largest holders beside pools, lockers and burn addresses have 0 % of the supply',
      previous_owner: '',
    })
    expect(dex).toHaveLength(7)
    expect((dex as Json[])[1]).toEqual({ amm: 'uniswapv2', name: 'uniswapv2', pair: PAIR, liquidity: '4000' })
    expect(pair_holders_rank).toEqual([])
    const ranked = token_holders_rank as Json[]
    expect(ranked.map(({ address }) => address)).toEqual([
      ...[PAIR, DEAD, NOBODY, OWNER],
      ...[0, 1, 2, 3, 4, 5].map((n) => `0xsmall${n}`),
    ])
    expect(ranked[0]).toEqual({
      ...{ address: PAIR, percent: 0.3, quantity: '300000', mark: '', is_contract: 1, is_lp: 1, lock: [] },
    })
    expect(ranked[1]).toMatchObject({ mark: 'burn', is_contract: null, is_lp: 0 })
  })

  it('returns null for an unknown token', async () => {
    const response = await rig.get(`/v2/contracts/${NOBODY}-eth`)
    expect([response.status, response.headers.get('x-reason')]).toEqual([200, 'unknown_token'])
    expect(await response.json()).toMatchObject({ msg: 'token not found', data: null })
  })
})

describe('GET /v2/tokens/top100/{token-id}', () => {
  const holders = async (query = '') => {
    const response = await rig.get(`/v2/tokens/top100/${TOKEN}-eth${query}`)
    return { response, list: (await response.json()) as Json[] }
  }

  it('returns a bare array with burn addresses, largest first, ties by address', async () => {
    const { response, list } = await holders()
    expect([response.status, response.headers.get('x-cu-cost')]).toEqual([200, '10'])
    expect(list.map((one) => one.holder)).toEqual([
      ...[PAIR, DEAD, NOBODY, OWNER],
      ...Array.from({ length: 10 }, (_, n) => `0xsmall${n}`),
    ])
    expect(list[1]).toEqual({
      ...{ holder: DEAD, address: DEAD, balance_ratio: 0.09, balance_usd: 180_000, main_coin_balance: null },
      ...{ amount_cur: 90_000, buy_tx_count_cur: 0, sell_tx_count_cur: 0, buy_amount_cur: 0, sell_amount_cur: 0 },
      ...{ buy_volume_cur: 0, sell_volume_cur: 0, avg_purchase_price: null, avg_sale_price: null },
      ...{ realized_profit: null, unrealized_profit: null, total_profit: null, trade_first_at: 0, trade_last_at: 0 },
      ...{ realized_profit_ratio: null, unrealized_profit_ratio: null, total_profit_ratio: null, last_txn_time: 0 },
      ...{ max_single_purchase_usd: null, max_single_sold_usd: null, max_txn_usd: null, addr_alias: 'Burn address' },
      ...{ transfer_in: null, transfer_out: null, total_transfer_in_usd: null },
      complete_since: T0 - 1000,
      holders_complete_since: null,
    })
  })

  it('returns a holder’s buys, sells and native balance', async () => {
    const bought = { ...trade({ wallet: OWNER, amount_out: '8000000', amount_usd: 4 }), sell: 0 }
    const sold = { ...trade({ wallet: OWNER, amount_in: '2000000', amount_usd: 3, log_index: 8 }), sell: 1 }
    const unpriced = { ...trade({ wallet: OWNER, amount_out: '1000000', log_index: 9 }), sell: 0, amount_usd: null }
    const place = { chain: CHAIN, pair: PAIR, block_number: 90, version: 1 }
    await rig.store.insert(
      'trade_rows',
      [bought, sold, unpriced].map((one, n) => row('trade_rows', { ...one, ...place, time: T0 - 90 + n })).join(''),
    )
    await rig.store.insert('holder_rows', holder(WETH, OWNER, '1500000000000000000'))
    const { list } = await holders('?limit=4')
    // 8 of 9 tokens were bought at a known price of 0.5; 2 were sold at 1.5; 5 are held at 2.
    expect(list[3]).toMatchObject({
      ...{ holder: OWNER, amount_cur: 5, main_coin_balance: 1.5, buy_tx_count_cur: 2, sell_tx_count_cur: 1 },
      ...{ buy_amount_cur: 9, sell_amount_cur: 2, buy_volume_cur: 4, sell_volume_cur: 3, avg_purchase_price: 0.5 },
      ...{ avg_sale_price: 1.5, realized_profit: 2, unrealized_profit: 7.5, total_profit: 9.5 },
      ...{ trade_first_at: T0 - 90, trade_last_at: T0 - 88 },
    })
    expect(list).toHaveLength(4)
  })

  it('gives the reason for an empty result', async () => {
    const quiet = await rig.get(`/v2/tokens/top100/${QUIET}-eth`)
    expect([quiet.headers.get('x-reason'), await quiet.json()]).toEqual(['no_holders', []])
    const unknown = await rig.get(`/v2/tokens/top100/${NOBODY}-eth`)
    expect([unknown.headers.get('x-reason'), await unknown.json()]).toEqual(['unknown_token', []])
  })

  it.each(['limit=0', 'limit=101', 'limit=x', 'limit=', 'limit=1&limit=1'])('?%s is 400', async (query) => {
    expect((await rig.get(`/v2/tokens/top100/${TOKEN}-eth?${query}`)).status).toBe(400)
  })
})

it('does not know a token that a reorg removed', async () => {
  await rig.feed(update({ seq: 2, kind: 'retract', number: 99, gone_tokens: [RISKY] }))
  for (const path of ['tokens', 'contracts', 'tokens/top100']) {
    expect((await rig.get(`/v2/${path}/${RISKY}-eth`)).headers.get('x-reason')).toBe('unknown_token')
  }
})
