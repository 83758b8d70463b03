/** A reader in another language, on a real broker: from the topics alone it comes to the candles we store, bit for bit. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { NO_CANDLES, packCandles, unpackCandles } from '../../services/core/domain/packed-candles.js'
import type { BlockUpdate } from '../../services/core/domain/records.js'
import type { Codec } from '../../services/core/log/codec.js'
import { type EventLog, updatesTopic } from '../../services/core/log/port.js'
import { httpRegistry } from '../../services/core/log/registry-http.js'
import { inLogRegistry } from '../../services/core/log/registry-in-log.js'
import { TABLES } from '../../services/core/store/tables.js'
import { type ConsumedMarkets, type MarketPlan, openConsumedMarkets } from '../rig/kafka/consumed-markets.js'
import { pythonEnvironment, run } from '../rig/python/venv.js'
import { sharedRegistry } from '../rig/servers/shared.js'

const EXAMPLES = join(repositoryRoot(), 'examples')
/** Small enough that many updates come in parts. */
const MAX_VALUE_BYTES = 12_000

let markets: ConsumedMarkets
let python: string

beforeAll(async () => {
  python = join(await pythonEnvironment('examples', join(EXAMPLES, 'requirements.txt')), 'python')
  markets = await openConsumedMarkets()
}, 600_000)
afterAll(() => markets?.close())

function consumed(plan: Pick<MarketPlan, 'chain' | 'seed' | 'registryOf'>) {
  const market = markets.market({ ...plan, blocks: 120, maxValueBytes: MAX_VALUE_BYTES })
  const { chain, prefix } = market
  const fixed = [join(EXAMPLES, 'consumer.py'), '--brokers', markets.brokers, '--chain', chain, '--prefix', prefix]
  return { ...market, consume: (...more: string[]) => run(python, [...fixed, ...more]) }
}

const columns = TABLES.candle_rows.filter((name) => name !== 'version' && name !== 'is_deleted')

async function storedCandles(chain: string): Promise<Record<string, unknown>[]> {
  const values = columns.map((name) => {
    if (name === 'time') return 'toUnixTimestamp(time) AS time'
    return /_[umr]$/.test(name) ? `if(isNaN(${name}), NULL, ${name}) AS ${name}` : name
  })
  return markets.store.query(
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
    const eth = consumed({ chain: 'eth', seed: 301, registryOf: inLogRegistry })
    const state = join(markets.folder, 'eth.json')
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
    const solana = consumed({ chain: 'solana', seed: 302, registryOf: () => httpRegistry({ url }) })
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
