/** An error as a log line tells it: code, message, stack and what caused it, without secrets. */
import { DextapeError } from '../domain/errors.js'

export type ErrorText = {
  name: string
  code?: string | number
  message: string
  stack?: string
  cause?: ErrorText | string
}

/** Causes may go in a circle. */
const MAX_CAUSES = 8

/** Named fields alone: others, such as a request's headers, may hold secrets. */
export function describeError(error: Error, causesLeft = MAX_CAUSES): ErrorText {
  const { name, code } = error as Error & { code?: unknown }
  // Our own messages are written without secrets; of a URL they may need the path.
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

/** The stack and the causes as lines to put below a message. */
export function errorLines({ stack, cause }: ErrorText): string[] {
  const lines = stack === undefined ? [] : stack.split('\n').filter((line) => FRAME.test(line))
  if (cause === undefined) return lines
  if (typeof cause === 'string') return [...lines, `  caused by ${cause}`]
  const code = cause.code === undefined ? '' : ` (${cause.code})`
  return [...lines, `  caused by ${cause.name}: ${cause.message}${code}`, ...errorLines(cause)]
}

/** Of an address only the host stays, since user, path and query may hold a secret. */
export function withoutAddresses(text: string): string {
  return text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/@]*@)?([^\s/?#"'<>)]+)[^\s"'<>)]*/gi, '$1$2')
}

const FRAME = /^\s+at /

/** Without the head, which repeats the message. */
function framesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => FRAME.test(line))
    .join('\n')
}

/** Several errors at once have no cause of their own, but a first one. */
function causeOf(error: Error): unknown {
  return error.cause ?? (error as { errors?: readonly unknown[] }).errors?.[0]
}
