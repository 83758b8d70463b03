/** SIGTERM and SIGINT become one AbortSignal; a second signal, or a stop that takes too long, ends the process at once. */
import type { Logger } from './logger.js'

export const STOP_WITHIN_MS = 5000
/** The forced end comes a little earlier, so that the process is gone within the promise. */
const FORCE_AFTER_MS = STOP_WITHIN_MS - 500

type SignalSource = {
  on(signal: NodeJS.Signals, listener: () => void): unknown
  off(signal: NodeJS.Signals, listener: () => void): unknown
}

/** `end`: at once, whatever state the process is in. */
export type ShutdownEdge = { signals: SignalSource; end: () => void }

/** Not an exit: that runs the embedded engine's own handlers, which may wait for ever for what is broken. */
export const killMyself = () => void process.kill(process.pid, 'SIGKILL')

export interface Shutdown {
  /** Aborts when the process shall stop; its reason is the signal's name or what `stop` was given. */
  readonly signal: AbortSignal
  /** The same from inside: a part that cannot go on. */
  stop(reason: string): void
  /** Everything is closed: the clock that would force the end is stopped, the handlers are gone. */
  done(): void
}

export function createShutdown(
  logger: Logger,
  edge: ShutdownEdge = { signals: process, end: killMyself },
  forceAfterMs = FORCE_AFTER_MS,
): Shutdown {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined

  function stop(reason: string): void {
    if (controller.signal.aborted) return
    logger.info('stopping', { reason })
    timer = setTimeout(() => {
      logger.error('the stop took too long, ending now', { after_ms: forceAfterMs })
      edge.end()
    }, forceAfterMs)
    // A process with nothing left to do may end before the clock runs out.
    timer.unref()
    controller.abort(reason)
  }

  function onSignal(name: NodeJS.Signals): void {
    if (controller.signal.aborted) {
      logger.warn('second signal, ending now', { signal: name })
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
    done() {
      clearTimeout(timer)
      edge.signals.off('SIGTERM', onTerm)
      edge.signals.off('SIGINT', onInt)
    },
  }
}
