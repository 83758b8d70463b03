/** Logs for the tests of one file, closed after each, on the broker all files share. */
import { afterEach, beforeAll, beforeEach } from 'vitest'
import type { KafkaLog } from '../../../services/core/log/kafka/kafka-log.js'
import { sharedBroker } from '../servers/shared.js'
import { freshPrefix, openTestLog } from './open-log.js'

export type TestLogs = {
  /** Of this test alone; given `prefix`, of another. */
  open(prefix?: string): KafkaLog
  readonly brokers: string
  /** Before the names of this test's topics. */
  readonly prefix: string
}

/** `ownBroker`: for tests that kill theirs. */
export function logsForTests(ownBroker?: () => Promise<string>): TestLogs {
  let brokers = ''
  let prefix = ''
  const opened: KafkaLog[] = []
  beforeAll(async () => {
    brokers = await (ownBroker?.() ?? sharedBroker())
  })
  beforeEach(() => {
    prefix = freshPrefix()
  })
  afterEach(async () => {
    for (const log of opened.splice(0)) await log.close()
  })
  return {
    open(other = prefix) {
      const log = openTestLog(brokers, other)
      opened.push(log)
      return log
    },
    get brokers() {
      return brokers
    },
    get prefix() {
      return prefix
    },
  }
}
