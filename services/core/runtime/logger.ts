/** Structured logs on stderr: a constant message plus fields. JSON lines, or readable text on a terminal. */
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

function plain(value: unknown): unknown {
  return value instanceof Error ? value.message : value
}

function jsonLine(level: string, message: string, fields: LogFields): string {
  const body = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]))
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...body })
}

function textLine(level: string, message: string, fields: LogFields): string {
  const tail = Object.entries(fields).map(([name, value]) => `${name}=${inline(plain(value))}`)
  const mark = level === 'info' ? ' ' : level === 'warn' ? '!' : '✗'
  return `${new Date().toISOString().slice(11, 19)} ${mark} ${[message, ...tail].join('  ')}`
}

function inline(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
