import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs'
import { describe, expect, it, vi } from 'vitest'
import { repositoryRoot } from '../../../schemas/avro.js'
import type { KafkaLog } from '../../../services/core/log/kafka/kafka-log.js'
import { highestTimestamp } from '../../../services/core/log/kafka/topic-reader.js'
import { logsForTests } from '../../rig/kafka/logs.js'
import { freshPrefix, openTestLog } from '../../rig/kafka/open-log.js'
import { entry, eventLogContract } from './contract.js'
import { eventLogProcessContract } from './process-contract.js'

const logs = logsForTests()
const open = (): KafkaLog => logs.open()

eventLogContract('kafka', async () => ({ log: open(), reopen: async () => open(), close: async () => undefined }))

eventLogProcessContract('kafka', {
  open: async () => open(),
  writer: (task) => [
    join(repositoryRoot(), 'dist/test/rig/log-writer.js'),
    JSON.stringify({ at: { brokers: logs.brokers, prefix: logs.prefix, paddingBytes: 40_000 }, ...task }),
  ],
})

describe('kafka only', () => {
  it('splits an append larger than a message set into several, in order', async () => {
    const log = open()
    const values = Array.from({ length: 12 }, (_, index) => String(index).padEnd(300_000, 'x'))
    expect(
      await log.append(
        'dex.blocks.eth',
        values.map((text) => entry(text)),
      ),
    ).toBe(0)
    const read: string[] = []
    while (read.length < values.length)
      read.push(
        ...(await log.read('dex.blocks.eth', { from: read.length })).map(({ value }) => Buffer.from(value).toString()),
      )
    expect(read).toEqual(values)
  })

  it('finds the highest timestamp even if it is not the last', async () => {
    const log = open()
    await log.append(
      'dex.blocks.eth',
      [10, 4000, 25, 30].map((timeMs) => entry('x', timeMs)),
    )
    expect((await log.info('dex.blocks.eth')).newestMs).toBe(4000)
    for (const highest of [5, 6, 7, 1000, 123_456_789])
      expect(await highestTimestamp(5, async (timeMs) => timeMs <= highest)).toBe(highest)
  })

  it('reports the size of a topic', async () => {
    const log = open()
    await log.append('dex.blocks.eth', [entry('x'.repeat(100_000))])
    const { bytes } = await log.info('dex.blocks.eth')
    expect(bytes).toBeGreaterThanOrEqual(100_000)
    expect(bytes).toBeLessThan(110_000)
  })

  it('keeps two prefixes apart', async () => {
    const one = open()
    await one.append('dex.blocks.eth', [entry('one')])
    const other = logs.open(freshPrefix())
    expect(await other.topics()).toEqual([])
    expect(await other.read('dex.blocks.eth', { from: 0 })).toEqual([])
  })

  it('creates each topic with the settings its records need', async () => {
    const log = open()
    const topics = ['dex.blocks.eth', 'dex.updates.eth', 'dex.dead.eth', 'dex.schemas', 'dex.state.eth', 'dex.keys']
    for (const topic of topics) await log.append(topic, [entry('x', 1)])
    const admin = new Kafka({ brokers: [logs.brokers], logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    const full = topics.map((topic) => `${logs.prefix}${topic}`)
    const { topics: made } = await admin.fetchTopicMetadata({ topics: full })
    expect(made.map(({ partitions }) => partitions.length)).toEqual(topics.map(() => 1))
    const asked = ['cleanup.policy', 'retention.ms', 'message.timestamp.type', 'message.timestamp.after.max.ms']
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: full.map((name) => ({ type: ConfigResourceTypes.TOPIC, name, configNames: asked })),
    })
    await admin.disconnect()
    const settingsOf = (topic: string) => {
      const { configEntries = [] } = resources.find(({ resourceName }) => resourceName.endsWith(`.${topic}`)) ?? {}
      return Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue]))
    }
    const anyTime = { 'message.timestamp.type': 'CreateTime', 'message.timestamp.after.max.ms': '9223372036854775807' }
    for (const topic of topics.slice(0, 4))
      expect(settingsOf(topic)).toEqual({ 'cleanup.policy': 'delete', 'retention.ms': '-1', ...anyTime })
    for (const topic of topics.slice(4))
      expect(settingsOf(topic)).toMatchObject({ 'cleanup.policy': 'compact', ...anyTime })
  })

  it('fails when a topic it follows is recreated with fewer records', async () => {
    const log = open()
    await log.append('dex.blocks.eth', [entry('a'), entry('b'), entry('c')])
    const following = log.follow('dex.blocks.eth', { from: 0 }, new AbortController().signal)
    await following.next()
    const lost = expect(following.next()).rejects.toMatchObject({ code: 'offset_lost' })
    const admin = new Kafka({ brokers: [logs.brokers], logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    const topic = `${logs.prefix}dex.blocks.eth`
    await admin.deleteTopics({ topics: [topic] })
    // The broker takes a moment: an append before that would be one to the old topic.
    await vi.waitUntil(async () => !(await admin.listTopics()).includes(topic), 30_000)
    await admin.disconnect()
    await open().append('dex.blocks.eth', [entry('a')])
    await lost
  })

  it('stays idle when there is nothing to do', async () => {
    const log = open()
    const abort = new AbortController()
    await log.append('dex.blocks.eth', [entry('x')])
    const following = log.follow('dex.blocks.eth', { from: 1 }, abort.signal).next()
    await delay(200)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await delay(1000)
    const set = timers.mock.calls.length
    timers.mockRestore()
    abort.abort()
    await following
    // A connection that polls its queue every millisecond would set a thousand.
    expect(set).toBeLessThan(50)
  })

  it('stops a command with advice if the broker is unreachable', async () => {
    const log = openTestLog('127.0.0.1:1', logs.prefix, { patienceMs: 300 })
    await expect(log.topics()).rejects.toMatchObject({ code: 'log_away', retry: true })
    await expect(log.read('dex.blocks.eth', { from: 0 })).rejects.toThrow(/KAFKA_BROKERS/)
    await log.close()
  })
})
