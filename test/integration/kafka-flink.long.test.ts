/** The Flink example on a real broker and registry: its minutes are those of the stored trades and candles. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { tradesTopic } from '../../services/core/log/port.js'
import { httpRegistry } from '../../services/core/log/registry-http.js'
import { type ConsumedMarkets, openConsumedMarkets } from '../rig/kafka/consumed-markets.js'
import { run } from '../rig/python/venv.js'
import { sharedRegistry } from '../rig/servers/shared.js'

const EXAMPLE = join(repositoryRoot(), 'examples/flink')
const CHAIN = 'eth'

let markets: ConsumedMarkets
beforeAll(async () => {
  markets = await openConsumedMarkets()
}, 600_000)
afterAll(() => markets?.close())

type Minute = { pair: string; minute: number; trades: number; usd: number }

/** The statements of the example, for another topic, broker and registry. */
function writeSql(replacements: Record<string, string>): string {
  let sql = readFileSync(join(EXAMPLE, 'minutes.sql'), 'utf8')
  for (const [name, value] of Object.entries(replacements)) {
    expect(sql).toContain(`'${name}'`)
    sql = sql.replace(`'${name}'`, `'${value}'`)
  }
  const file = join(markets.folder, 'minutes.sql')
  writeFileSync(file, sql)
  return file
}

/** What is left of the result after all of its changes. */
function resultOf(out: string): Minute[] {
  const rows = new Set<string>()
  for (const [, op = '', row = ''] of out.matchAll(/([+-][IUD])\t(.*)$/gm))
    if (op.startsWith('+')) rows.add(row)
    else expect(rows.delete(row)).toBe(true)
  return [...rows]
    .map((row) => row.split('\t'))
    .map(([pair = '', minute, trades, usd]) => ({
      ...{ pair, minute: Number(minute), trades: Number(trades), usd: usd === 'null' ? 0 : Number(usd) },
    }))
    .sort((a, b) => (a.pair === b.pair ? a.minute - b.minute : a.pair < b.pair ? -1 : 1))
}

const storedMinutes = (): Promise<Minute[]> =>
  markets.store.query(
    `SELECT pair, toFloat64(toUnixTimestamp(toStartOfMinute(time))) AS minute, toFloat64(count()) AS trades,
       any(volume_u) AS usd
     FROM (SELECT pair, time FROM trade_rows FINAL WHERE chain = {chain:String} AND is_deleted = 0) AS t
     LEFT JOIN (
       SELECT pair, time AS start, volume_u FROM candle_rows FINAL
       WHERE chain = {chain:String} AND interval = 'k1' AND is_deleted = 0
     ) AS c ON c.pair = t.pair AND c.start = toStartOfMinute(t.time)
     GROUP BY pair, minute ORDER BY pair, minute`,
    { chain: CHAIN },
    { maxRows: 100_000 },
  )

test('minutes of a market with reorgs, and with records that repeat after a crash', async () => {
  const url = await sharedRegistry()
  const { prefix, log, lines, playTo } = markets.market({
    ...{ chain: CHAIN, seed: 313, blocks: 80, registryOf: () => httpRegistry({ url }) },
  })
  await playTo(lines)
  const topic = tradesTopic(CHAIN)
  const { end } = await log.info(topic)
  await log.append(topic, await log.read(topic, { from: end - 50 }))
  await log.close()
  const sql = writeSql({
    ...{ [topic]: `${prefix}${topic}`, 'localhost:9092': markets.brokers, 'http://localhost:8085': url },
  })
  const { code, out } = await run('mvn', [
    ...['-B', '-q', '-Dstyle.color=never', '-f', join(EXAMPLE, 'pom.xml'), `-Dsql=${sql}`],
    ...[`-Dbuild.folder=${join(markets.folder, 'target')}`, 'compile', 'exec:exec'],
  ])
  expect([code, code === 0 ? '' : out]).toEqual([0, ''])
  const stored = await storedMinutes()
  expect(stored.length).toBeGreaterThan(100)
  // Sums of doubles depend on their order in the last bits.
  expect(resultOf(out)).toEqual(stored.map(({ usd, ...rest }) => ({ ...rest, usd: expect.closeTo(usd, 4) })))
})
