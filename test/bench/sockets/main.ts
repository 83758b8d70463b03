/** `npm run load`: many sockets on a simulated market, on this machine only. Exits with 1 if a promise is missed. */
import { execFileSync } from 'node:child_process'
import { printTable } from '../measure.js'
import type { Percentiles } from './latency.js'
import { type LiveResult, runLive } from './live.js'
import { type LoadOptions, readOptions, USAGE } from './options.js'
import { runRestore } from './restore.js'
import { runResume } from './resume.js'

const onProgress = (line: string) => console.error(line)
/** File descriptors of a process beside its sockets. */
const OTHER_FILES = 500
const LONGEST_RESTORE_S = 2
/** Clients that stay may wait this much longer while others resume. */
const MAX_DELAY_MS = 250

async function main(): Promise<boolean> {
  if (process.argv.includes('--help')) {
    console.log(USAGE)
    return true
  }
  const options = readOptions(process.argv.slice(2))
  requireFiles(options.sockets + OTHER_FILES)
  if (options.proof === 'resume') return proveResume(options)
  return options.proof === 'restore' ? proveRestore(options) : proveLive(options)
}

/** Every socket is an open file, here and in the server, which inherits the limit. */
function requireFiles(count: number): void {
  const limit = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim()
  if (limit !== 'unlimited' && Number(limit) < count)
    throw new Error(`At most ${limit} open files are allowed, ${count} are needed: run \`ulimit -n ${count}\` first.`)
}

async function proveLive(options: LoadOptions): Promise<boolean> {
  const { stalled, searches, queries, isHostile, ...calm } = options
  const baseline = await runLive({ ...calm, onProgress })
  printLive('Baseline', options, baseline)
  if (stalled + searches + queries === 0 && !isHostile) return isRight(baseline)
  const disturbed = await runLive({ ...options, onProgress })
  const what = [
    ...(stalled > 0 ? [`${stalled * 100} % stalled`] : []),
    ...(searches > 0 ? [`${searches} searches`] : []),
    ...(queries > 0 ? [`${queries} dear queries`] : []),
    ...(isHostile ? ['a hostile key'] : []),
  ]
  printLive(`With ${what.join(', ')}`, options, disturbed)
  printTable('÷ baseline', [
    ['', 'p50', 'p95', 'p99'],
    ['sent to received', ...ratios(disturbed.sentToReceived, baseline.sentToReceived)],
    ['chain time to received', ...ratios(disturbed.chainToReceived, baseline.chainToReceived)],
  ])
  return isRight(baseline) && isRight(disturbed)
}

function isRight({ pushes, lost, twice, disordered, undue, closed, notices }: LiveResult): boolean {
  return pushes > 0 && lost + twice + disordered + undue + closed + notices.length === 0
}

function printLive(title: string, { sockets, subscriptionsEach, swapsPerS, seconds }: LoadOptions, result: LiveResult) {
  const { searches, queries, hostile } = result
  printTable(
    `${title}: ${sockets} sockets × ${subscriptionsEach} subscriptions, ${swapsPerS} swaps/s for ${seconds} s`,
    [
      ['swaps', result.swaps],
      ['pushes received', result.pushes],
      ['pushes/s', result.pushesPerS],
      ['sent to received, ms: p50, p95, p99', listed(result.sentToReceived)],
      ['chain time (whole seconds) to received, ms', listed(result.chainToReceived)],
      ['lag of the slowest chain, s', result.lagS],
      ['memory of the server over time, MB', result.rssMb.join(' ')],
      ...(searches === undefined ? [] : [['searches answered, refused', `${searches.answered}, ${searches.refused}`]]),
      ...(queries === undefined ? [] : [['queries answered, refused', `${queries.answered}, ${queries.refused}`]]),
      ...(hostile === undefined
        ? []
        : [['hostile requests answered, refused', `${hostile.answered}, ${hostile.refused}`]]),
      ['lost', result.lost],
      ['twice', result.twice],
      ['out of order', result.disordered],
      ['unexpected', result.undue],
      ['sockets closed', result.closed],
      ['notices', result.notices.length],
    ],
  )
  printTable('Blocks by stage, ms (the clients take CPU of the same machine: alone the server is quicker)', [
    ['', 'p50', 'p99', 'blocks'],
    ...result.stages.map(({ stage, blocks, p50, p99 }) => [stage, p50, p99, blocks]),
  ])
  for (const line of [...result.examples, ...result.notices.slice(0, 5)]) console.log(`  ${line.slice(0, 300)}`)
}

async function proveResume(options: LoadOptions): Promise<boolean> {
  const { due, lost, twice, disordered, undue, closed, notices, downS, resumedS, examples } = await runResume({
    ...options,
    onProgress,
  })
  const { sockets, subscriptionsEach, seconds } = options
  printTable(`${sockets} sockets × ${subscriptionsEach} subscriptions held for ${seconds} s, server killed once`, [
    ['down, s', downS],
    ['until all subscriptions resumed, s', resumedS],
    ['delivered ÷ due', `${((due - lost) / due).toFixed(6)} of ${due}`],
    ['twice', twice],
    ['out of order', disordered],
    ['unexpected', undue],
    ['sockets closed', closed],
    ['notices', notices.length],
  ])
  for (const line of [...examples, ...notices.slice(0, 5)]) console.log(`  ${line.slice(0, 300)}`)
  return due > 0 && lost + twice + disordered + undue + closed + notices.length === 0
}

async function proveRestore(options: LoadOptions): Promise<boolean> {
  const staying = Math.max(10, Math.ceil(options.sockets / 10))
  const { acknowledgedS, restoredS, cpuS, before, during, due, lost, twice, examples } = await runRestore({
    ...options,
    staying,
    onProgress,
  })
  const { sockets, subscriptionsEach, awayS } = options
  const what = `${sockets * subscriptionsEach} subscriptions of ${sockets} sockets restored after ${awayS} s`
  printTable(`${what}, ${staying} sockets stay`, [
    ['all subscriptions acknowledged, s', acknowledgedS],
    [`all live again, s (limit ${LONGEST_RESTORE_S})`, restoredS],
    ['CPU of the thread that pushes meanwhile, s', cpuS],
    ['sent to received by those that stay, before, ms: p50, p95, p99', listed(before)],
    ['the same while the others resume', listed(during)],
    ['lost', `${lost} of ${due}`],
    ['twice', twice],
  ])
  for (const line of examples) console.log(`  ${line.slice(0, 300)}`)
  return restoredS <= LONGEST_RESTORE_S && during.p99 <= before.p99 + MAX_DELAY_MS && lost + twice === 0
}

const listed = ({ p50, p95, p99 }: Percentiles): string => `${p50}, ${p95}, ${p99}`

/** A time under a millisecond counts as one. */
function ratios(ours: Percentiles, theirs: Percentiles): number[] {
  return (['p50', 'p95', 'p99'] as const).map((name) => Math.max(1, ours[name]) / Math.max(1, theirs[name]))
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
