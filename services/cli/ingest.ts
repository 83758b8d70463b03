/** `dextape ingest`: a source onto the log, as a process of its own. */
import { openDataDir } from '../core/config/index.js'
import { ConfigError } from '../core/domain/errors.js'
import type { Ingest } from '../ingest/main.js'
import { openIngest } from './run/ingest.js'
import { runProcess } from './run/process.js'
import { chooseSource, openSource } from './run/source.js'
import type { RunIngest } from './run-commands.js'

export const runIngest: RunIngest = ({ config, logger, out, source: asked, speed }) => {
  const { source: chosen, dataDir, claim } = chooseSource(config, asked)
  return runProcess({ command: 'ingest', config, logger, parts: ['log', 'source'] }, async (parts) => {
    const { platform, health, metrics, shutdown, closing, answer, tell } = parts
    const opened = await openSource(chosen, { config, logger, speed, onHistory: () => {} }, openDataDir(dataDir))
    if (opened === undefined) throw noSource()
    const { source } = opened
    let ingest: Ingest | undefined
    const chains = () =>
      [...(ingest?.status.chains ?? [])].map(([chain, { head, publishedAtMs }]) => ({ chain, head, publishedAtMs }))
    const port = await answer({
      isReady: () => ingest !== undefined,
      status: () => ({
        source: source.name,
        state: ingest?.status.state ?? 'waiting',
        chains: chains().map(({ chain, head }) => ({ chain, head: head?.number ?? null, time: head?.timeS ?? null })),
      }),
    })
    await platform.claimOrigin(claim)
    ingest = await openIngest(source, { platform, config, logger, health, metrics }, closing)
    tell(() => ({
      service: 'ingest',
      away: health.report(),
      chains: chains().map(({ chain, publishedAtMs }) => ({ chain, source: source.name, publishedAtMs })),
    }))
    await out.line(`ingest of ${source.name} is up; http://127.0.0.1:${port}/status`)
    const outcome = await ingest.run(shutdown.signal)
    return outcome.kind === 'failed' ? 1 : 0
  })
}

function noSource(): ConfigError {
  return new ConfigError({
    code: 'source_missing',
    what: 'No source is given',
    fix: 'Play a recording with --events FILE, or a simulated market with --simulate.',
  })
}
