/** Rules of every operation: keys, errors, methods, envelopes, costs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDataDir } from '../../../services/core/data-dir/data-dir.js'
import { hashKey, openKeyStore } from '../../../services/core/keys/key-store.js'
import { OPERATIONS } from '../../../services/serve/rest/operations/index.js'
import { KEY, keyRecord, type Rig, startRig } from '../rig.js'
import { firstUpdate, PAIR, T0, TOKEN } from '../updates.js'

let rig: Rig
const NOV_15 = Date.UTC(2026, 10, 15)
type Json = Record<string, unknown>
const WALLET = `0x${'77'.repeat(20)}`

/** A request that succeeds. */
const ASK: Record<string, { path: string; body?: unknown }> = {
  tokensPrice: { path: '/v2/tokens/price', body: { token_ids: [`${TOKEN}-eth`] } },
  tokensSearch: { path: '/v2/tokens/search', body: { token_ids: [`${TOKEN}-eth`] } },
  tokensKeyword: { path: '/v2/tokens?keyword=TKN' },
  tokenDetail: { path: `/v2/tokens/${TOKEN}-eth` },
  contracts: { path: `/v2/contracts/${TOKEN}-eth` },
  tokensTop100: { path: `/v2/tokens/top100/${TOKEN}-eth` },
  tokensHolders: { path: `/v2/tokens/holders/${TOKEN}-eth` },
  tokensMain: { path: '/v2/tokens/main?chain=eth' },
  tokensTrending: { path: '/v2/tokens/trending?chain=eth' },
  tokensPlatform: { path: '/v2/tokens/platform?tag=meme' },
  pairDetail: { path: `/v2/pairs/${PAIR}-eth` },
  pairHistory: { path: `/v2/pairs/${PAIR}-eth/history` },
  tokenHistory: { path: `/v2/tokens/${TOKEN}-eth/history` },
  holdersHistory: { path: `/v2/tokens/holders/${TOKEN}-eth/history` },
  klinesPair: { path: `/v2/klines/pair/${PAIR}-eth?interval=1` },
  klinesToken: { path: `/v2/klines/token/${TOKEN}-eth?interval=1` },
  candlesAudit: { path: `/v2/candles/audit?pair_id=${PAIR}-eth&interval=60&time=${T0}` },
  txsSwap: { path: `/v2/txs/swap/${PAIR}-eth` },
  txsLiq: { path: `/v2/txs/liq/${PAIR}-eth` },
  pricePath: { path: `/v2/txs/price/${PAIR}-eth` },
  supportedChains: { path: '/v2/supported_chains' },
  ranksTopics: { path: '/v2/ranks/topics' },
  ranks: { path: '/v2/ranks?topic=hot' },
  txsDetail: { path: `/v2/txs/detail?chain=eth&account_address=${WALLET}&tx_hash=0xhash` },
  addressTx: { path: `/v2/address/tx?wallet_address=${WALLET}&chain=eth` },
  addressPnl: { path: `/v2/address/pnl?wallet_address=${WALLET}&chain=eth&token_address=${TOKEN}` },
  addressWalletinfo: { path: `/v2/address/walletinfo?wallet_address=${WALLET}&chain=eth` },
  addressWalletinfoTokens: { path: `/v2/address/walletinfo/tokens?wallet_address=${WALLET}&chain=eth` },
  signalsPublic: { path: '/v2/signals/public/list?chain=eth' },
  addressSmartWallets: { path: '/v2/address/smart_wallet/list?chain=eth' },
}
const COSTS: Record<string, number> = {
  ...{ tokensPrice: 100, tokensSearch: 100, tokensKeyword: 5, tokenDetail: 5, contracts: 10, tokensTop100: 10 },
  ...{ tokensMain: 5, tokensTrending: 5, tokensPlatform: 10, pairDetail: 5, klinesPair: 10, klinesToken: 10 },
  ...{
    pairHistory: 10,
    tokenHistory: 10,
    holdersHistory: 10,
    pricePath: 50,
    candlesAudit: 50,
    txsSwap: 50,
    txsLiq: 50,
    supportedChains: 0,
  },
  ...{ tokensHolders: 10, ranksTopics: 5, ranks: 5, txsDetail: 50, addressTx: 100, addressPnl: 5 },
  ...{ addressWalletinfo: 5, addressWalletinfoTokens: 10, addressSmartWallets: 5, signalsPublic: 5 },
}
const BARE = ['tokensKeyword', 'tokensTop100', 'tokensMain', 'tokensTrending', 'tokensPlatform']

const request = (id: string, headers: Record<string, string> = { 'x-api-key': KEY }) => {
  const { path, body } = ASK[id] ?? { path: '/nothing' }
  return body === undefined ? rig.get(path, headers) : rig.post(path, body, headers)
}

beforeAll(async () => {
  rig = await startRig()
  await rig.append(firstUpdate())
  await rig.start()
}, 60_000)
afterAll(() => rig.stop())

describe.each(OPERATIONS.map(({ id }) => id))('%s', (id) => {
  it('answers with its cost, its time and the right body', async () => {
    const response = await request(id)
    const body = (await response.json()) as Json
    expect(response.status).toBe(200)
    expect(response.headers.get('x-cu-cost')).toBe(String(COSTS[id]))
    expect(response.headers.get('x-as-of')).toBe(String(T0 + 1))
    const isWrapped = 'data_type' in body
    expect(isWrapped).toBe(!BARE.includes(id))
  })

  it('wraps the same data on request', async () => {
    const plain = (await (await request(id)).json()) as Json
    const wrapped = await (await request(id, { 'x-api-key': KEY, 'x-envelope': 'always' })).json()
    const data = BARE.includes(id) ? plain : plain.data
    expect(wrapped).toEqual({ status: 1, msg: expect.any(String), data_type: 1, data })
  })

  it('requires a valid key', async () => {
    rig.keys.set(hashKey('late'), keyRecord({ id: 'late', expiresAtMs: 1 }))
    const answers = [
      await request(id, {}),
      await request(id, { 'x-api-key': 'no' }),
      await request(id, { 'x-api-key': 'late' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 403])
    expect(answers.map((one) => one.headers.get('content-type')?.split(';')[0])).toEqual(
      Array.from({ length: 3 }, () => 'application/problem+json'),
    )
  })

  it('answers 405 with the allowed methods to any other method', async () => {
    const { path, body } = ASK[id] ?? { path: '' }
    const served = body === undefined ? ['GET', 'HEAD'] : ['POST']
    const others = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((one) => !served.includes(one))
    for (const method of others) {
      const response = await rig.send(method, path)
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, served.join(', ')])
    }
  })
})

it('describes every parameter and bounds every integer', () => {
  const bare = OPERATIONS.flatMap(({ id, query, params, body }) =>
    [query, params, ...(body === undefined ? [] : [body])].flatMap((schema) =>
      Object.entries(schema.properties as Record<string, Json>).flatMap(([name, one]) => {
        const isBounded = one.type !== 'integer' || (one.minimum !== undefined && one.maximum !== undefined)
        return one.description !== undefined && isBounded ? [] : [`${id} ${name}`]
      }),
    ),
  )
  expect(bare).toEqual([])
  expect(Object.keys(ASK).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort())
})

it('answers HEAD like GET, without the body', async () => {
  for (const { path, body } of Object.values(ASK)) {
    if (body !== undefined) continue
    const head = await rig.send('HEAD', path)
    const get = await rig.get(path)
    expect([head.status, await head.text()]).toEqual([200, ''])
    for (const name of ['content-type', 'x-as-of', 'x-cu-cost', 'x-reason']) {
      expect([path, name, head.headers.get(name)]).toEqual([path, name, get.headers.get(name)])
    }
  }
})

it('wraps every answer with DEXTAPE_ENVELOPE=always', async () => {
  const config = { ...rig.config, envelope: 'always' as const }
  const serve = rig.open({ config })
  const { httpPort } = await serve.start()
  for (const id of BARE) {
    const response = await fetch(`http://127.0.0.1:${httpPort}${ASK[id]?.path}`, { headers: { 'x-api-key': KEY } })
    expect(await response.json()).toMatchObject({ status: 1, data_type: 1 })
  }
  await serve.stop()
})

it.each([
  [`/v2/candles/audit?pair_id=${PAIR}-eth&time=1`, '`interval` is required in the query.'],
  [`/v2/txs/swap/${PAIR}-eth?limit=0`, '`limit` must be at least 1, got 0.'],
  [`/v2/txs/swap/${PAIR}-eth?limit=many`, '`limit` must be an integer, got "many".'],
  [`/v2/txs/swap/${PAIR}-eth?sort=up`, '`sort` must be asc or desc, got "up".'],
])('rejects %s: %s', async (path, detail) => {
  expect(await (await rig.get(path)).json()).toMatchObject({ status: 400, code: 'query_invalid', detail })
})

describe('invalid ids', () => {
  const PLACES = [
    'tokens',
    'tokens/top100',
    'contracts',
    'pairs',
    'klines/pair',
    'klines/token',
    'txs',
    'txs/swap',
    'txs/liq',
  ]
  const IDS = [
    'nothing',
    '-eth',
    `${TOKEN}-`,
    '%zz',
    '%00-eth',
    'a%2Fb-eth',
    '..%2f..-eth',
    '%F0%9F%98%80-eth',
    'x'.repeat(5000),
  ]
  it.each(PLACES)('/v2/%s is 400 or 404 for each', async (place) => {
    for (const id of IDS) {
      const response = await rig.get(`/v2/${place}/${id}?interval=1`)
      expect([id, [400, 404].includes(response.status), response.headers.get('content-type')]).toEqual([
        ...[id, true, 'application/problem+json; charset=utf-8'],
      ])
    }
    expect((await rig.get(`/v2/${place}/${TOKEN}-moon?interval=1`)).status).toBe(400)
  })
})

it('accepts any text as keyword or tag', async () => {
  const words = [
    '%',
    '%%',
    '%zz',
    '%00',
    '%ED%A0%80',
    '%5C',
    '(',
    '[a-',
    '*',
    '%2F',
    '$%26',
    '%F0%9F%98%80',
    '.*',
    '\\u{1F600}',
  ]
  for (const word of words) {
    const statuses = [await rig.get(`/v2/tokens?keyword=${word}`), await rig.get(`/v2/tokens/platform?tag=${word}`)]
    expect([word, statuses.map(({ status }) => status)]).toEqual([word, [200, 400]])
  }
})

describe('credit units', () => {
  it('are charged per operation, and not for errors', async () => {
    const metered = async () => {
      const text = await (await rig.get('/metrics', {})).text()
      return Number(/dextape_serve_cu_total\{operation="txsSwap"\} (\d+)/.exec(text)?.[1] ?? 0)
    }
    const before = await metered()
    expect((await rig.get(`/v2/txs/swap/${PAIR}-eth?limit=0`)).status).toBe(400)
    expect((await rig.get(`/v2/txs/swap/${PAIR}-moon`)).status).toBe(400)
    expect(await metered()).toBe(before)
    await request('txsSwap')
    expect(await metered()).toBe(before + 50)
  })

  it('are remembered after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dextape-spent-'))
    const dir = openDataDir(folder)
    const keys = openKeyStore(dir)
    const { key, record } = await keys.create({ name: 'bot', plan: 'free', quotaCu: 14, ratePerS: null })
    const ask = async (path: string, times: number) => {
      const serve = rig.open({ keys, nowMs: () => NOV_15 })
      const { httpPort } = await serve.start()
      const statuses: number[] = []
      for (let n = 0; n < times; n += 1) {
        statuses.push((await fetch(`http://127.0.0.1:${httpPort}${path}`, { headers: { 'x-api-key': key } })).status)
      }
      await serve.stop()
      return statuses
    }
    const detail = `/v2/pairs/${PAIR}-eth`
    expect(await ask(detail, 1)).toEqual([200])
    expect(keys.spentCu(record.id, '2026-11')).toBe(5)
    expect(await ask(detail, 2)).toEqual([200, 429])
    await keys.close()
    const again = openKeyStore(dir)
    expect(again.spentCu(record.id, '2026-11')).toBe(10)
    await again.close()
    rmSync(folder, { recursive: true })
  })
})
