/** The examples in Node and Java, on a real broker: their volumes are those of the stored trades. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import type { EventLog } from '../../services/core/log/port.js'
import type { SchemaRegistry } from '../../services/core/log/registry.js'
import { httpRegistry } from '../../services/core/log/registry-http.js'
import { inLogRegistry } from '../../services/core/log/registry-in-log.js'
import { type ConsumedMarkets, openConsumedMarkets } from '../rig/kafka/consumed-markets.js'
import { run } from '../rig/python/venv.js'
import { sharedRegistry } from '../rig/servers/shared.js'

const EXAMPLES = join(repositoryRoot(), 'examples')

let markets: ConsumedMarkets
beforeAll(async () => {
  markets = await openConsumedMarkets()
}, 600_000)
afterAll(() => markets?.close())

type Volume = { pair: string; trades: number; usd: number }

type Read = { chain: string; prefix: string; registry?: string }

const environmentOf = ({ registry }: Read) => ({
  env: { ...process.env, ...(registry === undefined ? {} : { SCHEMA_REGISTRY_URL: registry }) },
})

const node = (read: Read) =>
  run(process.execPath, [join(EXAMPLES, 'volumes.mjs'), markets.brokers, read.chain, read.prefix], environmentOf(read))

/** Maven fetches the jars into its own folder, outside the checkout. */
const java = (read: Read) =>
  run(
    'mvn',
    [
      ...['-B', '-q', '-Dstyle.color=never', '-f', join(EXAMPLES, 'java/pom.xml')],
      ...[`-Dbuild.folder=${join(markets.folder, 'target')}`, 'compile', 'exec:java'],
      `-Dexec.args=${markets.brokers} ${read.chain} ${read.prefix}`,
    ],
    environmentOf(read),
  )

async function play(chain: string, seed: number, registryOf: (log: EventLog) => SchemaRegistry) {
  const { prefix, log, lines, playTo } = markets.market({ chain, seed, blocks: 80, registryOf })
  await playTo(lines)
  await log.close()
  const stored = await markets.store.query<Volume>(
    `SELECT pair, toFloat64(count()) AS trades, sumIf(amount_usd, isFinite(amount_usd)) AS usd
     FROM trade_rows FINAL WHERE chain = {chain:String} AND is_deleted = 0 GROUP BY pair ORDER BY pair`,
    { chain },
  )
  return { prefix, stored }
}

/** Maven writes codes of colours before the first line. */
const parsed = (out: string): Volume[] => [...out.matchAll(/\{.*\}$/gm)].map(([line]) => JSON.parse(line) as Volume)

test('with schemas in the log', async () => {
  const { prefix, stored } = await play('eth', 311, inLogRegistry)
  expect(stored.length).toBeGreaterThan(10)
  for (const read of [node, java]) compare(await read({ chain: 'eth', prefix }), stored)
})

test('with a schema registry', async () => {
  const url = await sharedRegistry()
  const { prefix, stored } = await play('solana', 312, () => httpRegistry({ url }))
  for (const read of [node, java]) compare(await read({ chain: 'solana', prefix, registry: url }), stored)
})

/** Sums of doubles depend on their order in the last bits. */
function compare({ code, out }: { code: number | null; out: string }, stored: readonly Volume[]): void {
  expect([code, code === 0 ? '' : out]).toEqual([0, ''])
  expect(parsed(out)).toEqual(stored.map(({ usd, ...rest }) => ({ ...rest, usd: expect.closeTo(usd, 4) })))
}
