/** `dextape aggregate`: folds its share of a cluster's chains. */
import { createBackoff, sleep, withRetry } from '../core/runtime/backoff.js'
import { hostInUrl } from '../core/runtime/ports.js'
import type { Store } from '../core/store/port.js'
import { foldedChains } from './chain-status.js'
import { runProcess } from './cluster-process.js'
import { openFold, runFold } from './fold-chains.js'
import { claimStore, openConfiguredStore, openReplayStore } from './open-store.js'
import type { RunAggregate } from './process-options.js'

const ORIGIN_POLL_MS = 500
const MAX_RETRY_DELAY_MS = 2000

export const runAggregate: RunAggregate = ({ config, logger, out }) =>
  runProcess({ command: 'aggregate', config, logger, parts: ['log', 'store'] }, async (parts) => {
    const { platform, health, metrics, tracer, shutdown, closing, serveStatus, publishStatus } = parts
    const store = await openConfiguredStore(config, health, shutdown.signal, closing)
    let isClaimed = false
    /** Ingest marks the origin before its first block, so a chain to fold always has one. */
    async function claim(): Promise<void> {
      while (!isClaimed && !shutdown.signal.aborted) {
        const marked = await platform.origin()
        if (marked !== undefined) await claimStore(store, marked.origin)
        isClaimed = marked !== undefined
        if (!isClaimed) await sleep(ORIGIN_POLL_MS, shutdown.signal)
      }
    }
    const aggregate = openFold({
      ...{ platform, store, config, logger, metrics, tracer, beforeChain: claim },
      openReplayStore: (chain) => openReplayStore(config, chain, store.database),
    })
    let isMigrated = false
    const chains = () =>
      aggregate.status().map(({ chain, firstBlock, stopped, head, seq, flushedSeq }) => ({
        ...{ chain, head: head?.number ?? null, seq, stored_seq: flushedSeq },
        ...{ indexed_from: firstBlock?.number ?? null, stopped },
      }))
    const port = await serveStatus({ isReady: () => isMigrated, status: () => ({ chains: chains() }) })
    publishStatus(() => ({
      service: 'aggregate',
      away: health.report(),
      chains: foldedChains(aggregate.status()),
    }))
    isMigrated = await migrateWhenReachable(store, shutdown.signal)
    if (!isMigrated) return 0
    await out.line(`aggregate is up: http://${hostInUrl(config.host)}:${port}/status`)
    const failure = await runFold(aggregate, { platform, config, logger }, shutdown)
    return failure === undefined ? 0 : 1
  })

/** Retries until the store is reachable; false if the process is asked to stop before. Health reports the outage. */
async function migrateWhenReachable(store: Store, signal: AbortSignal): Promise<boolean> {
  const backoff = createBackoff({ maxMs: MAX_RETRY_DELAY_MS })
  return (
    (await withRetry(
      () => store.migrate(),
      backoff,
      signal,
      () => {},
    )) !== undefined
  )
}
