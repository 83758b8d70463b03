/** ETag, Cache-Control and compression of REST answers. */
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEY, type Rig, startRig } from '../rig.js'
import { candle, firstUpdate, PAIR, pairUpdate, T0, TOKEN, tokenInfo, tokenUpdate, trade, update } from '../updates.js'

let rig: Rig
let port = 0
const DAY_S = 86_400
const NOW_S = T0 + 3 * DAY_S
const PAIR_PATH = `/v2/pairs/${PAIR}-eth`
const CANDLES = `/v2/klines/pair/${PAIR}-eth?interval=1`
const OLD_CANDLES = `${CANDLES}&to_time=${T0 + 600}`

beforeAll(async () => {
  rig = await startRig()
  await rig.append(firstUpdate([trade()]))
  await rig.start()
  port = Number(new URL((await rig.get('/health')).url).port)
  const traded = (seq: number, timeS: number, finalized_number: number) =>
    update({
      ...{ seq, number: 100 + seq, time: timeS, now: timeS, finalized_number },
      pairs: [pairUpdate({ pair: PAIR, info: null, tx_count: 2, candles: [candle({ time: timeS - (timeS % 60) })] })],
    })
  await rig.feed(traded(2, NOW_S, 101), traded(3, NOW_S + 2, 102))
}, 60_000)
afterAll(() => rig.stop())

const header = (answer: Response, name: string) => answer.headers.get(name)

describe('ETag', () => {
  it('answers 304 without a body while the answer is the same, and costs as much', async () => {
    const first = await rig.get(PAIR_PATH)
    const etag = header(first, 'etag') ?? ''
    expect(etag).toMatch(/^"[\w-]+"$/)
    const same = await rig.get(PAIR_PATH, { 'x-api-key': KEY, 'if-none-match': `"other", ${etag}` })
    expect([same.status, await same.text()]).toEqual([304, ''])
    expect(['etag', 'x-cu-cost', 'x-as-of'].map((name) => header(same, name))).toEqual(
      ['etag', 'x-cu-cost', 'x-as-of'].map((name) => header(first, name)),
    )
    const other = await rig.get(PAIR_PATH, { 'x-api-key': KEY, 'if-none-match': '"other"' })
    expect(other.status).toBe(200)
  })

  it('needs a key', async () => {
    const etag = header(await rig.get(PAIR_PATH), 'etag') ?? ''
    expect((await rig.get(PAIR_PATH, { 'if-none-match': etag })).status).toBe(401)
  })

  it('changes with the answer', async () => {
    const before = header(await rig.get(PAIR_PATH), 'etag') ?? ''
    const reserve0 = '77000000000000000000'
    await rig.feed(
      update({
        seq: 4,
        number: 104,
        time: NOW_S + 4,
        now: NOW_S + 4,
        finalized_number: 103,
        pairs: [pairUpdate({ pair: PAIR, info: null, tx_count: 2, reserve0 })],
      }),
    )
    const after = await rig.get(PAIR_PATH, { 'x-api-key': KEY, 'if-none-match': before })
    expect(after.status).toBe(200)
    expect(((await after.json()) as { data: { reserve0: string } }).data.reserve0).toMatch(/^77/)
  })
})

describe('Cache-Control', () => {
  it('lets clients keep a range that is final, and nothing else', async () => {
    expect(header(await rig.get(OLD_CANDLES), 'cache-control')).toBe('private, max-age=3600')
    const old = `/v2/txs/swap/${PAIR}-eth?to_time=${T0 + 600}`
    expect(header(await rig.get(old), 'cache-control')).toBe('private, max-age=3600')
    for (const path of [CANDLES, `${CANDLES}&to_time=${NOW_S - 600}`, OLD_CANDLES.replace('=1&', '=s1&'), PAIR_PATH]) {
      expect([path, header(await rig.get(path), 'cache-control')]).toEqual([path, 'private, no-cache'])
    }
  })

  it('answers a range that is final with a name that changed', async () => {
    const path = `/v2/txs/swap/${PAIR}-eth?to_time=${T0 + 600}`
    expect(await (await rig.get(path)).text()).not.toContain('"NEW"')
    const renamed = tokenUpdate({ token: TOKEN, info: tokenInfo({ symbol: 'NEW' }) })
    const later = { seq: 5, number: 105, time: NOW_S + 6, now: NOW_S + 6, finalized_number: 104 }
    await rig.feed(update({ ...later, tokens: [renamed] }))
    expect(await (await rig.get(path)).text()).toContain('"NEW"')
  })
})

describe('compression', () => {
  const raw = (path: string, encoding: string) =>
    new Promise<{ encoding: string | undefined; etag: string; body: Buffer }>((resolve, reject) => {
      const headers = { 'x-api-key': KEY, 'accept-encoding': encoding }
      request({ port, path, headers }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () =>
          resolve({
            encoding: answer.headers['content-encoding'],
            etag: answer.headers.etag ?? '',
            body: Buffer.concat(parts),
          }),
        )
      })
        .on('error', reject)
        .end()
    })

  it('is br or gzip where the client asks for it, with another ETag', async () => {
    const plain = await raw(PAIR_PATH, 'identity')
    const gzip = await raw(PAIR_PATH, 'gzip, br;q=0')
    const br = await raw(PAIR_PATH, 'gzip, deflate, br')
    expect([plain.encoding, gzip.encoding, br.encoding]).toEqual([undefined, 'gzip', 'br'])
    expect(gunzipSync(gzip.body)).toEqual(plain.body)
    expect(brotliDecompressSync(br.body)).toEqual(plain.body)
    expect(new Set([plain.etag, gzip.etag, br.etag]).size).toBe(3)
  })

  it('leaves short answers as they are', async () => {
    expect((await raw('/v2/tokens/main?chain=bsc', 'br')).encoding).toBeUndefined()
    expect((await raw(`${OLD_CANDLES}&limit=1`, 'br')).encoding).toBeUndefined()
  })
})
