/** What kafkajs throws, as one of ours: worth another try, or what to change. */
import { ConfigError, DextapeError } from '../../domain/errors.js'

type KafkaError = Error & { type?: string; retriable?: boolean; cause?: unknown; errors?: readonly unknown[] }

/** States that pass, though the protocol does not call them retriable. */
const PASSING_TYPES = new Set([
  ...['UNKNOWN_TOPIC_OR_PARTITION', 'BROKER_NOT_AVAILABLE', 'REPLICA_NOT_AVAILABLE', 'NETWORK_EXCEPTION', 'UNKNOWN'],
  ...['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR_FOR_GROUP', 'NOT_CONTROLLER'],
  ...['CONCURRENT_TRANSACTIONS', 'KAFKA_STORAGE_ERROR', 'REQUEST_TIMED_OUT', 'FENCED_LEADER_EPOCH'],
  'THROTTLING_QUOTA_EXCEEDED',
])
/** Codes newer than kafkajs, which knows them only as unknown. */
const NEWER_TYPES = new Map([
  [89, 'THROTTLING_QUOTA_EXCEEDED'],
  [90, 'PRODUCER_FENCED'],
  [120, 'TRANSACTION_ABORTABLE'],
])
/** What another try does not mend: a refusal, a broker too old, a mistake of ours. */
const LASTING_NAMES = new Set([
  ...['KafkaJSSASLAuthenticationError', 'KafkaJSServerDoesNotSupportApiKey', 'KafkaJSNotImplemented'],
  ...['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'],
])
const REFUSED_TYPES = /AUTHORIZATION_FAILED|SASL|SECURITY/

/** An error and what it wraps, outermost first. */
function* layersOf(error: unknown): Generator<KafkaError> {
  for (let at = error; at instanceof Error; ) {
    const layer = at as KafkaError
    yield layer
    at = layer.errors?.[0] ?? layer.cause
  }
}

/** The protocol's own name of what went wrong, however kafkajs wrapped it. */
export function typeOf(error: unknown): string | undefined {
  for (const layer of layersOf(error)) if (layer.type !== undefined) return namedType(layer.type, layer.message)
  return undefined
}

/** kafkajs has the number of a code it does not know in its message alone. */
function namedType(type: string, message: string): string {
  const code = type === 'KAFKAJS_UNKNOWN_ERROR_CODE' ? /\bcode (\d+)/.exec(message)?.[1] : undefined
  return code === undefined ? type : (NEWER_TYPES.get(Number(code)) ?? `UNKNOWN_ERROR_CODE_${code}`)
}

/** Connections fail in many words, not all of them kafkajs' own: whatever the broker did not answer itself may pass. */
export function isPassing(error: unknown): boolean {
  if (error instanceof DextapeError) return error.retry
  for (const { name, type, message, retriable } of layersOf(error)) {
    if (LASTING_NAMES.has(name)) return false
    if (type !== undefined) return PASSING_TYPES.has(namedType(type, message)) || retriable === true
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
  if (isPassing(error))
    return new DextapeError({
      code: 'log_away',
      what: `The Kafka broker does not answer (${doing})`,
      retry: true,
      ...where,
      got: reasonOf(error),
      fix: 'See that the brokers of KAFKA_BROKERS run and can be reached from here.',
      cause: error,
    })
  if ((error as Error).name === 'KafkaJSSASLAuthenticationError' || (type !== undefined && REFUSED_TYPES.test(type)))
    return new ConfigError({
      code: 'log_refused',
      what: `The Kafka broker does not let us (${doing})`,
      ...where,
      got: type ?? reasonOf(error),
      fix: 'Correct kafka.sasl in the configuration, or give this user the rights docs/cluster.md lists.',
      cause: error,
    })
  return new DextapeError({
    code: 'log_failed',
    what: `The Kafka broker refused (${doing})`,
    ...where,
    got: type ?? reasonOf(error),
    cause: error,
  })
}

export function closedFault(doing: string): DextapeError {
  return new DextapeError({ code: 'log_closed', what: `the log is closed (${doing})`, retry: true })
}

export function noLeaderYet(topic: string): DextapeError {
  return new DextapeError({ code: 'log_away', what: 'the topic has no leader yet', where: { topic }, retry: true })
}

/** Worth another try, under another producer's number. */
export function forgotten(topic: string, cause: unknown): DextapeError {
  return new DextapeError({
    code: 'log_away',
    what: 'the broker forgot this writer',
    where: { topic },
    retry: true,
    cause,
  })
}
