import type { SASLOptions } from 'kafkajs'

export type KafkaOptions = {
  brokers: readonly string[]
  clientId: string
  /** Before every topic, group and transactional id: several installations may share a cluster. */
  prefix: string
  ssl: boolean
  sasl?: SASLOptions
  /** Copies of each topic; undefined: three where the cluster has as many brokers, else one. */
  replicationFactor?: number
  requestTimeoutMs: number
  /** How long a call waits for a broker that is away: for ever in a service, a few seconds in a command. */
  patienceMs: number
  /** Told when the broker stops answering, and when it answers again. */
  onAway: (reason: string) => void
  onBack: () => void
}
