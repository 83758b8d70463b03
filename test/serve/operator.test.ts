import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashKey } from '../../services/core/keys/key-store.js'
import { deadTopic } from '../../services/core/log/port.js'
import { OPERATOR_OPERATIONS } from '../../services/serve/operator/operator-routes.js'
import { createSystemHistory } from '../../services/serve/operator/system-history.js'
import { KEY, keyRecord, type Rig, startRig } from './rig.js'
import { CHAIN, firstUpdate, T0 } from './updates.js'

const OPERATOR = 'dx_operator'
let rig: Rig
beforeAll(async () => {
  rig = await startRig()
  rig.keys.set(hashKey(OPERATOR), keyRecord({ id: 'k2', name: 'ops', plan: 'operator' }))
  await rig.append(firstUpdate())
  await rig.start()
})
afterAll(() => rig.stop())

async function ask(path: string): Promise<unknown> {
  const response = await rig.get(path, { 'x-api-key': OPERATOR })
  expect(response.status).toBe(200)
  return ((await response.json()) as { data: unknown }).data
}

const HISTORY = '/v2/operator/history'

describe('operator operations', () => {
  it.each(OPERATOR_OPERATIONS.map(({ path }) => path).filter((path) => path !== HISTORY))(
    '%s needs a key of plan operator',
    async (path) => {
      const answers = await Promise.all([rig.get(path, {}), rig.get(path), rig.get(path, { 'x-api-key': OPERATOR })])
      expect(answers.map(({ status }) => status)).toEqual([401, 403, 200])
      expect(await answers[1]?.json()).toMatchObject({
        code: 'operator_only',
        detail: expect.stringContaining('this key has plan unlimited'),
      })
      expect(answers[2]?.headers.get('cache-control')).toBe('no-store')
    },
  )

  it('history is for every key, and says whether it may ask for more', async () => {
    const answers = await Promise.all([rig.get(HISTORY), rig.get(HISTORY, { 'x-api-key': OPERATOR })])
    const bodies = await Promise.all(answers.map((answer) => answer.json() as Promise<{ data: { operator: boolean } }>))
    expect(bodies.map(({ data }) => data.operator)).toEqual([false, true])
    expect((await rig.get(HISTORY, {})).status).toBe(401)
  })

  it('list keys with their usage, and neither a key nor its hash', async () => {
    await rig.get('/v2/supported_chains')
    await rig.get(`/v2/tokens/trending?chain=${CHAIN}`)
    const text = JSON.stringify(await ask('/v2/operator/keys'))
    expect(JSON.parse(text)).toEqual([
      expect.objectContaining({ id: 'k1', name: 'test', plan: 'unlimited', state: 'valid', opens: 'everything' }),
      expect.objectContaining({ id: 'k2', name: 'ops', plan: 'operator', state: 'valid', requests_per_s: null }),
    ])
    for (const key of [KEY, OPERATOR]) {
      expect(text).not.toContain(key)
      expect(text).not.toContain(hashKey(key))
    }
  })

  it('list the sizes of topics and tables', async () => {
    const { log, store } = (await ask('/v2/operator/storage')) as {
      log: { topic: string; records: number; bytes: number }[]
      store: { table: string }[]
    }
    expect(log.find(({ topic }) => topic === `dex.updates.${CHAIN}`)).toMatchObject({ records: 1 })
    expect(Array.isArray(store)).toBe(true)
  })

  it('name the sources of the chains', async () => {
    expect(await ask('/v2/operator/nodes')).toMatchObject({
      sources: [{ chain: CHAIN, stopped: null }],
      nodes: [],
      away: [],
    })
  })

  it('show the newest dead letters first, with their raw form', async () => {
    expect(await ask('/v2/operator/dead_letters')).toEqual([])
    const topic = deadTopic(CHAIN)
    const letter = (at: number, raw: string) => ({
      ...{ chain: CHAIN, source: 'test', reason: 'price_invalid', detail: 'NaN', block_number: at, position: '0:1:0' },
      ...{ at: T0 + at, raw: Buffer.from(raw) },
    })
    for (const [at, raw] of [
      [1, '{"a":1}'],
      [2, '{"b":2}'],
    ] as const)
      await rig.log.append(topic, [
        { key: CHAIN, value: rig.codec.encodeDeadLetter(topic, letter(at, raw)), timestampMs: (T0 + at) * 1000 },
      ])
    expect(await ask('/v2/operator/dead_letters?limit=1')).toEqual([
      {
        ...{ chain: CHAIN, offset: 1, reason: 'price_invalid', detail: 'NaN', source: 'test', block_number: 2 },
        ...{ position: '0:1:0', time: T0 + 2, raw_bytes: 7, raw: '{"b":2}' },
      },
    ])
    expect(await ask('/v2/operator/dead_letters?chain=bsc')).toEqual([])
  })

  it('sample rates between two moments, and forget what is older than an hour', async () => {
    let atMs = 1_000_000
    let swaps = 0
    const history = createSystemHistory({
      status: () => rig.serve.status(),
      metrics: {
        contentType: '',
        text: async () => `dextape_fold_swaps_total{chain="${CHAIN}"} ${swaps}
dextape_stage_latency_seconds_bucket{stage="total",le="0.05"} ${swaps / 2}
dextape_stage_latency_seconds_bucket{stage="total",le="0.25"} ${swaps}
dextape_stage_latency_seconds_bucket{stage="total",le="+Inf"} ${swaps}
dextape_stage_latency_seconds_bucket{stage="fold",le="+Inf"} 7`,
      },
      sizes: async () => ({ log: [{ topic: 't', records: 1, bytes: 10 }], store: [{ table: 's', rows: 1, bytes: 5 }] }),
      nowMs: () => atMs,
      logger: { warn: () => {} },
    })
    for (let sample = 0; sample < 250; sample += 1) {
      await history.take()
      atMs += 15_000
      swaps += 30
    }
    expect(history.samples().length).toBe(240)
    expect(history.samples().at(-1)).toMatchObject({
      ...{ log_bytes: 10, store_bytes: 5, latency_p95_ms: 250 },
      chains: [{ chain: CHAIN, swaps_per_s: 2 }],
    })
    expect(history.samples()[0]?.latency_p95_ms).toBe(250)
  })
})
