import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { type Broker, startBroker } from '../rig/kafka/broker.js'

const TOPIC = 'rig.kept'
let broker: Broker
let kafka: Kafka

beforeAll(async () => {
  broker = await startBroker()
  kafka = clientOf({ retries: 20, initialRetryTime: 50 })
})
afterAll(() => broker.stop())

function clientOf(retry: { retries: number; initialRetryTime?: number }): Kafka {
  return new Kafka({ brokers: [broker.brokers], logLevel: logLevel.NOTHING, requestTimeout: 2_000, retry })
}

async function produce(...values: string[]): Promise<void> {
  const producer = kafka.producer()
  await producer.connect()
  await producer.send({ topic: TOPIC, acks: -1, messages: values.map((value) => ({ value })) })
  await producer.disconnect()
}

/** The first `count` values, read from the start by a separate group. */
async function consume(count: number): Promise<string[]> {
  const consumer = kafka.consumer({ groupId: `rig-${count}` })
  await consumer.connect()
  await consumer.subscribe({ topic: TOPIC, fromBeginning: true })
  const values: string[] = []
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        eachMessage: async ({ message }) => {
          values.push(message.value?.toString() ?? '')
          if (values.length === count) resolve()
        },
      })
      .catch(reject)
  })
  await consumer.disconnect()
  return values
}

test('creates a topic only on request', async () => {
  const admin = clientOf({ retries: 0 }).admin()
  await admin.connect()
  await expect(admin.fetchTopicOffsets(TOPIC)).rejects.toThrow('does not host this topic-partition')
  await admin.createTopics({ topics: [{ topic: TOPIC, numPartitions: 1 }] })
  expect(await admin.listTopics()).toEqual([TOPIC])
  await admin.disconnect()
})

test('keeps acknowledged records after kill -9 and a restart at the same address', async () => {
  await produce('a', 'b')
  const { pid, brokers } = broker
  await broker.kill()
  expect(isAlive(pid)).toBe(false)
  await expect(clientOf({ retries: 0 }).admin().connect()).rejects.toThrow('ECONNREFUSED')
  await broker.restart()
  expect(broker.pid).not.toBe(pid)
  expect(broker.brokers).toBe(brokers)
  await produce('c')
  expect(await consume(3)).toEqual(['a', 'b', 'c'])
})

test('does not answer while paused, until it is resumed', async () => {
  await broker.pause()
  const impatient = clientOf({ retries: 0 }).admin()
  await expect(impatient.connect()).rejects.toThrow(/timed out|timeout/i)
  await broker.resume()
  await produce('d')
  expect(await consume(4)).toEqual(['a', 'b', 'c', 'd'])
})

test('a broker stops with the process that started it, however that ended', async () => {
  const rig = join(repositoryRoot(), 'dist/test/rig/kafka/broker.js')
  const script = `import('${rig}').then(({ startBroker }) => startBroker()).then(({ pid }) => console.log(pid))`
  const folder = mkdtempSync(join(tmpdir(), 'dextape-rig-'))
  const env = { ...process.env, TMPDIR: folder }
  const starter = spawn(process.execPath, ['-e', script], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = (await once(starter.stdout, 'data')) as [Buffer]
  const pid = Number(said)
  expect(isAlive(pid)).toBe(true)
  starter.kill('SIGKILL')
  while (isAlive(pid)) await sleep(50)
  rmSync(folder, { recursive: true })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
