/** CPU of each process of an idle cluster, compared with a process that only sleeps. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, startCluster } from '../rig/cluster/cluster.js'
import { isRetract, type RecordingLine } from '../rig/reference/lines.js'
import { cpuSecondsOf } from '../rig/servers/figures.js'
import { generateTape, seqsOf, writeTape } from '../rig/up/recording.js'
import { printTable } from './measure.js'

const SECONDS = 60
/** Time for startup work to finish. */
const SETTLE_S = 10
const GOAL_PERCENT = 2
const A_DAY_S = 86_400

export async function benchClusterIdle(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'dx-idle-'))
  const lines = generateTape({ seed: 1, chains: ['eth', 'bsc', 'solana'], blocksPerChain: 200 })
  const history = writeTape(join(folder, 'history.jsonl'), lines)
  const waiting = writeTape(join(folder, 'waiting.jsonl'), waitingLines(lines))
  const cluster = await startCluster({ ingest: ['--events', history, '--speed', 'max'] })
  try {
    await cluster.untilSeqs(seqsOf(lines))
    await cluster.ingest.restart(['--events', waiting, '--speed', '1'])
    await cluster.ingest.until('ready', cluster.ingest.isReady)
    await sleep(SETTLE_S * 1000)
    return report(await measureIdle(cluster))
  } finally {
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An idle source: its first line is already known and due at once, the next one is due a day later. */
function waitingLines(lines: readonly RecordingLine[]): RecordingLine[] {
  const known = lines.findLast((line) => !isRetract(line))
  if (known === undefined || isRetract(known)) throw new Error('a recording without blocks')
  const next = { number: known.number + 1, hash: `${known.hash.slice(0, -4)}0000`, parent_hash: known.hash }
  return [known, { ...known, ...next, time: known.time + A_DAY_S, events: [] }]
}

type Figure = { name: string; percent: number }

async function measureIdle({ services }: Cluster): Promise<Figure[]> {
  const sleeper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore' })
  try {
    await sleep(1000)
    const processes = [...services.map(({ name, pid }) => ({ name, pid })), { name: 'sleeping', pid: sleeper.pid ?? 0 }]
    const before = processes.map(({ pid }) => cpuSecondsOf(pid))
    const started = performance.now()
    await sleep(SECONDS * 1000)
    const seconds = (performance.now() - started) / 1000
    return processes.map(({ name, pid }, at) => ({
      name,
      percent: (100 * (cpuSecondsOf(pid) - (before[at] ?? 0))) / seconds,
    }))
  } finally {
    sleeper.kill()
  }
}

function report(figures: readonly Figure[]): boolean {
  printTable(`An idle cluster for ${SECONDS} s, per cent of a core (goal: under ${GOAL_PERCENT})`, [
    ...figures.map(({ name, percent }) => [name, percent]),
  ])
  return figures.every(({ percent }) => percent < GOAL_PERCENT)
}
