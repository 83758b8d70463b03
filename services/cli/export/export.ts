/** `dextape export`: a view or a query of a running server as one file, or as a partitioned folder. */
import { extname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Argument, Option } from 'commander'
import { INTERVALS } from '../../core/domain/chains.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import { silentLogger } from '../../core/runtime/logger.js'
import { restUrl } from '../../core/runtime/ports.js'
import { createShutdown } from '../../core/runtime/shutdown.js'
import { EXPORT_FORMAT_NAMES, type ExportFormat } from '../../serve/export/export-formats.js'
import { EXPORT_VIEWS, type ExportView } from '../../serve/export/export-query.js'
import type { ExportRequest } from '../../serve/export/export-service.js'
import { type Cli, configOfExistingData, type GlobalOptions, keyOf, type World } from '../context.js'
import { parseTime } from '../option-values.js'
import type { ExportServer } from './export-server.js'
import type { ExportProgress } from './progress.js'

type ExportOptions = GlobalOptions & {
  query?: string
  chain?: string[]
  pair?: string[]
  interval?: (typeof INTERVALS)[number]
  from?: string
  to?: string
  finalized?: boolean
  format?: ExportFormat
  out?: string
  partition?: boolean
  key?: string
  url?: string
}

export function addExport({ program, world, act }: Cli): void {
  program
    .command('export')
    .description('Write a view or a query of a running server to files of any size')
    .addArgument(new Argument('[view]', 'View to export').choices(EXPORT_VIEWS))
    .option('-q, --query <query>', 'Export a SELECT over the views instead')
    .option('--chain <chains...>', 'Only these chains')
    .option('--pair <pair-ids...>', 'Only these pairs: <address>-<chain>')
    .addOption(new Option('--interval <interval>', 'Only candles of this interval').choices(INTERVALS))
    .option('--from <time>', 'Only rows from this time on: 2026-11-01, 2026-11-01T12:00 or @epoch-seconds')
    .option('--to <time>', 'Only rows before this time')
    .option('--finalized', 'Only what no reorg can change any more')
    .addOption(
      new Option('-f, --format <format>', 'File format (default: by the name of --out, else parquet)').choices(
        EXPORT_FORMAT_NAMES,
      ),
    )
    .option('-o, --out <path>', 'File or folder to write; - or none: stdout')
    .option('--partition', 'Write a folder chain=…/date=… with one file per chain and day')
    .option('-k, --key <key>', 'API key of a plan with SQL (DEXTAPE_API_KEY)')
    .option('-u, --url <url>', 'REST URL (default: the configured host and port)')
    .addHelpText(
      'after',
      [
        '\nA file gets its name once it is complete. docs/files.md says which blocks it includes.',
        '\nExamples:',
        '  dextape export trades --chain eth --out trades.parquet',
        '  dextape export candles --interval k60 --from 2026-11-01 --to 2026-12-01 --out november.csv',
        '  dextape export trades --partition --out trades',
        "  dextape export --query 'SELECT wallet, sum(amount_usd) AS usd FROM trades GROUP BY wallet' --out wallets.csv",
      ].join('\n'),
    )
    .action(act<ExportOptions>((options, view) => runExport(world, view as ExportView | undefined, options)))
}

async function runExport(world: World, view: ExportView | undefined, options: ExportOptions): Promise<void> {
  const format = options.format ?? formatOf(options.out)
  const asked = { ...requestOf(view, options), format }
  const out = options.out === '-' ? undefined : options.out
  if (options.partition === true && out === undefined) throw usage('--partition needs --out, the folder to write')
  if (options.partition === true && view === undefined) throw usage('--partition needs a view, such as trades')
  const config = configOfExistingData(world, options)
  const key = keyOf(config, options, 'dextape keys create --name NAME --plan pro')
  const { connectToServer } = await import('./export-server.js')
  const { createExportProgress } = await import('./progress.js')
  const shutdown = createShutdown(silentLogger)
  const url = options.url ?? restUrl(config, config.httpPort)
  const server = connectToServer(url, key, shutdown.signal)
  const progress = createExportProgress(world, config)
  try {
    const path = out === undefined ? undefined : resolve(world.cwd, out)
    await (options.partition === true && path !== undefined
      ? writePartitions(path, server, asked, progress)
      : writeOne(world, path, server, asked, progress))
  } catch (error) {
    if (!shutdown.signal.aborted) throw error
    throw new DextapeError({ code: 'stopped', what: `Stopped by ${shutdown.signal.reason}; nothing was written` })
  } finally {
    progress.end()
    shutdown.done()
  }
}

async function writeOne(
  world: World,
  path: string | undefined,
  server: ExportServer,
  asked: ExportRequest,
  progress: ExportProgress,
): Promise<void> {
  const { asFault, counter, writeWhole } = await import('./write-file.js')
  const { body, asOf } = await server.open(asked)
  if (path === undefined) {
    await pipeline(body, counter(progress.add), world.stdout, { end: false }).catch((cause) => {
      throw asFault(cause, 'stdout')
    })
    return
  }
  await writeWhole(path, body, progress.add)
  progress.end(path, asOf)
}

async function writePartitions(
  path: string,
  server: ExportServer,
  asked: ExportRequest & { format: ExportFormat },
  progress: ExportProgress,
): Promise<void> {
  const { writeFolder } = await import('./write-file.js')
  const { fillFolder } = await import('./export-folder.js')
  await writeFolder(path, (folder) => fillFolder(folder, { server, asked, progress }))
  progress.end(path, '')
}

function requestOf(view: ExportView | undefined, options: ExportOptions): ExportRequest {
  const { query, chain, pair, interval, from, to, finalized } = options
  if ((view === undefined) === (query === undefined))
    throw usage(`name either a view (${EXPORT_VIEWS.join(', ')}) or a --query`)
  return {
    ...(view === undefined ? {} : { view }),
    ...(query === undefined ? {} : { query }),
    ...(chain === undefined ? {} : { chains: chain.flatMap(listed) }),
    ...(pair === undefined ? {} : { pair_ids: pair.flatMap(listed) }),
    ...(interval === undefined ? {} : { interval }),
    ...(from === undefined ? {} : { from_time: Math.ceil(parseTime('--from', from) / 1000) }),
    ...(to === undefined ? {} : { to_time: Math.max(0, Math.ceil(parseTime('--to', to) / 1000) - 1) }),
    ...(finalized === true ? { finalized } : {}),
  }
}

const listed = (text: string) => text.split(',').filter((one) => one !== '')

const EXTENSIONS: Readonly<Record<string, ExportFormat>> = {
  ...{ '.parquet': 'parquet', '.arrow': 'arrow', '.feather': 'arrow', '.csv': 'csv' },
  ...{ '.jsonl': 'jsonl', '.ndjson': 'jsonl' },
}

const formatOf = (out = ''): ExportFormat => EXTENSIONS[extname(out).toLowerCase()] ?? 'parquet'

function usage(what: string): ConfigError {
  return new ConfigError({ code: 'option_invalid', what: `Cannot export: ${what}` })
}
