/**
 * OpenTelemetry traces of blocks: every Nth block of a chain is one trace, with a span for each stage. Its ids follow from the
 * block, so that threads and processes that never talk to each other add their spans to the same trace.
 */
import { createHash, randomBytes } from 'node:crypto'
import { type Logger, withoutAddresses } from './logger.js'
import type { Metrics } from './metrics.js'
import { VERSION } from './version.js'

/** What identifies a block to its trace. */
export type BlockName = { chain: string; number: number; hash: string }

/** `block` is the root, from the source to the log; the others are its children. */
export type SpanName = 'block' | 'fold' | 'store' | 'observe' | 'push'

export type SpanValue = string | number | boolean

export interface Tracer {
  /** Cheap: asked once per block and stage. */
  wants(number: number): boolean
  /** Times by the wall clock. */
  span(block: BlockName, name: SpanName, startMs: number, endMs: number, values?: Record<string, SpanValue>): void
  /** Sends what waits, once. */
  close(): Promise<void>
}

export type TracingChoice = { kind: 'none' } | { kind: 'otlp'; url: string; everyBlocks: number }

export type TracerDeps = {
  /** `ingest`, `aggregate` or `serve`. */
  service: string
  logger: Logger
  metrics: Metrics
  /** Resolves with the status of the answer. */
  post?: (url: string, body: string) => Promise<number>
  flushEveryMs?: number
}

/** OTLP's JSON form: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
type OtlpSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
}
type Attribute = { key: string; value: { stringValue: string } | { intValue: string } | { boolValue: boolean } }

const KIND_INTERNAL = 1
const FLUSH_EVERY_MS = 2000
const TIMEOUT_MS = 5000
/** More waiting spans are dropped: a collector that is away must cost no memory. */
const MOST_WAITING = 2048

export function createTracer(choice: TracingChoice | undefined, deps: TracerDeps): Tracer | undefined {
  if (choice === undefined || choice.kind === 'none') return undefined
  const { logger, metrics, service, post = postJson } = deps
  const url = `${choice.url.replace(/\/+$/, '')}/v1/traces`
  const resource = { attributes: attributesOf({ 'service.name': `dextape-${service}`, 'service.version': VERSION }) }
  const counts = { sent: 0, dropped: 0 }
  let waiting: OtlpSpan[] = []
  let isFailing = false
  let sending: Promise<void> | undefined

  metrics.counter({ name: 'dextape_trace_spans_total', help: 'Spans of traces, by outcome', labels: ['outcome'] }, () =>
    Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
  )

  async function send(): Promise<void> {
    const spans = waiting
    if (spans.length === 0) return
    waiting = []
    const scope = { name: 'dextape', version: VERSION }
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] })
    try {
      const status = await post(url, body)
      if (status < 200 || status > 299) throw new Error(`the collector answered ${status}`)
      counts.sent += spans.length
      isFailing = false
    } catch (error) {
      counts.dropped += spans.length
      if (!isFailing) logger.warn('cannot send traces', { url: withoutAddresses(url), error })
      isFailing = true
    }
  }

  function flush(): Promise<void> {
    sending ??= send().finally(() => {
      sending = undefined
    })
    return sending
  }

  const timer = setInterval(() => void flush(), deps.flushEveryMs ?? FLUSH_EVERY_MS).unref()

  return {
    wants: (number) => number % choice.everyBlocks === 0,
    span({ chain, number, hash }, name, startMs, endMs, values = {}) {
      if (waiting.length >= MOST_WAITING) {
        counts.dropped += 1
        return
      }
      const { traceId, rootId } = traceOf({ chain, number, hash })
      waiting.push({
        traceId,
        ...(name === 'block' ? { spanId: rootId } : { spanId: randomBytes(8).toString('hex'), parentSpanId: rootId }),
        ...{ name, kind: KIND_INTERNAL, startTimeUnixNano: nanos(startMs) },
        // Threads have separate clocks that may differ by a fraction of a millisecond.
        endTimeUnixNano: nanos(Math.max(startMs, endMs)),
        attributes: attributesOf({ chain, 'block.number': number, 'block.hash': hash, ...values }),
      })
    },
    async close() {
      clearInterval(timer)
      await sending
      await flush()
    },
  }
}

/** The same in every process. */
export function traceOf({ chain, number, hash }: BlockName): { traceId: string; rootId: string } {
  const digest = createHash('sha256').update(`${chain}:${number}:${hash}`).digest('hex')
  return { traceId: digest.slice(0, 32), rootId: digest.slice(32, 48) }
}

function attributesOf(values: Record<string, SpanValue>): Attribute[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: spanValue(value) }))
}

function spanValue(value: SpanValue): Attribute['value'] {
  if (typeof value === 'boolean') return { boolValue: value }
  return typeof value === 'number' ? { intValue: String(Math.round(value)) } : { stringValue: value }
}

/** Of milliseconds with fractions; a double cannot hold nanoseconds of today. */
function nanos(ms: number): string {
  const whole = Math.floor(ms)
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`
}

async function postJson(url: string, body: string): Promise<number> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) })
  await answer.arrayBuffer()
  return answer.status
}
