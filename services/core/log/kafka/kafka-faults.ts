/** Turns errors of kafkajs into our own: retry, or what to change. */
import { ConfigError, DextapeError } from '../../domain/errors.js'

type KafkaError = Error & { type?: string; retriable?: boolean; cause?: unknown; errors?: readonly unknown[] }

/** Transient errors that the protocol does not mark as retriable. */
const TRANSIENT_TYPES = new Set([
  ...['UNKNOWN_TOPIC_OR_PARTITION', 'BROKER_NOT_AVAILABLE', 'REPLICA_NOT_AVAILABLE', 'NETWORK_EXCEPTION', 'UNKNOWN'],
  ...['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR_FOR_GROUP', 'NOT_CONTROLLER'],
  ...['CONCURRENT_TRANSACTIONS', 'KAFKA_STORAGE_ERROR', 'REQUEST_TIMED_OUT', 'FENCED_LEADER_EPOCH'],
  'THROTTLING_QUOTA_EXCEEDED',
])
/** Error codes newer than kafkajs, which reports them as unknown. */
const NEWER_TYPES = new Map([
  [89, 'THROTTLING_QUOTA_EXCEEDED'],
  [90, 'PRODUCER_FENCED'],
  [120, 'TRANSACTION_ABORTABLE'],
])
/** Errors a retry does not fix: denied access, a broker that is too old, our own bugs. */
const PERMANENT_NAMES = new Set([
  ...['KafkaJSSASLAuthenticationError', 'KafkaJSServerDoesNotSupportApiKey', 'KafkaJSNotImplemented'],
  ...['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'],
])
/** kafkajs reports a connection that ended while it logged in, as when a broker stops, like a rejected password. */
const LOGIN_INTERRUPTED =
  /authentication failed: (Not connected|Closed connection|Connection (error|timeout|closed)|Failed to connect|Request .* timed out)/
const REFUSED_TYPES = /AUTHORIZATION_FAILED|SASL|SECURITY/

/** An error and what it wraps, outermost first. */
function* layersOf(error: unknown): Generator<KafkaError> {
  for (let at = error; at instanceof Error; ) {
    const layer = at as KafkaError
    yield layer
    at = layer.errors?.[0] ?? layer.cause
  }
}

/** The protocol's name of the error, however kafkajs wrapped it. */
export function typeOf(error: unknown): string | undefined {
  for (const layer of layersOf(error)) if (layer.type !== undefined) return nameOfType(layer.type, layer.message)
  return undefined
}

/** kafkajs has the number of an unknown code only in its message. */
function nameOfType(type: string, message: string): string {
  const code = type === 'KAFKAJS_UNKNOWN_ERROR_CODE' ? /\bcode (\d+)/.exec(message)?.[1] : undefined
  return code === undefined ? type : (NEWER_TYPES.get(Number(code)) ?? `UNKNOWN_ERROR_CODE_${code}`)
}

/** Connections fail in many ways, not all of them known to kafkajs: whatever the broker did not answer itself is transient. */
export function isTransient(error: unknown): boolean {
  if (error instanceof DextapeError) return error.retry
  for (const { name, type, message, retriable } of layersOf(error)) {
    if (PERMANENT_NAMES.has(name)) return LOGIN_INTERRUPTED.test(message)
    if (type !== undefined) return TRANSIENT_TYPES.has(nameOfType(type, message)) || retriable === true
  }
  return true
}

export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n', 1)[0] ?? message
}

export function faultOf(error: unknown, doing: string, topic?: string): DextapeError {
  if (error instanceof DextapeError) return error
  const where = topic === undefined ? {} : { where: { topic } }
  const type = typeOf(error)
  if (isTransient(error))
    return new DextapeError({
      code: 'log_away',
      what: `Kafka is unreachable (${doing})`,
      retry: true,
      ...where,
      got: reasonOf(error),
      fix: 'Check that the brokers in KAFKA_BROKERS run and are reachable from this machine.',
      cause: error,
    })
  if ((error as Error).name === 'KafkaJSSASLAuthenticationError' || (type !== undefined && REFUSED_TYPES.test(type)))
    return new ConfigError({
      code: 'log_refused',
      what: `Kafka denied access (${doing})`,
      ...where,
      got: type ?? reasonOf(error),
      fix: 'Correct kafka.sasl in the configuration, or grant this user the permissions listed in docs/cluster.md.',
      cause: error,
    })
  return new DextapeError({
    code: 'log_failed',
    what: `Kafka refused the request (${doing})`,
    ...where,
    got: type ?? reasonOf(error),
    cause: error,
  })
}

export function closedFault(doing: string): DextapeError {
  return new DextapeError({ code: 'log_closed', what: `The log is closed (${doing})`, retry: true })
}

export function noLeaderYet(topic: string): DextapeError {
  return new DextapeError({ code: 'log_away', what: 'The topic has no leader yet', where: { topic }, retry: true })
}

/** Retried with a new producer id. */
export function producerForgotten(topic: string, cause: unknown): DextapeError {
  return new DextapeError({
    code: 'log_away',
    what: 'The Kafka broker no longer knows this producer',
    where: { topic },
    retry: true,
    cause,
  })
}
