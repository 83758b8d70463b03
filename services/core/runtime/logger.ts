/** Structured logs on stderr: a constant message plus fields. JSON lines, or readable text on a terminal. */
import { describeError, errorLines } from './error-text.js'

export type LogFields = Record<string, unknown>

export interface Logger {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  child(fields: LogFields): Logger
}

type Sink = (line: string) => void

export function createLogger(format: 'text' | 'json', fields: LogFields = {}, sink: Sink = writeStderr): Logger {
  const write = (level: string, message: string, extra: LogFields = {}) =>
    sink(
      format === 'json'
        ? jsonLine(level, message, { ...fields, ...extra })
        : textLine(level, message, { ...fields, ...extra }),
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

function jsonLine(level: string, message: string, fields: LogFields): string {
  const body = Object.entries(fields).map(([name, value]) => [
    name,
    value instanceof Error ? describeError(value) : value,
  ])
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...Object.fromEntries(body) })
}

/** Errors say their message in the line and the rest below it. */
function textLine(level: string, message: string, fields: LogFields): string {
  const line = [message]
  const below: string[] = []
  for (const [name, value] of Object.entries(fields)) {
    if (!(value instanceof Error)) {
      line.push(`${name}=${inline(value)}`)
      continue
    }
    const error = describeError(value)
    line.push(`${name}=${error.message}`)
    if (error.code !== undefined) line.push(`${name}_code=${error.code}`)
    below.push(...errorLines(error))
  }
  const mark = level === 'info' ? ' ' : level === 'warn' ? '!' : '✗'
  return [`${new Date().toISOString().slice(11, 19)} ${mark} ${line.join('  ')}`, ...below].join('\n')
}

function inline(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
