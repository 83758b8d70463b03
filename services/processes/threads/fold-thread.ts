/** The thread of `up` that folds the chains and stores their rows. */

import type { ServiceReport } from '../../core/coordination/service-reports.js'
import { foldedChains } from '../chain-status.js'
import { openFold, runFold } from '../fold-chains.js'
import { openConfiguredStore } from '../open-store.js'
import { type ReportMethods, runThread, sendChanges, type ThreadData, type ThreadMethods } from './thread-parts.js'

export type FoldMethods = ThreadMethods & {
  open(): void
  /** Resolves when it has ended: whether it failed. */
  run(): Promise<boolean>
  /** Stores the waiting rows of a chain, or of all, now. */
  flush(chain?: string): Promise<void>
}

runThread<ThreadData, ReportMethods, Omit<FoldMethods, keyof ThreadMethods>>(async (parts) => {
  const { data, main, platform, logger, metrics, health, closing, signal } = parts
  const { config } = data
  const store = await openConfiguredStore({ ...config, dataDir: data.dataDir }, health, signal, closing)
  const aggregate = openFold({ platform, store, config, logger, metrics })
  sendChanges<ServiceReport>(
    () => ({ service: 'aggregate', away: health.report(), chains: foldedChains(aggregate.status()) }),
    (report) => main.tell('report', report),
    signal,
  )
  const stop = (reason: string) => main.tell('stopProcess', reason)
  let running: Promise<boolean> | undefined
  const ended = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(running?.then(() => {})), { once: true })
  })
  return {
    ended,
    open: () => {},
    run() {
      running ??= runFold(aggregate, { platform, config, logger }, { signal, stop }).then(
        (failure) => failure !== undefined,
      )
      return running
    },
    async flush(chain) {
      const chains = chain === undefined ? aggregate.status().map((status) => status.chain) : [chain]
      await Promise.all(chains.map((one) => aggregate.flush(one)))
    },
  }
})
