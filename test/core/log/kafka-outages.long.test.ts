/** A broker that is killed or hangs while a log is written and followed. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LogRecord } from '../../../services/core/log/port.js'
import { countOf, seedOf } from '../../rig/counts.js'
import { type Broker, startBroker } from '../../rig/kafka/broker.js'
import { freshPrefix, openTestLog } from '../../rig/kafka/open-log.js'
import { createRandom } from '../../rig/market/random.js'
import { entry } from './contract.js'

let broker: Broker
beforeAll(async () => {
  broker = await startBroker()
})
afterAll(() => broker.stop())

const seed = seedOf('brokerOutages')
const OUTAGES = countOf('brokerOutages')

it('appends each record once and follows all, across kills and pauses of the broker', async () => {
  console.info(`broker outages: DEXTAPE_TEST_SEED=${seed}`)
  const random = createRandom(seed).next
  const reported: string[] = []
  const log = openTestLog(broker.brokers, freshPrefix(), {
    patienceMs: Number.POSITIVE_INFINITY,
    requestTimeoutMs: 2000,
    onUnreachable: () => reported.push('unreachable'),
    onReachable: () => reported.push('reachable'),
  })
  const topic = 'dex.blocks.eth'
  const ended = new AbortController()
  const followed: LogRecord[] = []
  let wanted = Number.POSITIVE_INFINITY
  const following = (async () => {
    for await (const records of log.follow(topic, { from: 0 }, ended.signal)) {
      followed.push(...records)
      if (followed.length >= wanted) ended.abort()
    }
  })()

  const written: string[] = []
  const offsets: [offset: number, index: number][] = []
  let isWriting = true
  const writing = (async () => {
    while (isWriting) {
      const batch = Array.from({ length: 1 + Math.floor(random() * 20) }, (_, n) => `${written.length + n}`)
      const first = written.length
      written.push(...batch)
      offsets.push([
        await log.append(
          topic,
          batch.map((text) => entry(text)),
        ),
        first,
      ])
    }
  })()

  for (let outage = 0; outage < OUTAGES; outage++) {
    await delay(200 + random() * 500)
    if (outage % 2 === 0) {
      await broker.kill()
      await delay(random() * 1500)
      await broker.restart()
    } else {
      await broker.pause()
      await delay(500 + random() * 4000)
      await broker.resume()
    }
  }
  await delay(500)
  isWriting = false
  await writing
  wanted = written.length
  if (followed.length >= wanted) ended.abort()
  await following

  expect(followed.map(({ value }) => Buffer.from(value).toString())).toEqual(written)
  expect(followed.map(({ offset }) => offset)).toEqual(written.map((_, index) => index))
  expect(offsets.filter(([offset, index]) => offset !== index)).toEqual([])
  expect(reported.length).toBeGreaterThan(0)
  expect(reported).toEqual(reported.map((_, index) => (index % 2 === 0 ? 'unreachable' : 'reachable')))
  expect(reported.at(-1)).toBe('reachable')
  await log.close()
}, 300_000)
