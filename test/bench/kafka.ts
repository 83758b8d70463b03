/** The log on Kafka compared with the kafkajs producer and consumer on the same broker, in CPU-seconds. */
import { Kafka, logLevel } from 'kafkajs'
import { startBroker } from '../rig/kafka/broker.js'
import { freshPrefix, openTestLog } from '../rig/kafka/open-log.js'
import { type Measured, measure, printTable } from './measure.js'

const RECORDS = 40_000
const BATCH = 200
/** Warm-up records of each, so that the first one measured does not pay for compiling shared code. */
const WARMING = 10_000
const ALL = WARMING + RECORDS
const VALUE = Buffer.alloc(2000, 7)
/** Our fetch has no consumer group overhead, and each append waits for the previous one. */
const LIMIT = 1.3

export async function benchKafka(): Promise<boolean> {
  const broker = await startBroker()
  try {
    const ours = await measureLog(broker.brokers)
    const theirs = await measureLibrary(broker.brokers)
    const row = (one: Measured, base: Measured, records: number) => [
      one.name,
      (one.cpuS / records) * 1e6,
      one.cpuS / base.cpuS,
      records / one.wallS,
    ]
    printTable(`Kafka (${RECORDS.toLocaleString('en')} records of ${VALUE.length} B, ${BATCH} an append)`, [
      ['', 'CPU µs/record', '× kafkajs', 'records/s'],
      row(theirs.produced, theirs.produced, RECORDS),
      row(ours.appended, theirs.produced, RECORDS),
      row(theirs.consumed, theirs.consumed, ALL),
      row(ours.followed, theirs.consumed, ALL),
    ])
    const ratio = Math.max(ours.appended.cpuS / theirs.produced.cpuS, ours.followed.cpuS / theirs.consumed.cpuS)
    console.log(`  the larger ratio = ${ratio.toFixed(2)} (limit ${LIMIT})${ratio > LIMIT ? '  TOO MUCH' : ''}`)
    return ratio <= LIMIT
  } finally {
    await broker.stop()
  }
}

const values = () => Array.from({ length: BATCH }, () => VALUE)

async function measureLog(brokers: string): Promise<{ appended: Measured; followed: Measured }> {
  const log = openTestLog(brokers, freshPrefix())
  const topic = 'dex.blocks.eth'
  const append = () =>
    log.append(
      topic,
      values().map((value) => ({ key: 'eth', value, timestampMs: 1 })),
    )
  for (let sent = 0; sent < WARMING; sent += BATCH) await append()
  const appended = await measure('our append', async () => {
    for (let sent = 0; sent < RECORDS; sent += BATCH) await append()
  })
  const followed = await measure('our follow', async () => {
    const abort = new AbortController()
    let read = 0
    for await (const records of log.follow(topic, { from: 0, maxRecords: 256 }, abort.signal)) {
      read += records.length
      if (read >= ALL) abort.abort()
    }
  })
  await log.close()
  return { appended, followed }
}

async function measureLibrary(brokers: string): Promise<{ produced: Measured; consumed: Measured }> {
  const kafka = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING })
  const topic = 'library'
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] })
  await admin.disconnect()
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false })
  await producer.connect()
  const produce = () => producer.send({ topic, messages: values().map((value) => ({ key: 'eth', value })) })
  for (let sent = 0; sent < WARMING; sent += BATCH) await produce()
  const produced = await measure('kafkajs produce', async () => {
    for (let sent = 0; sent < RECORDS; sent += BATCH) await produce()
  })
  await producer.disconnect()
  const consumer = kafka.consumer({ groupId: 'library' })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const consumed = await measure('kafkajs consume', async () => {
    let read = 0
    await new Promise<void>((resolve, reject) => {
      consumer
        .run({
          eachBatchAutoResolve: true,
          async eachBatch({ batch }) {
            read += batch.messages.length
            if (read >= ALL) resolve()
          },
        })
        .catch(reject)
    })
  })
  await consumer.disconnect()
  return { produced, consumed }
}
