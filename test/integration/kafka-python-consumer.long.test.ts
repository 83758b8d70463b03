/** A reader in another language, on a real broker: from the topics alone it comes to the candles we store, bit for bit. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { memoryStateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { NO_CANDLES, packCandles, unpackCandles } from '../../services/core/domain/packed-candles.js'
import type { BlockUpdate } from '../../services/core/domain/records.js'
import { type Codec, createCodec } from '../../services/core/log/codec.js'
import { type EventLog, updatesTopic } from '../../services/core/log/port.js'
import type { SchemaRegistry } from '../../services/core/log/registry.js'
import { httpRegistry } from '../../services/core/log/registry-http.js'
import { inLogRegistry } from '../../services/core/log/registry-in-log.js'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import type { Store } from '../../services/core/store/port.js'
import { TABLES } from '../../services/core/store/tables.js'
import { appendLines, runPipeline } from '../rig/aggregate/pipeline-run.js'
import { storeTargetOf } from '../rig/engine.js'
import { freshPrefix, openTestLog } from '../rig/kafka/open-log.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { pythonEnvironment, run } from '../rig/python/venv.js'
import { sharedBroker, sharedRegistry } from '../rig/servers/shared.js'

const EXAMPLES = join(repositoryRoot(), 'examples')
/** Small enough that many updates come in parts. */
const MAX_VALUE_BYTES = 12_000
const options = { retracts: { probability: 0.08, maxDepth: 8 }, secondsPerBlock: 90 }

let folder: string
let brokers: string
let store: Store
let python: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dextape-python-'))
  python = join(await pythonEnvironment('examples', join(EXAMPLES, 'requirements.txt')), 'python')
  brokers = await sharedBroker()
  store = await openStore(storeTargetOf(folder))
  await store.migrate()
}, 600_000)
afterAll(async () => {
  await store?.close()
  rmSync(folder, { recursive: true, force: true })
})

type Plan = { chain: string; seed: number; registryOf(log: EventLog): SchemaRegistry }

/** One chain on a log of its own, played up to a line at a time. */
function market({ chain, seed, registryOf }: Plan) {
  const prefix = freshPrefix()
  const kafka = openTestLog(brokers, prefix)
  const log = { ...kafka, maxValueBytes: MAX_VALUE_BYTES }
  const codec = createCodec(registryOf(kafka))
  const deps = { facts: marketMoney(chain), log, codec, store, stateStore: memoryStateStore() }
  const lines = generateRecording({ seed, chain, blocks: 120, options })
  let played = 0
  return {
    ...deps,
    lines: lines.length,
    async playTo(count: number) {
      await appendLines(deps, lines.slice(played, count))
      played = count
      await runPipeline(deps)
    },
    consume: (...more: string[]) =>
      run(python, [
        ...[join(EXAMPLES, 'consumer.py'), '--brokers', brokers, '--chain', chain, '--prefix', prefix],
        ...more,
      ]),
  }
}

const columns = TABLES.candle_rows.filter((name) => name !== 'version' && name !== 'is_deleted')

async function storedCandles(chain: string): Promise<Record<string, unknown>[]> {
  const values = columns.map((name) => {
    if (name === 'time') return 'toUnixTimestamp(time) AS time'
    return /_[umr]$/.test(name) ? `if(isNaN(${name}), NULL, ${name}) AS ${name}` : name
  })
  return store.query(
    `SELECT ${values.join(', ')} FROM candle_rows AS c FINAL WHERE chain = {chain:String} AND is_deleted = 0
     ORDER BY pair, interval, c.time`,
    { chain },
    { maxRows: 1_000_000 },
  )
}

const parsed = (out: string): unknown[] =>
  out
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as unknown)

describe('with schemas in the log', () => {
  test('the candles are the stored ones, from updates in parts, with reorgs, read in two goes', async () => {
    const eth = market({ chain: 'eth', seed: 301, registryOf: inLogRegistry })
    const state = join(folder, 'eth.json')
    await eth.playTo(Math.floor(eth.lines / 2))
    expect(await eth.consume('--state', state)).toMatchObject({ code: 0 })
    await eth.playTo(eth.lines)
    const { code, out } = await eth.consume('--state', state, '--check')
    expect(out).toMatch(/ 0 differences$/m)
    expect(code).toBe(0)
    const stored = await storedCandles('eth')
    expect(stored.length).toBeGreaterThan(1000)
    expect(parsed(out)).toEqual(stored)

    const updates = await updatesIn(eth.log, eth.codec, updatesTopic('eth'))
    expect(updates.some(({ last_part }) => last_part > 0)).toBe(true)
    expect(updates.some(({ retracted }) => retracted.length > 0)).toBe(true)

    const trades = await eth.consume('--trades')
    expect(trades.code).toBe(0)
    expect(parsed(trades.out)).toEqual(stored)

    // From a time on, volumes are the stored ones. Before a pair's first price in the topic it has no candle.
    const times = stored.map(({ time }) => Number(time)).sort((a, b) => a - b)
    const fromS = times[Math.floor(times.length / 2)] ?? 0
    const later = await eth.consume('--from-time', `@${fromS}`)
    expect(later.code).toBe(0)
    const rebuilt = parsed(later.out) as Record<string, unknown>[]
    const firstOf = new Map<string, number>()
    for (const { pair, interval, time } of rebuilt)
      firstOf.set(`${pair} ${interval}`, Math.min(Number(time), firstOf.get(`${pair} ${interval}`) ?? Infinity))
    const volumes = (candles: Record<string, unknown>[]) =>
      candles.flatMap(({ pair, interval, time, volume_u, volume_r }) => {
        const from = Math.max(fromS, firstOf.get(`${pair} ${interval}`) ?? Infinity)
        return Number(time) >= from ? [{ pair, interval, time, volume_u, volume_r }] : []
      })
    expect(volumes(rebuilt).length).toBeGreaterThan(100)
    expect(volumes(rebuilt)).toEqual(volumes(stored))
    expect(rebuilt.length).toBeLessThan(stored.length)
    const sameTime = new Date(fromS * 1000).toISOString().slice(0, 19)
    expect(parsed((await eth.consume('--trades', '--from-time', sameTime)).out)).toEqual(rebuilt)
    expect((await eth.consume('--check', '--from-time', sameTime)).code).toBe(2)

    await eth.log.close()
  })
})

describe('with a schema registry', () => {
  test('the candles are the stored ones; what came before is dropped, what differs is told', async () => {
    const url = await sharedRegistry()
    const solana = market({ chain: 'solana', seed: 302, registryOf: () => httpRegistry({ url }) })
    const { log, codec } = solana
    await solana.playTo(solana.lines)
    const topic = updatesTopic('solana')
    const { end } = await log.info(topic)
    const again = await log.read(topic, { from: Math.floor(end / 2), maxRecords: 20 })
    await log.append(topic, again)
    const { code, out } = await solana.consume('--registry', url, '--check')
    expect(out).toMatch(/ 0 differences$/m)
    expect(code).toBe(0)
    expect(parsed(out)).toEqual(await storedCandles('solana'))

    const updates = await updatesIn(log, codec, topic)
    const seq = 1 + Math.max(...updates.map((update) => update.seq))
    const [some] = updates.filter(({ pairs }) => pairs.some(({ candles }) => candles.length > 0))
    const [entry] = some?.pairs.filter(({ candles }) => candles.length > 0) ?? []
    const [candle] = unpackCandles(entry?.candles ?? NO_CANDLES)
    if (some === undefined || entry === undefined || candle === undefined) throw new Error('no update has a candle')
    const wrong = { ...entry, info: null, trades: [], candles: packCandles([{ ...candle, interval: 'k1', time: 60 }]) }
    const lists = { tokens: [], main_pair_changes: [], retracted: [], gone_tokens: [], pairs: [wrong] }
    const value = codec.encodeUpdate(topic, { ...some, ...lists, seq, part: 0, last_part: 0 })
    await log.append(topic, [{ key: 'solana', value, timestampMs: 0 }])
    const told = await solana.consume('--registry', url, '--check')
    expect(told.code).toBe(1)
    expect(told.out).toMatch(new RegExp(`^${entry.pair} k1:60: only in the updates$`, 'm'))
    await log.close()
  })
})

async function updatesIn(log: EventLog, codec: Codec, topic: string): Promise<BlockUpdate[]> {
  const records = await log.read(topic, { from: 0 })
  await codec.learn(records.map(({ value }) => value))
  return records.flatMap(({ value }) => {
    const decoded = codec.decodeLogRecord(value)
    return decoded.kind === 'update' ? [decoded.update] : []
  })
}
