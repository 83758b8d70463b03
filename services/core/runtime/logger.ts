/** Structured logs on stderr: a constant message plus fields. JSON lines, or readable text on a terminal. */
import { DextapeError } from '../domain/errors.js'
import { createPaint, type OutStream, type Paint, printable, wantsColour } from './terminal.js'

export type LogFields = Record<string, unknown>

export interface Logger {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  child(fields: LogFields): Logger
}

type Sink = (line: string) => void

/** `colour`: text, in colours. */
export type LogFormat = 'json' | 'text' | 'colour'

/** `auto`: text on a terminal, JSON lines elsewhere. */
export function chooseLogFormat(
  chosen: 'auto' | 'text' | 'json',
  env: Readonly<Record<string, string | undefined>>,
  stream: Pick<OutStream, 'isTTY'>,
): LogFormat {
  const format = chosen === 'auto' ? (stream.isTTY === true ? 'text' : 'json') : chosen
  return format === 'text' && wantsColour(env, stream) ? 'colour' : format
}

export function createLogger(format: LogFormat, fields: LogFields = {}, sink: Sink = writeStderr): Logger {
  const paint = createPaint(format === 'colour')
  const write = (level: string, message: string, extra: LogFields = {}) =>
    sink(
      format === 'json'
        ? jsonLine(level, message, { ...fields, ...extra })
        : textLine(level, message, { ...fields, ...extra }, paint),
    )
  return {
    info: (message, extra) => write('info', message, extra),
    warn: (message, extra) => write('warn', message, extra),
    error: (message, extra) => write('error', message, extra),
    child: (extra) => createLogger(format, { ...fields, ...extra }, sink),
  }
}

export const silentLogger: Logger = createLogger('json', {}, () => {})

function writeStderr(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** No field replaces them. */
const OWN_FIELDS = new Set(['time', 'level', 'message'])

function jsonLine(level: string, message: string, fields: LogFields): string {
  const body = Object.entries(fields).map(([name, value]) => [
    OWN_FIELDS.has(name) ? `field_${name}` : name,
    value instanceof Error ? describeError(value) : value,
  ])
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...Object.fromEntries(body) })
}

/** An error's message is in the line, its stack and causes below it. */
function textLine(level: string, message: string, fields: LogFields, paint: Paint): string {
  const line = [level === 'error' ? paint.red(message) : level === 'warn' ? paint.yellow(message) : message]
  const below: string[] = []
  for (const [name, value] of Object.entries(fields)) {
    if (!(value instanceof Error)) {
      line.push(`${paint.dim(`${name}=`)}${inline(value)}`)
      continue
    }
    const error = describeError(value)
    line.push(`${paint.dim(`${name}=`)}${oneLine(error.message)}`)
    if (error.code !== undefined) line.push(`${name}_code=${error.code}`)
    below.push(...errorLines(error))
  }
  const mark = level === 'info' ? ' ' : level === 'warn' ? paint.yellow('!') : paint.red('✗')
  return [`${paint.dim(new Date().toISOString().slice(11, 19))} ${mark} ${line.join('  ')}`, ...below].join('\n')
}

function inline(value: unknown): string {
  return typeof value === 'string' ? oneLine(value) : printable(JSON.stringify(value) ?? '')
}

/** Texts from chains and nodes are anybody's: on a terminal they must not move the cursor. */
function oneLine(text: string): string {
  return printable(text.replaceAll(/[\n\t]/g, ' '))
}

/** An error for a log line: code, message, stack and causes, without secrets. */
export type ErrorText = {
  name: string
  code?: string | number
  message: string
  stack?: string
  cause?: ErrorText | string
}

/** Causes may form a cycle. */
const MAX_CAUSES = 8

/** Only these fields: others, such as a request's headers, may hold secrets. */
function describeError(error: Error, causesLeft = MAX_CAUSES): ErrorText {
  const { name, code } = error as Error & { code?: unknown }
  // Our own messages have no secrets, and may need the path of a URL.
  const message = error instanceof DextapeError ? error.message : withoutAddresses(error.message)
  const frames = framesOf(error)
  const cause = causesLeft > 0 ? causeOf(error) : undefined
  return {
    name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    message,
    ...(frames === '' ? {} : { stack: `${name}: ${message}\n${frames}` }),
    ...(cause === undefined
      ? {}
      : { cause: cause instanceof Error ? describeError(cause, causesLeft - 1) : withoutAddresses(String(cause)) }),
  }
}

/** Stack and causes as lines below a message. */
function errorLines({ stack, cause }: ErrorText): string[] {
  const lines = stack === undefined ? [] : stack.split('\n').filter((line) => FRAME.test(line))
  if (cause === undefined) return lines
  if (typeof cause === 'string') return [...lines, `  caused by ${oneLine(cause)}`]
  const code = cause.code === undefined ? '' : ` (${cause.code})`
  return [...lines, `  caused by ${cause.name}: ${oneLine(cause.message)}${code}`, ...errorLines(cause)]
}

/** Reduces URLs to their host: user, path and query may hold a secret. */
export function withoutAddresses(text: string): string {
  return text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/@]*@)?([^\s/?#"'<>)]+)[^\s"'<>)]*/gi, '$1$2')
}

const FRAME = /^\s+at /

/** Without the first line, which repeats the message. */
function framesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => FRAME.test(line))
    .join('\n')
}

/** An AggregateError has no cause; its first error is used. */
function causeOf(error: Error): unknown {
  return error.cause ?? (error as { errors?: readonly unknown[] }).errors?.[0]
}
