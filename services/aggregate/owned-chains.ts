/** Folds the chains assigned to this process: starts new ones, stops those reassigned, retries what can be retried. */
import { DextapeError } from '../core/domain/errors.js'
import { isRetryable, sleep } from '../core/runtime/backoff.js'
import type { Logger } from '../core/runtime/logger.js'
import type { Aggregate } from './main.js'

export type OwnedChains = {
  assign(chains: readonly string[]): void
  /** Resolves once everything started has ended. */
  ended(): Promise<void>
}

export type OwnedChainsDeps = {
  aggregate: Pick<Aggregate, 'runChain'>
  logger: Logger
  /** Folding failed permanently, and not because of the chain's blocks. */
  onFailure: (chain: string, error: unknown) => void
  retryMs?: number
}

/** Long enough to learn from the group that another process owns the chain, before claiming it again. */
const RETRY_MS = 2000

type Run = { stop: AbortController; ended: Promise<void> }

export function createOwnedChains(deps: OwnedChainsDeps, signal: AbortSignal): OwnedChains {
  const { aggregate, logger, onFailure, retryMs = RETRY_MS } = deps
  const runs = new Map<string, Run>()
  const ending = new Map<string, Promise<void>>()

  async function fold(chain: string, until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      try {
        return await aggregate.runChain(chain, until)
      } catch (error) {
        if (until.aborted) return
        const isFenced = error instanceof DextapeError && error.code === 'fenced'
        if (!isFenced && !isRetryable(error)) {
          onFailure(chain, error)
          return
        }
        if (isFenced) logger.warn('another process took over this chain', { chain })
        else logger.warn('folding a chain failed, retrying', { chain, error })
        await sleep(retryMs, until)
      }
    }
  }

  function start(chain: string): void {
    const stop = new AbortController()
    const before = ending.get(chain) ?? Promise.resolve()
    const ended = before.then(() => fold(chain, AbortSignal.any([signal, stop.signal])))
    runs.set(chain, { stop, ended })
  }

  function end(chain: string, { stop, ended }: Run): void {
    logger.info('chain is no longer assigned to this process', { chain })
    runs.delete(chain)
    stop.abort()
    const gone = ended.finally(() => {
      if (ending.get(chain) === gone) ending.delete(chain)
    })
    ending.set(chain, gone)
  }

  return {
    assign(chains) {
      if (signal.aborted) return
      const wanted = new Set(chains)
      for (const [chain, run] of [...runs]) if (!wanted.has(chain)) end(chain, run)
      for (const chain of wanted) if (!runs.has(chain)) start(chain)
    },
    async ended() {
      await Promise.all([...[...runs.values()].map(({ ended }) => ended), ...ending.values()])
    },
  }
}
