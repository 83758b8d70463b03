import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashKey } from '../../services/core/keys/key-store.js'
import { missingFields } from './fields.js'
import { KEY, keyRecord, type Rig, startRig } from './rig.js'
import {
  DAY_S,
  firstUpdate,
  OTHER_PAIR,
  PAIR,
  pairUpdate,
  T0,
  TOKEN,
  tokenUpdate,
  trade,
  USDC,
  update,
  WETH,
} from './updates.js'

let rig: Rig
type Json = Record<string, unknown>
const json = async (response: Response) => (await response.json()) as Json & { data: Json & Json[] }

beforeAll(async () => {
  rig = await startRig()
  const sale = { sell: true, amount_in: '250', amount_usd: 0.5, price_usd: 1.75 }
  await rig.append(firstUpdate([trade(sale), trade({ id: '100-8', log_index: 8 })]))
  await rig.start()
  await rig.feed(update({ seq: 2, number: 101, tokens: [tokenUpdate({ token: `0x${'22'.repeat(20)}`, tvl: 10 })] }))
}, 60_000)
afterAll(() => rig.stop())

describe('GET /v2/pairs/{pair-id}', () => {
  it('returns every field in the envelope, with exact amounts and changes in percent', async () => {
    const response = await rig.get(`/v2/pairs/${PAIR.toUpperCase().replace('0X', '0x')}-eth`)
    const body = await json(response)
    expect(response.status).toBe(200)
    expect([body.status, body.msg, body.data_type]).toEqual([1, 'SUCCESS', 1])
    expect(missingFields('pairDetail', body.data)).toEqual([])
    expect(body.data).toMatchObject({
      pair: PAIR,
      chain: 'eth',
      amm: 'uniswapv2',
      target_token: TOKEN,
      token0_symbol: 'TKN',
      token0_decimal: 6,
      token0_price_usd: '2',
      token0_price_eth: '0.002',
      token1_symbol: 'WETH',
      token1_price_usd: '1000',
      token1_price_eth: '1',
      reserve0: '5000000',
      reserve1: '2',
      init_reserve0: '1000',
      init_reserve1: '1',
      tvl: '4000',
      fdv: '2000000',
      market_cap: '2000000',
      open_price: '0.5',
      price_ath_u: '3',
      high_u: '2.5',
      low_u: '1.5',
      price_change_1d: '60',
      price_change_24h: '25',
      volume_u_24h: '42.5',
      tx_24h_count: 5,
      makers_15m: 3,
      ...{ buys_tx_1m_count: 1, sells_tx_1m_count: 1, tx_5m_count: 2, volume_u_5m: '1.5', sell_volume_u_1m: '0.5' },
      ...{ buyers_1m: 1, sellers_1m: 1, makers_1m: 1, price_change_1m: '25', price_change_5m: '25' },
      last_trade_at: T0 + 1,
    })
    expect(response.headers.get('x-as-of')).toBe(String(T0 + 1))
    expect(response.headers.get('x-cu-cost')).toBe('5')
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  })

  it('returns unknown values as unknown', async () => {
    const unknown = await rig.get(`/v2/pairs/0x${'00'.repeat(20)}-eth`)
    expect([unknown.status, unknown.headers.get('x-reason')]).toEqual([200, 'unknown_pair'])
    expect(await unknown.json()).toEqual({ status: 1, msg: 'pair not found', data_type: 1, data: null })
    const quiet = await rig.get(`/v2/pairs/${OTHER_PAIR}-eth`)
    expect(quiet.headers.get('x-reason')).toBe('no_trades')
    expect((await json(quiet)).data).toMatchObject({ token0_price_usd: null, fdv: null, price_change_24h: null })
  })
})

describe('POST /v2/tokens/price', () => {
  it('returns every field keyed by token-id, without unknown ids', async () => {
    const body = await json(
      await rig.post('/v2/tokens/price', { token_ids: [`${TOKEN}-eth`, `0x${'00'.repeat(20)}-eth`] }),
    )
    expect(Object.keys(body.data)).toEqual([`${TOKEN}-eth`])
    const entry = body.data[`${TOKEN}-eth`] as unknown as Json
    expect(missingFields('tokensPrice', entry)).toEqual([])
    expect(entry).toEqual({
      token_id: `${TOKEN}-eth`,
      current_price_usd: '2',
      price_change_1d: '60',
      price_change_24h: '25',
      tvl: '4000',
      market_cap: '2000000',
      fdv: '2000000',
      holders: 12,
      tx_volume_u_24h: '42.5',
      updated_at: T0 + 1,
    })
  })

  it.each([
    [{}, [TOKEN, WETH]],
    [{ tvl_min: 0 }, [TOKEN, `0x${'22'.repeat(20)}`, WETH]],
    [{ tvl_min: 4000.5 }, [WETH]],
    [{ tvl_min: 0, tx_24h_volume_min: 42.6 }, []],
  ])('filters by %j and keeps tokens with unknown TVL', async (filter, kept) => {
    const token_ids = [TOKEN, `0x${'22'.repeat(20)}`, WETH].map((token) => `${token}-eth`)
    const body = await json(await rig.post('/v2/tokens/price', { token_ids, ...filter }))
    expect(Object.keys(body.data)).toEqual(kept.map((token) => `${token}-eth`))
  })

  it('counts duplicates once and rejects more than 200 ids', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, n) => `0x${n.toString(16).padStart(40, '0')}-eth`)
    expect((await rig.post('/v2/tokens/price', { token_ids: [...ids(200), ...ids(200)] })).status).toBe(200)
    expect((await rig.post('/v2/tokens/price', { token_ids: ids(201) })).status).toBe(400)
    expect((await rig.post('/v2/tokens/search', { token_ids: ids(51) })).status).toBe(400)
  })
})

describe('a batch with ids of chains that are not indexed', () => {
  const UNKNOWN = [`${TOKEN}-moon`, `${TOKEN.toUpperCase().replace('0X', '0x')}-mars`]

  it.each(['price', 'search'])('answers the rest of tokens/%s and says which were unknown', async (name) => {
    const ask = (...token_ids: string[]) => rig.post(`/v2/tokens/${name}`, { token_ids })
    const alone = await json(await ask(`${TOKEN}-eth`))
    const mixed = await ask(`${TOKEN}-moon`, `${TOKEN}-eth`, ...UNKNOWN)
    expect([mixed.status, mixed.headers.get('x-reason'), mixed.headers.get('x-as-of')]).toEqual([
      ...[200, 'chain_unknown', String(T0 + 1)],
    ])
    expect(await json(mixed)).toEqual({ ...alone, unknown_ids: UNKNOWN })
    expect(alone).not.toHaveProperty('unknown_ids')
  })

  it('is 400 if no chain is indexed, or another id is malformed', async () => {
    const codes = [UNKNOWN, [...UNKNOWN, `${TOKEN}-eth`, 'a b-eth'], [...UNKNOWN, `${TOKEN}-eth`, 'a b-moon']].map(
      async (token_ids) => (await json(await rig.post('/v2/tokens/price', { token_ids }))).code,
    )
    expect(await Promise.all(codes)).toEqual(['chain_unknown', 'id_malformed', 'id_malformed'])
  })

  it('counts them towards the maximum', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, n) => `0x${n}-moon`)
    const ask = (count: number) => rig.post('/v2/tokens/search', { token_ids: [`${TOKEN}-eth`, ...ids(count)] })
    expect([(await ask(49)).status, (await ask(50)).status]).toEqual([200, 400])
  })
})

describe('POST /v2/tokens/search', () => {
  it('returns every field', async () => {
    const body = await json(await rig.post('/v2/tokens/search', { token_ids: [`${TOKEN}-eth`, `${WETH}-eth`] }))
    expect(body.data.map((entry) => missingFields('tokensSearch', entry))).toEqual([[], []])
    expect(body.data[0]).toMatchObject({
      token: TOKEN,
      decimal: 6,
      total: '1000000',
      current_price_eth: '0.002',
      main_pair: PAIR,
      main_pair_tvl: '4000',
      is_honeypot: -1,
      risk_score: null,
      burn_amount: '0',
      ...{ token_tx_count_5m: 2, token_makers_5m: 1, token_tx_volume_usd_1m: '1.5', token_price_change_5m: '25' },
      token_buy_tx_volume_usd_1h: '30',
      token_price_change_24h: '25',
      token_price_24h_high: '2.5',
    })
    expect(body.data[1]).toMatchObject({ symbol: 'WETH', total: null, market_cap: null, main_pair: '' })
    expect(body.data[1]).toMatchObject({ current_price_eth: '1', current_price_usd: '1000' })
  })
})

it('derives the native price of anchor and stables, which no update carries', async () => {
  const anchor = tokenUpdate({ token: USDC, price_usd: 1, price_native: Number.NaN, main_pair: null })
  await rig.feed(update({ seq: 3, number: 101, tokens: [anchor] }))
  const body = await json(await rig.post('/v2/tokens/search', { token_ids: [`${USDC}-eth`] }))
  expect(body.data[0]).toMatchObject({ current_price_usd: '1', current_price_eth: '0.001', price_change_24h: null })
})

describe('price_change_1d', () => {
  it('is 0 for a pair that has not moved since midnight', async () => {
    const time = DAY_S + 86_400 + 60
    await rig.feed(update({ seq: 4, number: 102, time, now: time }))
    const { data } = await json(await rig.get(`/v2/pairs/${PAIR}-eth`))
    expect(data).toMatchObject({ price_change_1d: '0', tx_24h_count: 5, tx_5m_count: 0, price_change_5m: '0' })
    await rig.feed(update({ seq: 5, number: 103, pairs: [pairUpdate({ info: null })] }))
  })
})

describe('invalid requests', () => {
  const good = { token_ids: [`${TOKEN}-eth`] }
  it.each([
    ['malformed JSON', '{"token_ids":[', {}, 'json_malformed'],
    ['a poisoned prototype', '{"__proto__":{},"token_ids":[]}', {}, undefined],
    ['no body', '', {}, undefined],
    ['another content type', 'a=b', { 'content-type': 'text/csv' }, 'content_type_unsupported'],
    ['a huge body', JSON.stringify({ token_ids: ['x'.repeat(1_100_000)] }), {}, 'body_too_large'],
    ['an array for a body', [1], {}, 'body_invalid'],
    ['null for a body', 'null', {}, 'body_invalid'],
    ['a string for token_ids', { token_ids: `${TOKEN}-eth` }, {}, 'body_invalid'],
    ['numbers for token_ids', { token_ids: [1] }, {}, 'body_invalid'],
    ['no ids', { token_ids: [] }, {}, 'body_invalid'],
    ['an id without a chain', { token_ids: [TOKEN] }, {}, 'id_malformed'],
    ['an empty id', { token_ids: [''] }, {}, 'id_malformed'],
    ['an id that is not an address', { token_ids: ['a b-eth'] }, {}, 'id_malformed'],
    ['a chain that is not indexed', { token_ids: [`${TOKEN}-moon`] }, {}, 'chain_unknown'],
    ['a negative threshold', { ...good, tvl_min: -1 }, {}, 'body_invalid'],
    ['a threshold as text', { ...good, tvl_min: '5' }, {}, 'body_invalid'],
  ])('%s is 400 with the reason', async (_name, body, headers, code) => {
    const response = await rig.post('/v2/tokens/price', body, { 'x-api-key': KEY, ...headers })
    const problem = await json(response)
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(problem).toMatchObject({
      status: 400,
      title: 'Bad request',
      type: expect.stringMatching(/^urn:dextape:problem:/),
    })
    expect([problem.msg, problem.message]).toEqual([problem.detail, problem.detail])
    if (code !== undefined) expect(problem.code).toBe(code)
  })

  it.each([
    '/v2/pairs/%zz',
    `/v2/pairs/${'x'.repeat(3000)}-eth`,
    '/v2/pairs/-eth',
    '/v2/pairs/0x-moon',
    '/v2/pairs/%00-eth',
    '/v2/pairs/a%2Fb-eth',
    '/v2/klines/pair/nothing',
  ])('%s is 400', async (path) => {
    const response = await rig.get(path)
    expect([response.status, (await json(response)).status]).toEqual([400, 400])
  })

  it('answers an unknown path with a 404 problem', async () => {
    expect(await json(await rig.get('/v3/nothing'))).toMatchObject({ status: 404, code: 'route_unknown' })
  })
})

describe('keys', () => {
  const ask = (key?: string) => rig.get(`/v2/pairs/${PAIR}-eth`, key === undefined ? {} : { 'x-api-key': key })
  const add = (key: string, given: Parameters<typeof keyRecord>[0]) =>
    rig.keys.set(hashKey(key), keyRecord({ id: key, ...given }))

  it('answers 401 to missing, unknown and revoked keys, 403 to expired ones', async () => {
    add('revoked', { revokedAtMs: 1 })
    add('expired', { expiresAtMs: 1 })
    const answers = await Promise.all([ask(), ask('wrong'), ask('revoked'), ask('expired')])
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 403])
    expect(await answers[0]?.json()).toMatchObject({ code: 'key_missing' })
  })

  it('answers 429 with Retry-After over the rate limit', async () => {
    add('slow', { ratePerS: 2 })
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('slow')))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(4)
    expect(refused[0]?.headers.get('retry-after')).toBe('1')
    expect(await refused[0]?.json()).toMatchObject({ code: 'rate_limited' })
    expect(answers.find(({ status }) => status === 200)?.headers.get('ratelimit-policy')).toBe('"default";q=2;w=1')
  })

  it('answers 429 when the quota is spent; errors cost nothing', async () => {
    add('poor', { quotaCu: 9 })
    expect((await rig.get('/v2/pairs/nothing', { 'x-api-key': 'poor' })).status).toBe(400)
    const first = await ask('poor')
    expect([first.status, first.headers.get('x-cu-remaining')]).toEqual([200, '4'])
    const second = await ask('poor')
    expect([second.status, Number(second.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(await second.json()).toMatchObject({ code: 'cu_exhausted', reset_at: expect.any(Number) })
  })
})

describe('without a key', () => {
  it('answers /health, /ready, /status and /metrics', async () => {
    expect(await (await rig.get('/health', {})).json()).toEqual({ status: 'ok' })
    expect((await rig.get('/ready', {})).status).toBe(200)
    const { chains } = (await (await rig.get('/status', {})).json()) as { chains: Json[] }
    expect(chains).toHaveLength(1)
    expect(chains[0]).toMatchObject({
      ...{ chain: 'eth', source: '', head: 103, time: T0 + 1, indexed_from: null, finalized: 80, last_reorg: null },
      ...{ dead_letters: 0, epoch: 1, seq: 5, gaps: 0, stopped: null },
      ...{ lag_s: expect.any(Number), source_age_s: expect.any(Number) },
    })
    const metrics = await (await rig.get('/metrics', {})).text()
    expect(metrics).toContain('dextape_serve_updates_applied_total{chain="eth"} 5')
    expect(metrics).not.toContain(KEY)
  })
})
