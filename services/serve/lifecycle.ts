import type { FastifyInstance } from 'fastify'
import { createBackoff, sleep, untilAborted, withRetry } from '../core/runtime/backoff.js'
import type { Spending } from './keys/spending.js'
import type { Memory } from './memory/memory.js'
import type { PushServer } from './push/push-server.js'
import type { ServeDeps } from './serve-deps.js'

const MAX_RETRY_MS = 2000
const MAX_SAVE_MS = 1000

/** What requests need to know of the startup. `wsPort`: once it is open here. */
export type ServeState = { isLoaded: boolean; wsPort: number | undefined }

type Parts = {
  memory: Memory
  /** Undefined: runs in another thread. */
  rest: FastifyInstance | undefined
  push: PushServer | undefined
  spending: Spending
  state: ServeState
}

/** Starts and stops the parts of serve in order. */
export function createLifecycle(deps: ServeDeps, { memory, rest, push, spending, state }: Parts) {
  const { config, logger } = deps
  const ending = new AbortController()
  let closing: Promise<void> | undefined

  async function load(signal: AbortSignal): Promise<void> {
    const attempt = async () => {
      await deps.prepare?.()
      await memory.start()
      return true
    }
    // Outages are logged by health.
    const attempts = withRetry(attempt, createBackoff({ maxMs: MAX_RETRY_MS }), signal, () => {})
    if ((await untilAborted(attempts, signal)) === undefined) return
    state.isLoaded = true
    // Sockets are accepted once recent pushes can be replayed: a client that resumes must not get a gap notice.
    const caughtUp = memory.caughtUp().then(() => true)
    if ((await untilAborted(caughtUp, signal)) === undefined) return
    if (push !== undefined) state.wsPort = await push.listen(config.host, config.wsPort)
    const ports = { ...(rest === undefined ? {} : { http_port: httpPort() }), ...(push && { ws_port: state.wsPort }) }
    logger.info('serving', { ...ports, chains: memory.chains().map(({ chain }) => chain) })
  }

  function httpPort(): number {
    const address = rest?.server.address()
    return typeof address === 'object' && address != null ? address.port : config.httpPort
  }

  async function close(): Promise<void> {
    ending.abort()
    push?.stop()
    await rest?.close()
    // An unreachable log must not delay the stop for the last second's credit units.
    const saved = new AbortController()
    await Promise.race([spending.save(), sleep(MAX_SAVE_MS, saved.signal)])
    saved.abort()
    await memory.stop()
  }

  function stop(): Promise<void> {
    closing ??= close()
    return closing
  }

  return {
    async start(signal?: AbortSignal): Promise<{ httpPort: number; wsPort: number }> {
      await rest?.listen({ host: config.host, port: config.httpPort })
      try {
        await load(signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]))
      } catch (error) {
        await stop()
        throw error
      }
      return { httpPort: httpPort(), wsPort: state.wsPort ?? config.wsPort }
    },
    stop,
  }
}
