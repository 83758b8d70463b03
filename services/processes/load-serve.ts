/** Serve is loaded once its native part is known to load here: else the start says what is missing, not where it broke. */
import { ConfigError } from '../core/domain/errors.js'
import type { createServe } from '../serve/main.js'

export async function loadServe(): Promise<typeof createServe> {
  try {
    await import('uWebSockets.js')
  } catch (cause) {
    throw new ConfigError({
      code: 'push_engine_missing',
      what: `The WebSocket server (uWebSockets.js) does not load with Node ${process.versions.node} on this system: ${reasonOf(cause)}`,
      fix: 'Its builds for Node 22 and later want glibc 2.38 (Debian 13, Ubuntu 24.04): use such a system, or Node 20.',
      cause,
    })
  }
  const serve = await import('../serve/main.js')
  return serve.createServe
}

/** The line that names the cause; the package puts its list of platforms before it. */
function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  return (
    message
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/\(required by .*\)/, '')
      .trim() ?? message
  )
}
