/** The report of `dextape status` for people. */
import { formatTime, tableLines } from '../../core/runtime/output.js'
import { formatSpan, grouped } from '../../core/runtime/progress.js'
import type { Paint } from '../../core/runtime/terminal.js'
import type { ChainStatus, StatusReport } from '../../serve/status-report.js'

type Rate = { blocks_per_s: number | null; swaps_per_s: number | null }
export type Disk = { data_dir: string; log_bytes: number; state_bytes: number; store_bytes: number }

export type ServerReport = StatusReport & {
  url: string
  ready: boolean
  /** Why it is not ready. */
  not_ready: unknown
  requests_per_s: number | null
  rates: Record<string, Rate>
  /** The seq up to which a chain's rows are stored; unknown on a serve node of a cluster. */
  stored: Record<string, number>
  /** Of the local data directory; null where the server is elsewhere. */
  disk: Disk | null
}

export function statusText(report: ServerReport, paint: Paint): string {
  const { url, version, ready, simulated, push, disk, away, threads = [], budgets } = report
  const { in_use: used, capacity } = budgets
  const state = ready ? paint.green('ready') : paint.red('not ready')
  const lines = [
    `${paint.bold(`Dextape ${version}`)} at ${url}: ${state}${simulated ? paint.yellow(' (simulated market)') : ''}`,
    ...(ready ? [] : [`  ${JSON.stringify(report.not_ready)}`]),
    '',
    ...chainLines(report, paint),
    '',
  ]
  const fact = (name: string, text: string) => lines.push(`${paint.dim(name.padEnd(9))} ${text}`)
  if (used.sockets !== undefined)
    fact(
      'clients',
      `${count(used.sockets, 'socket')} of ${count(used.keys, 'key')}, ${count(used.subscriptions, 'subscription')}`,
    )
  const of = (value: number | undefined, limit: number | null) =>
    `${grouped(value ?? 0)}${limit === null ? '' : ` of ${grouped(limit)}`}`
  fact(
    'budgets',
    [
      `sockets ${of(used.sockets, capacity.sockets)}`,
      `ids ${of(used.ids, capacity.ids)}`,
      `unread ${of(used.unread_mb, capacity.unread_mb)} MB`,
      `memory ${of(used.memory_mb, capacity.memory_mb)} MB`,
      `history queries ${used.history_queries}`,
    ].join(', '),
  )
  fact(
    'requests',
    `${report.requests_per_s ?? 0}/s, pushes by ${push === null ? 'a thread that has not started' : push.server}`,
  )
  if (disk !== null)
    fact(
      'disk',
      `log ${bytes(disk.log_bytes)}, store ${bytes(disk.store_bytes)}, state ${bytes(disk.state_bytes)} in ${disk.data_dir}`,
    )
  for (const replay of report.replays ?? []) fact('replay', replayText(replay, paint))
  for (const { part, where, since, reason } of away)
    fact('outage', paint.red(`${part} unreachable from ${where} since ${formatTime(since)}: ${reason}`))
  for (const { thread, restarts, last_end } of threads)
    if (restarts > 0)
      fact('restarted', paint.yellow(`thread ${thread}, ${count(restarts, 'time')}: ${last_end ?? 'unknown reason'}`))
  return lines.join('\n')
}

function chainLines({ chains, rates, stored }: ServerReport, paint: Paint): string[] {
  const rows = chains.map((chain) => {
    const { blocks_per_s: blocks = null, swaps_per_s: swaps = null } = rates[chain.chain] ?? {}
    const storedSeq = stored[chain.chain]
    return [
      ...[chain.chain, chain.head, formatTime(chain.time * 1000), formatSpan(chain.lag_s)],
      ...[blocks ?? '–', swaps ?? '–', chain.head - chain.finalized],
      storedSeq === undefined ? '–' : Math.max(0, chain.seq - storedSeq),
      ...[chain.dead_letters, chain.gaps, stateOf(chain)],
    ]
  })
  const header = [
    'chain',
    'head',
    'chain time',
    'lag',
    'blocks/s',
    'swaps/s',
    'not final',
    'not stored',
    'dead',
    'gaps',
    'state',
  ]
  const [head = '', ...lines] = tableLines(header, rows)
  return [paint.bold(head), ...lines.map((line, at) => (chains[at]?.stopped == null ? line : paint.red(line)))]
}

function stateOf({ stopped, source, last_reorg: reorg }: ChainStatus): string {
  if (stopped !== null) return `stopped: ${stopped}`
  return [source, reorg === null ? '' : `reorg of ${reorg.depth} at ${reorg.at_block}`]
    .filter((part) => part !== '')
    .join(', ')
}

function replayText(replay: StatusReport['replays'][number], paint: Paint): string {
  const { chain, epoch, stage, running, done, total, per_s: perS, left_s: leftS } = replay
  const what = `${chain} into epoch ${epoch}, ${stage}`
  if (!running) return paint.yellow(`${what}: not running; the same command resumes it`)
  if (total === 0) return what
  const left = leftS === null ? '' : `, ${formatSpan(leftS)} left`
  return `${what}: ${grouped(done)} of ${grouped(total)}, ${grouped(perS)}/s${left}`
}

const count = (value: number | undefined, what: string): string =>
  `${grouped(value ?? 0)} ${what}${value === 1 ? '' : 's'}`

function bytes(value: number): string {
  if (value < 1_000_000) return `${grouped(value / 1000)} kB`
  return value < 1e9 ? `${grouped(value / 1e6)} MB` : `${(value / 1e9).toFixed(1)} GB`
}
