/** `dextape aggregate`: folds its share of the chains, as one of a group. */
import { createBackoff, sleep, withRetry } from '../core/runtime/backoff.js'
import { hostInUrl } from '../core/runtime/ports.js'
import { runProcess } from './cluster-process.js'
import { openFold, runFold } from './fold-chains.js'
import { claimStore, openConfiguredStore } from './open-store.js'
import type { RunAggregate } from './process-options.js'

const ORIGIN_EVERY_MS = 500

export const runAggregate: RunAggregate = ({ config, logger, out }) =>
  runProcess({ command: 'aggregate', config, logger, parts: ['log', 'store'] }, async (parts) => {
    const { platform, health, metrics, shutdown, closing, answer, tell } = parts
    const store = await openConfiguredStore(config, health, shutdown, closing)
    let isClaimed = false
    /** Ingest marks the cluster before its first block, so a chain to fold has a mark. */
    async function claim(): Promise<void> {
      while (!isClaimed && !shutdown.signal.aborted) {
        const marked = await platform.origin()
        if (marked !== undefined) await claimStore(store, marked.origin)
        isClaimed = marked !== undefined
        if (!isClaimed) await sleep(ORIGIN_EVERY_MS, shutdown.signal)
      }
    }
    const aggregate = openFold({ platform, store, config, logger, metrics, beforeChain: claim })
    let isMigrated = false
    const chains = () =>
      aggregate.status().map(({ chain, firstBlock, stopped, head, seq, flushedSeq }) => ({
        ...{ chain, head: head?.number ?? null, seq, stored_seq: flushedSeq },
        ...{ indexed_from: firstBlock?.number ?? null, stopped },
      }))
    const port = await answer({ isReady: () => isMigrated, status: () => ({ chains: chains() }) })
    tell(() => ({
      service: 'aggregate',
      away: health.report(),
      chains: chains().map(({ chain, indexed_from, stopped }) => ({ chain, indexedFrom: indexed_from, stopped })),
    }))
    isMigrated = await untilPrepared(() => store.migrate(), shutdown.signal)
    if (!isMigrated) return 0
    await out.line(`aggregate is up; http://${hostInUrl(config.host)}:${port}/status`)
    const failure = await runFold(aggregate, { platform, config, logger }, shutdown)
    return failure === undefined ? 0 : 1
  })

const LONGEST_WAIT_MS = 2000

/** Tries what a start needs until it is there; false where the process shall stop before. What is away is told by health. */
export async function untilPrepared(prepare: () => Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  const attempt = async () => {
    await prepare()
    return true
  }
  return (await withRetry(attempt, createBackoff({ maxMs: LONGEST_WAIT_MS }), signal, () => {})) === true
}
