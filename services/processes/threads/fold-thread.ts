/** The thread of `up` that folds the chains and stores their rows. */

import type { Loss } from '../../aggregate/chain-fold.js'
import type { ServiceReport } from '../../core/coordination/service-reports.js'
import type { Damage } from '../../core/data-dir/repairs.js'
import { blocksTopic } from '../../core/log/port.js'
import { createTracer } from '../../core/runtime/tracing.js'
import { createStoreFileList } from '../../core/store/store-files.js'
import { readPublished } from '../../ingest/resume-source.js'
import { foldedChains } from '../chain-status.js'
import { openFold, runFold } from '../fold-chains.js'
import { claimStore, openConfiguredStore, openReplayStore } from '../open-store.js'
import { emptyStore } from '../repair/check-store.js'
import { type ReportMethods, runThread, sendChanges, type ThreadData, type ThreadMethods } from './thread-parts.js'

export type FoldMethods = ThreadMethods & {
  open(): void
  /** Resolves when it has ended: whether it failed. */
  run(): Promise<boolean>
  /** Stores the waiting rows of a chain, or of all, now. */
  flush(chain?: string): Promise<void>
  /** Deletes what is older than its retention now, not once a day. */
  retain(): Promise<void>
  /** Folds a chain again from its first block: its checkpoint is damaged. */
  refoldChain(chain: string): Promise<void>
  /** Empties the store, and folds every chain again from its first block. Resolves when both have begun. */
  rebuildStore(): Promise<void>
}

/** How often the store's files are listed; they are also listed before each checkpoint. */
const LIST_FILES_EVERY_MS = 60_000

runThread<ThreadData, ReportMethods, Omit<FoldMethods, keyof ThreadMethods>>(async (parts) => {
  const { data, main, platform, logger, metrics, health, closing, signal } = parts
  const { config } = data
  const store = await openConfiguredStore({ ...config, dataDir: data.dataDir }, health, signal, closing)
  const isEmbedded = config.store.kind === 'embedded'
  const files = createStoreFileList(data.dataDir)
  const tracer = createTracer(config.tracing, { service: 'aggregate', logger, metrics })
  closing.push(async () => tracer?.close())
  const aggregate = openFold({
    ...{ platform, store, config, logger, metrics, tracer, ownsStore: isEmbedded },
    ...(isEmbedded ? { beforeCheckpoint: () => files.save() } : {}),
    openReplayStore: (chain) => openReplayStore({ ...config, dataDir: data.dataDir }, chain, store.database),
    beforeDrop: () => files.drop(),
    onLoss: (loss) => void reportLoss(loss),
  })
  if (isEmbedded) {
    const listing = setInterval(() => void files.save(), LIST_FILES_EVERY_MS)
    signal.addEventListener('abort', () => clearInterval(listing), { once: true })
  }

  async function reportLoss({ part, chain, what, epoch }: Loss): Promise<void> {
    const topic = blocksTopic(chain, platform.generations.liveOf(chain))
    const block = (await readPublished(platform.log, platform.codec, topic)).at(-1)?.number
    const damage: Damage = { part, what, answer: 'the chain is folded again from the log' }
    main.tell('damage', damage, block === undefined ? {} : { [chain]: { block, epoch } })
  }
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
    retain: () => aggregate.retain(),
    refoldChain: (chain) => aggregate.refoldChain(chain),
    async rebuildStore() {
      await aggregate.refold(async () => {
        files.drop()
        await emptyStore(store)
        await claimStore(store, (await platform.origin())?.origin ?? 'real')
      })
    },
  }
})
