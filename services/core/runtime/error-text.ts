/** An error for a log line: code, message, stack and causes, without secrets. */
import { DextapeError } from '../domain/errors.js'

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
export function describeError(error: Error, causesLeft = MAX_CAUSES): ErrorText {
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
export function errorLines({ stack, cause }: ErrorText): string[] {
  const lines = stack === undefined ? [] : stack.split('\n').filter((line) => FRAME.test(line))
  if (cause === undefined) return lines
  if (typeof cause === 'string') return [...lines, `  caused by ${cause}`]
  const code = cause.code === undefined ? '' : ` (${cause.code})`
  return [...lines, `  caused by ${cause.name}: ${cause.message}${code}`, ...errorLines(cause)]
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
