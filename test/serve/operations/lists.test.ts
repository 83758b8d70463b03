import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokenInfo } from '../../../services/core/domain/records.js'
import { TOKEN_FIELDS } from '../fields.js'
import { type Rig, startRig } from '../rig.js'
import {
  type GivenToken,
  PAIR,
  pairInfo,
  pairUpdate,
  T0,
  tokenInfo,
  tokenUpdate,
  USDC,
  update,
  updateWindows,
  WETH,
} from '../updates.js'

let rig: Rig
type Json = Record<string, unknown>
const USDT = '0xdac17f958d2ee523a2206206994597c13d831ec7'
const DAI = '0x6b175474e89094c44da98b954eedeac495271d0f'
const WBTC = '0x2260fac5e5542a773aa44fbcfedf7c193bc2c599'
const ARBITRUM_WETH = '0x82af49447d8a07e3bd95bd0d56f35241523fbab1'
const address = (n: number) => `0x${String(n).padStart(40, '0')}`

/** A token whose whole volume of the day was traded in the last hour. */
const token = (n: number, given: Partial<TokenInfo>, more: GivenToken & { volume?: number } = {}) => {
  const { volume = 0, ...rest } = more
  const traded = { buy_volume: volume, sell_volume: 0, buys: volume > 0 ? 1 : 0, sells: 0, makers: 1 }
  return tokenUpdate({
    ...{ token: address(n), info: tokenInfo(given), main_pair: null, windows: updateWindows(traded) },
    ...rest,
  })
}
const launched = (n: number, stage: string, progress: number, volume: number, given: Partial<TokenInfo> = {}) =>
  token(
    n,
    {
      symbol: `L${n}`,
      launch_platform: 'pump',
      launch_stage: stage,
      launch_progress: progress,
      created_at: T0 + n,
      ...given,
    },
    { volume, tvl: volume },
  )

const list = async (path: string) => {
  const response = await rig.get(path)
  const body = (await response.json()) as Json[]
  return { response, body, symbols: Array.isArray(body) ? body.map(({ symbol }) => symbol) : body }
}

type TrendingPage = {
  tokens: Json[]
  next_page: number
  current_page_size: number
  total: number
  next_cursor?: string
}

const trendingPage = async (query: string) =>
  (await (await rig.get(`/v2/tokens/trending?chain=eth&${query}`)).json()) as TrendingPage

beforeAll(async () => {
  rig = await startRig()
  const cash = (one: string, symbol: string, tvl: number) =>
    tokenUpdate({
      token: one,
      info: tokenInfo({ symbol, name: symbol }),
      tvl,
      main_pair: null,
      windows: updateWindows({ buys: 0, sells: 0 }),
    })
  await rig.append(
    update({
      pairs: [
        pairUpdate({ info: pairInfo({ token0: address(1) }), tvl: 77 }),
        pairUpdate({ pair: address(900), info: pairInfo({ token0: address(24), created_at: T0 + 500 }) }),
        pairUpdate({ pair: address(901), info: pairInfo({ token0: address(25), created_at: T0 + 400 }) }),
      ],
      tokens: [
        ...[cash(WBTC, 'WBTC', 9), cash(DAI, 'DAI', 5), cash(USDT, 'USDT', Number.NaN), cash(USDC, 'USDC', 3)],
        cash(WETH, 'WETH', 1),
        token(1, { symbol: 'PEPE', name: 'Pepe', total_supply: '1000000' }, { volume: 10, main_pair: PAIR }),
        token(
          2,
          { symbol: 'pepe', name: 'Other pepe', total_supply: null },
          { volume: 20, price_usd: Number.NaN, tvl: Number.NaN },
        ),
        token(3, { symbol: 'PEPE2', name: 'Second', total_supply: '9000000' }, { volume: 500, tvl: 1 }),
        token(4, { symbol: 'XPEPE', name: null }, { volume: 900, tvl: 1000 }),
        token(5, { symbol: 'ABC', name: 'pepe' }, { volume: 1 }),
        token(6, { symbol: 'a.c', name: 'Dots (and) [more]' }),
        token(7, { symbol: null, name: null, decimals: null }),
        ...[launched(20, 'created', Number.NaN, 5), launched(21, 'curve', 0.8, 50), launched(22, 'curve', 0.79, 40)],
        ...[launched(23, 'curve', 0.95, 30), launched(24, 'graduated', 1, 20, { launch_pool: address(900) })],
        launched(25, 'graduated', 1, 60, { launch_pool: address(901) }),
        launched(26, 'curve', 0.9, 70, { launch_platform: 'bonk' }),
      ],
    }),
    update({ chain: 'bsc', now: T0 + 9, tokens: [token(1, { symbol: 'PEPE', name: 'On bsc' }, { volume: 15 })] }),
  )
  await rig.start()
}, 60_000)
afterAll(() => rig.stop())

describe('GET /v2/tokens', () => {
  it('returns a bare array with every field, ordered by volume', async () => {
    const { response, body, symbols } = await list('/v2/tokens?keyword=pepe&chain=eth')
    expect([response.status, response.headers.get('x-cu-cost')]).toEqual([200, '5'])
    expect(symbols).toEqual(['XPEPE', 'PEPE2', 'pepe', 'PEPE', 'ABC'])
    expect(body.flatMap((one) => TOKEN_FIELDS.filter((field) => !(field in one)))).toEqual([])
    expect(body[3]).toMatchObject({ market_cap: '2', main_pair_tvl: '77', burn_amount: '0' })
  })

  it.each([
    ['market_cap', ['ABC', 'PEPE', 'pepe']],
    ['fdv', ['ABC', 'PEPE', 'pepe']],
    ['main_pair_tvl', ['PEPE', 'pepe', 'ABC']],
    ['tx_volume_u_24h', ['pepe', 'PEPE', 'ABC']],
  ])('orders by %s with unknown values last, and prefers exact matches over the limit', async (orderby, exact) => {
    const { symbols } = await list(`/v2/tokens?keyword=PEPE&chain=eth&limit=3&orderby=${orderby}`)
    expect(symbols).toEqual(exact)
  })

  it('searches all chains unless one is given', async () => {
    const { response, body } = await list('/v2/tokens?keyword=PEPE&limit=3')
    expect(body.map(({ chain, symbol }) => [chain, symbol])).toEqual([
      ['eth', 'pepe'],
      ['bsc', 'PEPE'],
      ['eth', 'PEPE'],
    ])
    expect(response.headers.get('x-as-of')).toBe(`${T0 + 1}; bsc=${T0 + 9}; eth=${T0 + 1}`)
  })

  it('finds by address in any case or by part of it, and takes a keyword literally', async () => {
    const found = (await list(`/v2/tokens?keyword=${WETH.toUpperCase().replace('0X', '0x')}`)).symbols
    expect(found).toEqual(['WETH'])
    expect((await list(`/v2/tokens?keyword=${WETH.slice(0, 12)}`)).symbols).toEqual(['WETH'])
    expect((await list('/v2/tokens?keyword=a.c')).symbols).toEqual(['a.c'])
    expect((await list(`/v2/tokens?keyword=${encodeURIComponent('(and) [')}`)).symbols).toEqual(['a.c'])
    expect((await list('/v2/tokens?keyword=%20weth%20')).symbols).toEqual(['WETH'])
  })

  it('returns an empty array with a reason when nothing matches', async () => {
    const { response, body } = await list('/v2/tokens?keyword=nosuchthing')
    expect([body, response.headers.get('x-reason')]).toEqual([[], 'unknown_token'])
  })

  it.each([
    ['', 'query_invalid'],
    ['keyword=', 'query_invalid'],
    ['keyword=%20', 'query_invalid'],
    ['keyword=a&keyword=b', 'query_invalid'],
    [`keyword=${'a'.repeat(129)}`, 'query_invalid'],
    ['keyword=a&limit=0', 'query_invalid'],
    ['keyword=a&limit=301', 'query_invalid'],
    ['keyword=a&orderby=name', 'query_invalid'],
    ['keyword=a&chain=', 'query_invalid'],
    ['keyword=a&chain=moon', 'chain_unknown'],
  ])('?%s is 400', async (query, code) => {
    const { response, body } = await list(`/v2/tokens?${query}`)
    expect([response.status, (body as unknown as Json).code]).toEqual([400, code])
  })

  it('ignores an unknown parameter', async () => {
    expect((await list('/v2/tokens?keyword=WETH&colour=red')).symbols).toEqual(['WETH'])
  })
})

describe('GET /v2/tokens/main', () => {
  it('lists native, anchor, stables and majors, the deepest of each class first', async () => {
    const { response, body, symbols } = await list('/v2/tokens/main?chain=eth')
    expect([response.status, response.headers.get('x-cu-cost')]).toEqual([200, '5'])
    expect(symbols).toEqual(['WETH', 'USDC', 'DAI', 'USDT', 'WBTC'])
    expect(body.flatMap((one) => TOKEN_FIELDS.filter((field) => !(field in one)))).toEqual([])
    expect(body[1]).toMatchObject({ token: USDC, current_price_usd: '1', main_pair: '' })
    expect(body[3]).toMatchObject({ tvl: '', logo_url: '', holders: 12 })
  })

  it('lists only tokens seen on the chain', async () => {
    const { response, body } = await list('/v2/tokens/main?chain=bsc')
    expect([body, response.headers.get('x-reason')]).toEqual([[], 'no_main_tokens'])
  })

  it.each(['', '?chain=', '?chain=moon', '?chain=eth&chain=bsc'])('%s is 400', async (query) => {
    expect((await rig.get(`/v2/tokens/main${query}`)).status).toBe(400)
  })
})

describe('GET /v2/tokens/trending', () => {
  const page = trendingPage

  it('ranks by demand capped by liquidity, unknown liquidity last', async () => {
    const { tokens, ...rest } = await page('')
    expect(rest).toEqual({ current_page_size: 12, next_page: -1, total: 12 })
    // PEPE2 trades 500 on a TVL of 1, which counts as 10.
    expect(tokens.map(({ symbol }) => symbol)).toEqual([
      ...['XPEPE', 'L26', 'L25', 'L21', 'L22', 'L23', 'L24', 'PEPE', 'L20', 'ABC', 'PEPE2', 'pepe'],
    ])
  })

  it('pages through the list; the last page has no next', async () => {
    const pages = [
      await page('page_size=5'),
      await page('page_size=5&current_page=1'),
      await page('limit=5&current_page=2'),
    ]
    expect(pages.map(({ current_page_size, next_page }) => [current_page_size, next_page])).toEqual([
      [5, 1],
      [5, 2],
      [2, -1],
    ])
    const all = (await page('')).tokens.map(({ token }) => token)
    expect(pages.flatMap(({ tokens }) => tokens.map(({ token: one }) => one))).toEqual(all)
    expect(await page('current_page=3&page_size=5')).toEqual({
      current_page_size: 0,
      next_page: -1,
      total: 12,
      tokens: [],
    })
    expect((await page('current_page=2&page_size=4')).next_page).toBe(-1)
  })

  it.each(['current_page=-1', 'page_size=0', 'page_size=101', 'limit=101', 'current_page=x'])(
    '%s is 400',
    async (query) => {
      expect((await rig.get(`/v2/tokens/trending?chain=eth&${query}`)).status).toBe(400)
    },
  )

  it('requires a chain', async () => {
    expect((await rig.get('/v2/tokens/trending')).status).toBe(400)
  })
})

describe('GET /v2/tokens/platform', () => {
  const symbols = async (query: string) => (await list(`/v2/tokens/platform?${query}`)).symbols

  it.each([
    ['tag=pump_in_hot', ['L21', 'L22', 'L23', 'L20']],
    ['tag=pump_in_new', ['L21', 'L22', 'L23', 'L20']],
    ['tag=pump_in_new&limit=2', ['L22', 'L23']],
    ['tag=pump_in_almost', ['L21', 'L23']],
    ['tag=pump_out_hot', ['L25', 'L24']],
    ['tag=pump_out_new', ['L25', 'L24']],
    ['tag=pump_out_new&limit=1', ['L24']],
    ['tag=bonk_in_almost', ['L26']],
    ['tag=bonk_out_hot', []],
    ['tag=pump', ['L25', 'L21', 'L22', 'L23', 'L24', 'L20']],
    ['tag=meme', ['L26', 'L25', 'L21', 'L22', 'L23', 'L24', 'L20']],
    ['tag=hot&limit=2', ['L26', 'L25']],
    ['tag=new&limit=2', ['L26', 'L25']],
    ['tag=pump_in_hot&orderby=created_at', ['L23', 'L22', 'L21', 'L20']],
    ['tag=pump_in_new&orderby=tx_volume_u_24h', ['L21', 'L22', 'L23', 'L20']],
    ['tag=pump_out_hot&orderby=main_pair_tvl', ['L24', 'L25']],
    ['tag=meme&chain=bsc', []],
    ['tag=neverseen_in_hot', []],
    ['tag=moonshot', []],
    ['tag=pump_all_in_hot', ['L21', 'L22', 'L23', 'L20']],
    ['tag=pump_all_out_new&limit=1', ['L24']],
    ['tag=new&chain=bsc', ['PEPE']],
    ['tag=new&chain=eth&limit=2', ['L26', 'L25']],
  ])('?%s', async (query, expected) => expect(await symbols(query)).toEqual(expected))

  it('says how far the curve is filled', async () => {
    const { body } = await list('/v2/tokens/platform?tag=pump_in_almost')
    expect(body.map(({ symbol, launch_progress }) => [symbol, launch_progress])).toEqual([
      ['L21', '0.8'],
      ['L23', '0.95'],
    ])
  })

  it.each(['alpha', 'gold', 'inclusion'])('tag %s gives an empty list with the reason', async (tag) => {
    const { response, body } = await list(`/v2/tokens/platform?tag=${tag}`)
    expect([response.status, response.headers.get('x-reason'), body]).toEqual([200, 'tag_without_rule', []])
  })

  it.each(['cold', 'pump_in', 'pump_out_almost', 'pump_in_warm', '_in_hot'])(
    'tag %s is 400 and lists the known forms',
    async (tag) => {
      const { response, body } = await list(`/v2/tokens/platform?tag=${tag}`)
      expect([response.status, (body as unknown as Json).code]).toEqual([400, 'tag_unknown'])
      expect((body as unknown as Json).detail).toContain('<platform>_in_almost')
    },
  )

  it.each(['', 'tag=', 'tag=meme&limit=301', 'tag=meme&orderby=fdv', 'tag=meme&chain=moon'])(
    '?%s is 400',
    async (query) => {
      expect((await rig.get(`/v2/tokens/platform?${query}`)).status).toBe(400)
    },
  )
})

describe('GET /v2/supported_chains', () => {
  it('lists the indexed chains at no cost', async () => {
    const response = await rig.get('/v2/supported_chains')
    expect([response.status, response.headers.get('x-cu-cost')]).toEqual([200, '0'])
    expect(await response.json()).toEqual({
      ...{ status: 1, msg: 'SUCCESS', data_type: 1 },
      data: [
        {
          ...{ chain: 'bsc', chain_id: 56, name: 'BNB Smart Chain', case_sensitive: false, native_symbol: '' },
          native_token: '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c',
          ...{ anchor_token: '0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d', anchor_symbol: '' },
          amms: expect.arrayContaining(['cakev2', 'pancakev3', 'fourmeme']),
        },
        {
          ...{ chain: 'eth', chain_id: 1, name: 'Ethereum', case_sensitive: false, native_token: WETH },
          ...{ native_symbol: 'WETH', anchor_token: USDC, anchor_symbol: 'USDC' },
          amms: expect.arrayContaining(['uniswapv2', 'uniswapv3', 'uniswapv4']),
        },
      ],
    })
    expect((await rig.get('/v2/supported_chains', {})).status).toBe(401)
  })
})

it('returns the same lists after a restart', async () => {
  const paths = ['/v2/tokens?keyword=pepe', '/v2/tokens/trending?chain=eth', '/v2/tokens/platform?tag=meme']
  const ask = () => Promise.all(paths.map(async (path) => await (await rig.get(path)).text()))
  const before = await ask()
  await rig.restart()
  await expect.poll(async () => (await rig.get('/ready', {})).status).toBe(200)
  expect(await ask()).toEqual(before)
})

it('answers avax as avalanche', async () => {
  const avalanche = {
    chain: 'avalanche',
    tokens: [token(1, { symbol: 'COQ', launch_platform: 'pump' }, { volume: 5 })],
  }
  await rig.feed(update(avalanche))
  for (const path of [
    '/v2/tokens/trending',
    '/v2/tokens/main',
    '/v2/tokens/platform?tag=meme',
    '/v2/tokens?keyword=c',
  ]) {
    const ask = (chain: string) => rig.get(`${path}${path.includes('?') ? '&' : '?'}chain=${chain}`)
    const [alias, named] = [await ask('avax'), await ask('avalanche')]
    expect([path, alias.status, alias.headers.get('x-as-of')]).toEqual([path, 200, String(T0 + 1)])
    expect(await alias.text()).toBe(await named.text())
  }
  const prices = await rig.post('/v2/tokens/price', { token_ids: [`${address(1)}-avax`, `${address(1)}-avalanche`] })
  expect(Object.keys(((await prices.json()) as { data: Json }).data)).toEqual([`${address(1)}-avalanche`])
})

it('lists bsc_hot, and new of bsc, by launch platform once the chain has one', async () => {
  const symbols = async (tag: string) => (await list(`/v2/tokens/platform?tag=${tag}`)).symbols
  expect([await symbols('bsc_hot'), await symbols('new&chain=bsc')]).toEqual([[], ['PEPE']])
  const four = { launch_platform: 'fourmeme', launch_stage: 'curve' }
  await rig.feed(update({ chain: 'bsc', seq: 2, number: 101, tokens: [launched(30, 'curve', 0.1, 5, four)] }))
  expect([await symbols('bsc_hot'), await symbols('new&chain=bsc')]).toEqual([['L30'], ['L30']])
  expect(await symbols('bsc_hot&chain=eth')).toEqual([])
})

it('lists an impostor below the real token, whatever its volume, and marks it', async () => {
  const fake = token(800, { symbol: ' weth', name: 'Wrapped Ether' }, { volume: 1e9, tvl: 1 })
  await rig.feed(update({ chain: 'base', tokens: [fake] }))
  await rig.feed(
    update({
      ...{ chain: 'arbitrum', now: T0 + 1 },
      tokens: [
        token(801, { symbol: 'weth', name: 'Wrapped Ether' }, { volume: 1e9, tvl: 1 }),
        tokenUpdate({ token: ARBITRUM_WETH, info: tokenInfo({ symbol: 'WETH' }), main_pair: null }),
        token(802, { symbol: 'WЕ\u200bТН', name: 'copy in Cyrillic' }),
        token(803, {
          symbol: 'X',
          name: 'copy\u202eof nothing',
          links: '{"a":"javascript:x","b":"https://b.example"}',
        }),
        token(804, { symbol: 'Y', name: `copy${'y'.repeat(900)}`, logo_url: 'data:image/png,x' }),
      ],
    }),
  )
  const copies = (await list('/v2/tokens?keyword=copy&chain=arbitrum')).body
  const marked = copies.map(({ token: one, flags, appendix, logo_url }) => [one, flags, appendix, logo_url])
  expect(marked.sort()).toEqual([
    [address(802), ['lookalike', 'hidden_characters'], '', ''],
    [address(803), ['reversed_text'], '{"b":"https://b.example"}', ''],
    [address(804), ['long_name'], '', ''],
  ])
  const { body } = await list('/v2/tokens?keyword=WETH&chain=arbitrum')
  expect(body.map(({ token: one, is_fake }) => [one, is_fake])).toEqual([
    [ARBITRUM_WETH, 0],
    [address(801), 1],
  ])
  // Without the real one in sight there is nothing to compare with.
  expect((await list('/v2/tokens?keyword=weth&chain=base')).body).toMatchObject([{ is_fake: 0 }])
})

it('neither skips nor repeats a token on pages of a cursor, while the order changes', async () => {
  const before = (await trendingPage('')).tokens.map(({ token: one }) => one)
  const first = await trendingPage('page_size=5&cursor=start')
  const moved = token(2, { symbol: 'pepe', name: 'Other pepe' }, { volume: 1e6, tvl: 1e6 })
  await rig.feed(update({ seq: 3, tokens: [moved] }))
  const second = await trendingPage(`page_size=5&cursor=${first.next_cursor}`)
  const third = await trendingPage(`page_size=5&cursor=${second.next_cursor}`)
  expect([first, second, third].flatMap(({ tokens }) => tokens.map(({ token: one }) => one))).toEqual(before)
  expect([third.next_cursor, third.total]).toEqual([undefined, before.length])
  expect((await trendingPage('')).tokens[0]?.token).toBe(address(2))
  const unknown = await rig.get('/v2/tokens/trending?chain=eth&cursor=t0.5')
  expect([unknown.status, await unknown.json()]).toMatchObject([400, { code: 'cursor_invalid' }])
})
