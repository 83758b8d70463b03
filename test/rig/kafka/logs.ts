/** A broker for the tests of one file, and logs on it that are closed after each. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { KafkaLog } from '../../../services/core/log/kafka/kafka-log.js'
import { type Broker, startBroker } from './broker.js'
import { freshPrefix, openTestLog } from './open-log.js'

export type TestLogs = {
  /** Of this test alone; given `prefix`, of another. */
  open(prefix?: string): KafkaLog
  readonly broker: Broker
  /** Before the names of this test's topics. */
  readonly prefix: string
}

export function logsForTests(): TestLogs {
  let broker: Broker
  let prefix = ''
  const opened: KafkaLog[] = []
  beforeAll(async () => {
    broker = await startBroker()
  })
  afterAll(() => broker?.stop())
  beforeEach(() => {
    prefix = freshPrefix()
  })
  afterEach(async () => {
    for (const log of opened.splice(0)) await log.close()
  })
  return {
    open(other = prefix) {
      const log = openTestLog(broker.brokers, other)
      opened.push(log)
      return log
    },
    get broker() {
      return broker
    },
    get prefix() {
      return prefix
    },
  }
}
