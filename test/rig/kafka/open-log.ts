/** The log on a test's broker: every test under a prefix of its own. */
import { randomBytes } from 'node:crypto'
import type { KafkaOptions } from '../../../services/core/log/kafka/internals.js'
import { type KafkaLog, openKafkaLog } from '../../../services/core/log/kafka/kafka-log.js'

export const freshPrefix = (): string => `t${randomBytes(6).toString('hex')}.`

export function openTestLog(brokers: string, prefix: string, options: Partial<KafkaOptions> = {}): KafkaLog {
  return openKafkaLog({
    brokers: brokers.split(','),
    clientId: 'test',
    prefix,
    ssl: false,
    requestTimeoutMs: 5000,
    patienceMs: 60_000,
    onUnreachable: () => {},
    onReachable: () => {},
    ...options,
  })
}
