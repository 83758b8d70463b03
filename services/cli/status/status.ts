/** `dextape status`: the chains, rates, sizes and clients of a running server. The exit code says whether it is ready. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../core/config/index.js'
import { DextapeError } from '../../core/domain/errors.js'
import { sleep } from '../../core/runtime/backoff.js'
import { silentLogger } from '../../core/runtime/logger.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { createShutdown } from '../../core/runtime/shutdown.js'
import type { StatusReport } from '../../serve/status-report.js'
import { type Cli, configOfExistingData, type GlobalOptions, paintOf, type World } from '../context.js'
import { parsePositiveNumber } from '../option-values.js'
import { createRestClient, type RestClient } from '../rest-client.js'
import { type Disk, type ServerReport, statusText } from './status-text.js'

type StatusOptions = GlobalOptions & { json?: boolean; url?: string; watch?: string | true }

export function addStatus({ program, world, act }: Cli): void {
  program
    .command('status')
    .description('Show the chains, rates, sizes and clients of a running server')
    .option('--json', 'Print JSON, one line per report')
    .option('-w, --watch [seconds]', 'Repeat every N seconds (default: 2) until interrupted')
    .option('-u, --url <url>', 'REST URL (default: the configured host and port)')
    .addHelpText(
      'after',
      [
        '\nIt exits with 0 if the server is ready, and with 1 if it is not ready or does not answer.',
        '\nExamples:\n  dextape status\n  dextape status --watch\n  dextape status --json | jq .chains',
      ].join('\n'),
    )
    .action(act<StatusOptions>((options) => showStatus(world, options)))
}

const RATE_MS = 1000
const WATCH_S = '2'
const HOME_AND_CLEAR = '\x1b[H\x1b[J'

async function showStatus(world: World, options: StatusOptions): Promise<number> {
  const config = configOfExistingData(world, options)
  const { watch } = options
  const everyMs =
    watch === undefined ? undefined : parsePositiveNumber('--watch', watch === true ? WATCH_S : watch) * 1000
  const client = createRestClient(config, options.url)
  const diskOf = () => (options.url === undefined ? diskUse(config) : null)
  const shutdown = createShutdown(silentLogger)
  const isRepainted = everyMs !== undefined && world.stdout.isTTY === true
  const print = async (report: ServerReport) => {
    if (options.json) await world.out.json(report)
    else await world.out.line(`${isRepainted ? HOME_AND_CLEAR : ''}${statusText(report, paintOf(world))}`)
  }
  try {
    let before: Sample | undefined
    for (;;) {
      try {
        before ??= await readSample(client)
        await sleep(everyMs ?? RATE_MS, shutdown.signal)
        if (shutdown.signal.aborted) return EXIT.ok
        const now = await readSample(client)
        const report = await readReport(client, ratesBetween(before, now), diskOf())
        before = now
        await print(report)
        if (everyMs === undefined) return report.ready ? EXIT.ok : EXIT.failed
      } catch (error) {
        if (everyMs === undefined || !(error instanceof DextapeError)) throw error
        // It may be restarting: keep watching.
        before = undefined
        await world.out.line(`${isRepainted ? HOME_AND_CLEAR : ''}${error.message}`)
        await sleep(everyMs, shutdown.signal)
        if (shutdown.signal.aborted) return EXIT.ok
      }
    }
  } finally {
    shutdown.done()
  }
}

async function readReport(client: RestClient, measured: Measured, disk: Disk | null): Promise<ServerReport> {
  const ready = await client.request('/ready')
  const reason: unknown = await ready.json()
  const status = (await (await client.ask('/status')).json()) as StatusReport
  return {
    ...{ url: client.url, ready: ready.ok, not_ready: ready.ok ? null : reason },
    ...{ ...status, ...measured, disk },
  }
}

type Sample = { atMs: number; values: ReadonlyMap<string, number> }
type Measured = Pick<ServerReport, 'requests_per_s' | 'rates' | 'stored'>

/** Counters of `/metrics`, by name and labels. */
async function readSample({ ask }: RestClient): Promise<Sample> {
  const text = await (await ask('/metrics')).text()
  const lines = text.split('\n').filter((line) => line.startsWith('dextape_'))
  const values = lines.map((line): [string, number] => {
    const at = line.lastIndexOf(' ')
    return [line.slice(0, at), Number(line.slice(at + 1))]
  })
  return { atMs: performance.now(), values: new Map(values) }
}

function ratesBetween(before: Sample, now: Sample): Measured {
  const perS = (name: string): number | null => {
    const [from, to] = [before.values.get(name), now.values.get(name)]
    if (to === undefined) return null
    return Math.max(0, Math.round(((to - (from ?? to)) * 10_000) / (now.atMs - before.atMs)) / 10)
  }
  const named = (metric: string) =>
    [...now.values.keys()].flatMap((name) => new RegExp(`^${metric}\\{\\w+="([^"]+)"\\}$`).exec(name)?.[1] ?? [])
  const chains = named('dextape_serve_updates_applied_total')
  const requests = named('dextape_serve_requests_total').map((status) =>
    perS(`dextape_serve_requests_total{status="${status}"}`),
  )
  return {
    requests_per_s: requests.length === 0 ? null : requests.reduce<number>((sum, rate) => sum + (rate ?? 0), 0),
    rates: Object.fromEntries(
      chains.map((chain) => [
        chain,
        {
          blocks_per_s: perS(`dextape_serve_updates_applied_total{chain="${chain}"}`),
          swaps_per_s: perS(`dextape_fold_swaps_total{chain="${chain}"}`),
        },
      ]),
    ),
    stored: Object.fromEntries(
      chains.flatMap((chain) => {
        const seq = now.values.get(`dextape_store_seq{chain="${chain}"}`)
        return seq === undefined ? [] : [[chain, seq]]
      }),
    ),
  }
}

function diskUse({ dataDir }: Config): Disk | null {
  try {
    const bytesIn = (folder: string) => folderBytes(join(dataDir, folder))
    const sizes = { log_bytes: bytesIn('log'), state_bytes: bytesIn('state'), store_bytes: bytesIn('store') }
    return { data_dir: dataDir, ...sizes }
  } catch {
    return null
  }
}

/** What files take on the disk: LMDB files have holes. A file that is removed meanwhile counts as nothing. */
function folderBytes(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.reduce((sum, { parentPath, path, name }) => {
    // Node 20.0 to 20.11 have no parentPath.
    const blocks = statSync(join(parentPath ?? path, name), { throwIfNoEntry: false })?.blocks ?? 0
    return sum + blocks * 512
  }, 0)
}
