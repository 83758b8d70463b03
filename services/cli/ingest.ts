/** `dextape ingest`: a source onto the log, as a process of its own. */
import type { IngestChain } from '../core/cluster/status.js'
import { openDataDir } from '../core/config/index.js'
import { ConfigError } from '../core/domain/errors.js'
import { hostInUrl } from '../core/runtime/ports.js'
import type { IngestStatus } from '../ingest/status.js'
import type { Ingests } from './run/ingest-parts.js'
import { openIngests } from './run/ingests.js'
import { runProcess } from './run/process.js'
import { chooseSource } from './run/source.js'
import { failureOf } from './run/status.js'
import type { RunIngest } from './run-commands.js'

export const runIngest: RunIngest = ({ config, logger, out, source: asked, speed }) => {
  const { source: chosen, dataDir, claim } = chooseSource(config, asked)
  if (chosen.kind === 'none') throw noSource()
  return runProcess({ command: 'ingest', config, logger, parts: ['log', 'source'] }, async (parts) => {
    const { platform, health, metrics, shutdown, closing, answer, tell } = parts
    let ingests: Ingests | undefined
    const statuses = () => ingests?.statuses ?? []
    const names = () => statuses().map(({ source }) => source)
    const port = await answer({
      isReady: () => ingests !== undefined,
      status: () => ({
        source: names().join(', '),
        state: statuses().find(({ state }) => state !== 'done')?.state ?? (ingests === undefined ? 'waiting' : 'done'),
        chains: statuses().flatMap(toldChains),
      }),
    })
    await platform.claimOrigin(claim)
    const ingestParts = { platform, config, logger, health, metrics, dataDir: openDataDir(dataDir), speed }
    ingests = await openIngests(chosen, { ...ingestParts, onHistory: () => {} }, closing, shutdown.signal)
    tell(() => ({ service: 'ingest', away: health.report(), chains: statuses().flatMap(reportedChains) }))
    await out.line(`ingest of ${names().join(', ')} is up; http://${hostInUrl(config.host)}:${port}/status`)
    const outcome = await ingests?.run(shutdown.signal)
    return outcome?.kind === 'failed' ? 1 : 0
  })
}

/** For this process's own /status. */
function toldChains({ source, state, error, chains }: IngestStatus) {
  return [...chains].map(([chain, { head }]) => ({
    ...{ chain, head: head?.number ?? null, time: head?.timeS ?? null, source, state },
    ...(error === undefined ? {} : { error: error.message }),
  }))
}

/** For the serving nodes. */
function reportedChains(status: IngestStatus): IngestChain[] {
  const stopped = failureOf(status)
  return [...status.chains].map(([chain, { publishedAtMs }]) => ({
    ...{ chain, source: status.source, publishedAtMs },
    ...(stopped === null ? {} : { stopped }),
  }))
}

function noSource(): ConfigError {
  return new ConfigError({
    code: 'source_missing',
    what: 'No source is given',
    fix: 'Read a chain with --chain C --rpc URL, play a recording with --events FILE, or a simulated market with --simulate.',
  })
}
