/** SIGTERM and SIGINT become one AbortSignal; a second signal, or a slow stop, kills the process. */
import type { Logger } from './logger.js'

export const STOP_WITHIN_MS = 5000
/** Killed a little earlier, so that the process has ended within STOP_WITHIN_MS. */
const FORCE_AFTER_MS = STOP_WITHIN_MS - 500

type SignalSource = {
  on(signal: NodeJS.Signals, listener: () => void): unknown
  off(signal: NodeJS.Signals, listener: () => void): unknown
}

/** `end`: ends the process at once, in any state. */
export type ShutdownEdge = { signals: SignalSource; end: () => void }

/** Not an exit: that runs the embedded engine's exit handlers, which may never return. */
export const killMyself = () => void process.kill(process.pid, 'SIGKILL')

export interface Shutdown {
  /** Aborts when the process must stop; its reason is the signal's name or the one given to `stop`. */
  readonly signal: AbortSignal
  /** Stops the process from inside, for a part that cannot continue. */
  stop(reason: string): void
  /** Names the work in the log if a stop takes too long because of it. */
  awaiting<T>(what: string, work: Promise<T>): Promise<T>
  /** Everything is closed: stops the kill timer and removes the signal handlers. */
  done(): void
}

export function createShutdown(
  logger: Logger,
  edge: ShutdownEdge = { signals: process, end: killMyself },
  forceAfterMs = FORCE_AFTER_MS,
): Shutdown {
  const controller = new AbortController()
  const awaited = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  function stop(reason: string): void {
    if (controller.signal.aborted) return
    logger.info('stopping', { reason })
    timer = setTimeout(() => {
      logger.error('stopping took too long, killing the process', { after_ms: forceAfterMs, waiting_for: [...awaited] })
      edge.end()
    }, forceAfterMs)
    // A process with nothing left to do may end earlier.
    timer.unref()
    controller.abort(reason)
  }

  function onSignal(name: NodeJS.Signals): void {
    if (controller.signal.aborted) {
      logger.warn('second signal, killing the process', { signal: name })
      edge.end()
    } else stop(name)
  }
  const onTerm = () => onSignal('SIGTERM')
  const onInt = () => onSignal('SIGINT')
  edge.signals.on('SIGTERM', onTerm)
  edge.signals.on('SIGINT', onInt)

  return {
    signal: controller.signal,
    stop,
    awaiting(what, work) {
      awaited.add(what)
      return work.finally(() => awaited.delete(what))
    },
    done() {
      clearTimeout(timer)
      edge.signals.off('SIGTERM', onTerm)
      edge.signals.off('SIGINT', onInt)
    },
  }
}
