/** The state shared by a cluster's processes, on a real broker that compacts, dies and restarts. */
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { claimSharedOrigin, sharedOrigin } from '../../../services/core/coordination/cluster-origin.js'
import { openSharedKeys } from '../../../services/core/keys/cluster-keys.js'
import type { KeyStore } from '../../../services/core/keys/key-store.js'
import type { KafkaLog } from '../../../services/core/log/kafka/kafka-log.js'
import { openKeyedTable } from '../../../services/core/log/keyed-table.js'
import { SOURCES_TOPIC, STATUS_TOPIC } from '../../../services/core/log/port.js'
import type { Checkpoint } from '../../../services/ingest/checkpoints.js'
import { claimCheckpoints } from '../../../services/ingest/shared-checkpoints.js'
import { type Broker, startBroker } from '../../rig/kafka/broker.js'
import { logsForTests } from '../../rig/kafka/logs.js'

let broker: Broker
const logs = logsForTests(async () => {
  broker = await startBroker()
  return broker.brokers
})
afterAll(() => broker?.stop())
const openLog = (): KafkaLog => logs.open()
const stores: KeyStore[] = []
afterEach(async () => {
  for (const keys of stores.splice(0)) await keys.close()
})

let nodes = 0
async function openKeys(): Promise<KeyStore> {
  const keys = await openSharedKeys(openLog(), { node: `node${nodes++}` })
  stores.push(keys)
  return keys
}
const soon = <T>(look: () => T | Promise<T>) => expect.poll(look, { timeout: 60_000 })
const at = (line: number): Checkpoint => ({ position: { line }, ends: {}, chains: {} })

/** Writes until compaction has removed more than half of the records. */
async function compact(topic: string): Promise<void> {
  const admin = new Kafka({ brokers: logs.brokers.split(','), logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const values = { 'cleanup.policy': 'compact', 'segment.ms': '200', 'min.cleanable.dirty.ratio': '0.01' }
  const configEntries = Object.entries(values).map(([name, value]) => ({ name, value }))
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: 2, name: `${logs.prefix}${topic}`, configEntries }],
  })
  await admin.disconnect()
  const log = openLog()
  const padding = await openKeyedTable<number>(log, topic)
  let n = 0
  await soon(async () => {
    // A segment is rolled by the first record after `segment.ms`.
    await padding.put('padding', n++)
    const { end } = await log.info(topic)
    return (await log.read(topic, { from: 0 })).length < end / 2
  }).toBe(true)
}

describe('keys', () => {
  it('have one first key on all nodes, and stay in sync after the broker is killed', async () => {
    const started = await Promise.all([1, 2, 3].map(openKeys))
    const created = (await Promise.all(started.map((keys) => keys.ensureFirst()))).flatMap((made) => made ?? [])
    expect(created).toHaveLength(1)
    const [first] = created.map(({ record }) => record)
    for (const keys of started) await soon(() => keys.list()).toEqual([first])
    await broker.kill()
    await broker.restart()
    const [here, there] = started
    await here?.revoke('first')
    await there?.addSpentCu([{ keyId: 'a', month: '2026-11', cu: 5 }])
    await here?.addSpentCu([{ keyId: 'a', month: '2026-11', cu: 5 }])
    for (const keys of [...started, await openKeys()]) {
      await soon(() => keys.lookup(first?.hash ?? '')?.revokedAtMs).toBeGreaterThan(0)
      await soon(() => keys.spentCu('a', '2026-11')).toBe(10)
    }
  })
})

describe('a compacted topic', () => {
  it('keeps the position of a source, its owner, and the origin', async () => {
    await claimSharedOrigin(openLog(), { origin: 'simulated', seed: 7 }, 'a')
    const old = await claimCheckpoints(openLog(), { sourceId: 's', writer: 'old' })
    for (let line = 0; line < 20; line++) await old.put('s', at(line))
    const young = await claimCheckpoints(openLog(), { sourceId: 's', writer: 'young' })
    for (let line = 100; line < 120; line++) await young.put('s', at(line))
    await expect(old.put('s', at(20))).rejects.toMatchObject({ code: 'source_taken' })
    await compact(SOURCES_TOPIC)
    const late = await claimCheckpoints(openLog(), { sourceId: 's', writer: 'late' })
    expect(late.get('s')).toEqual(at(119))
    expect(await sharedOrigin(openLog())).toEqual({ origin: 'simulated', seed: 7 })
    await expect(claimSharedOrigin(openLog(), { origin: 'real' }, 'b')).rejects.toMatchObject({ code: 'data_mixed' })
  })

  it('is followed across its gaps and a restart of the broker', async () => {
    const log = openLog()
    const writing = await openKeyedTable<number>(log, STATUS_TOPIC)
    for (let n = 0; n < 30; n++) await writing.put(`k${n % 3}`, n)
    await compact(STATUS_TOPIC)
    const table = await openKeyedTable<number>(openLog(), STATUS_TOPIC)
    expect(table.entries('k').map(({ key, value }) => [key, value])).toEqual([
      ['k0', 27],
      ['k1', 28],
      ['k2', 29],
    ])
    const stop = new AbortController()
    const following = table.follow(stop.signal)
    await broker.kill()
    await broker.restart()
    await writing.put('k0', 30)
    await soon(() => table.get('k0')).toBe(30)
    stop.abort()
    await following
  })
})
