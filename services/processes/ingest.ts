/** `dextape ingest`: reads a source into the log of a cluster. */
import { openDataDir } from '../core/data-dir/data-dir.js'
import { ConfigError } from '../core/domain/errors.js'
import { hostInUrl } from '../core/runtime/ports.js'
import type { IngestStatus } from '../ingest/ingest-status.js'
import type { Ingests } from './chain-sources/chain-ingest.js'
import { openIngests } from './chain-sources/open-ingests.js'
import { reportedChains } from './chain-status.js'
import { chooseSource } from './choose-source.js'
import { runProcess } from './cluster-process.js'
import type { RunIngest } from './process-options.js'
import { watchConfig } from './watch-config.js'

export const runIngest: RunIngest = async ({ config, logger, out, source: requested, speed, readAgain }) => {
  const { source: chosen, dataDir, claim } = await chooseSource(config, requested)
  if (chosen.kind === 'none') throw noSource()
  return runProcess({ command: 'ingest', config, logger, parts: ['log', 'source'] }, async (parts) => {
    const { platform, health, metrics, tracer, shutdown, closing, serveStatus, publishStatus } = parts
    let ingests: Ingests | undefined
    const statuses = () => ingests?.statuses ?? []
    const names = () => statuses().map(({ source }) => source)
    const port = await serveStatus({
      isReady: () => ingests !== undefined,
      status: () => ({
        source: names().join(', '),
        state: statuses().find(({ state }) => state !== 'done')?.state ?? (ingests === undefined ? 'waiting' : 'done'),
        chains: statuses().flatMap(chainStatuses),
      }),
    })
    await platform.claimOrigin(claim)
    const ingestParts = { platform, config, logger, health, metrics, tracer, dataDir: openDataDir(dataDir), speed }
    ingests = await openIngests(chosen, { ...ingestParts, onHistory: () => {} }, closing, shutdown.signal)
    publishStatus(() => ({ service: 'ingest', away: health.report(), chains: statuses().flatMap(reportedChains) }))
    await out.line(`ingest of ${names().join(', ')} is up: http://${hostInUrl(config.host)}:${port}/status`)
    const { change } = ingests ?? {}
    if (change !== undefined && readAgain !== undefined)
      watchConfig({ config, read: readAgain, change, logger, signal: shutdown.signal })
    const outcome = await ingests?.run(shutdown.signal)
    return outcome?.kind === 'failed' ? 1 : 0
  })
}

/** For this process's own /status. */
function chainStatuses({ source, state, error, chains }: IngestStatus) {
  return [...chains].map(([chain, { head }]) => ({
    ...{ chain, head: head?.number ?? null, time: head?.timeS ?? null, source, state },
    ...(error === undefined ? {} : { error: error.message }),
  }))
}

function noSource(): ConfigError {
  return new ConfigError({
    code: 'source_missing',
    what: 'No source is configured',
    fix: 'Set --chain C --rpc URL for a chain, --events FILE for a recording, or --simulate for a simulated market.',
  })
}
