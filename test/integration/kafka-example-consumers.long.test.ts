/** The examples in Node and Java, on a real broker: their volumes are those of the stored trades. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { memoryStateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { createCodec } from '../../services/core/log/codec.js'
import type { EventLog } from '../../services/core/log/port.js'
import type { SchemaRegistry } from '../../services/core/log/registry.js'
import { httpRegistry } from '../../services/core/log/registry-http.js'
import { inLogRegistry } from '../../services/core/log/registry-in-log.js'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import type { Store } from '../../services/core/store/port.js'
import { appendLines, runPipeline } from '../rig/aggregate/pipeline-run.js'
import { storeTargetOf } from '../rig/engine.js'
import { freshPrefix, openTestLog } from '../rig/kafka/open-log.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { run } from '../rig/python/venv.js'
import { sharedBroker, sharedRegistry } from '../rig/servers/shared.js'

const EXAMPLES = join(repositoryRoot(), 'examples')

let folder: string
let brokers: string
let store: Store
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dextape-consumers-'))
  brokers = await sharedBroker()
  store = await openStore(storeTargetOf(folder))
  await store.migrate()
}, 600_000)
afterAll(async () => {
  await store?.close()
  rmSync(folder, { recursive: true, force: true })
})

type Volume = { pair: string; trades: number; usd: number }

type Read = { chain: string; prefix: string; registry?: string }

const environmentOf = ({ registry }: Read) => ({
  env: { ...process.env, ...(registry === undefined ? {} : { SCHEMA_REGISTRY_URL: registry }) },
})

const node = (read: Read) =>
  run(process.execPath, [join(EXAMPLES, 'volumes.mjs'), brokers, read.chain, read.prefix], environmentOf(read))

/** Maven fetches the jars into its own folder, outside the checkout. */
const java = (read: Read) =>
  run(
    'mvn',
    [
      ...['-B', '-q', '-Dstyle.color=never', '-f', join(EXAMPLES, 'java/pom.xml')],
      ...[`-Dbuild.folder=${join(folder, 'target')}`, 'compile', 'exec:java'],
      `-Dexec.args=${brokers} ${read.chain} ${read.prefix}`,
    ],
    environmentOf(read),
  )

/** A market with reorgs on a log of its own. */
async function play(chain: string, seed: number, registryOf: (log: EventLog) => SchemaRegistry) {
  const prefix = freshPrefix()
  const log = openTestLog(brokers, prefix)
  const deps = { facts: marketMoney(chain), log, codec: createCodec(registryOf(log)), store }
  const options = { retracts: { probability: 0.08, maxDepth: 8 }, secondsPerBlock: 90 }
  await appendLines(deps, generateRecording({ seed, chain, blocks: 80, options }))
  await runPipeline({ ...deps, stateStore: memoryStateStore() })
  await log.close()
  const stored = await store.query<Volume>(
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
