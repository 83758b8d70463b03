/** CPU and memory of `up` on its simulated market, compared with the same market stored in a batch per second. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startCommand } from '../rig/http/command.js'
import { cpuSecondsOf, memoryOf } from '../rig/servers/figures.js'
import { printTable } from './measure.js'

const SECONDS = 120
/** The history's last rows are stored, and its garbage is collected. */
const SETTLE_S = 75
/** What the default batches may cost, as a share of a batch per second. */
const GOAL_RATIO = 0.5

const RUNS = [
  { name: 'default batches', intervals: {} },
  { name: 'a batch per second', intervals: { flush_ms: 1000, checkpoint_ms: 5000 } },
]

type Figure = { name: string; percent: number; residentMb: number }

export async function benchIdleUp(): Promise<boolean> {
  const figures = await Promise.all(RUNS.map(({ name, intervals }) => measureUp(name, intervals)))
  const [ours, baseline] = figures as [Figure, Figure]
  const ratio = ours.percent / baseline.percent
  printTable(`A simulated market of 20 swaps per second for ${SECONDS} s`, [
    ['', 'per cent of a core', 'RSS in MB'],
    ...figures.map(({ name, percent, residentMb }) => [name, percent, residentMb]),
    ['ratio', ratio, ours.residentMb / baseline.residentMb],
  ])
  console.log(`  goal: at most ${GOAL_RATIO} of the CPU`)
  return ratio <= GOAL_RATIO
}

async function measureUp(name: string, intervals: object): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), 'dx-idle-'))
  const config = join(folder, 'dextape.json')
  writeFileSync(config, JSON.stringify({ intervals }))
  const env = { DEXTAPE_CONFIG: config, DEXTAPE_DATA_DIR: join(folder, 'data') }
  const ports = { DEXTAPE_HTTP_PORT: '0', DEXTAPE_WS_PORT: '0' }
  const { child, ended, onOutput } = startCommand(['up'], { cwd: folder, env: { ...env, ...ports }, asUser: true })
  try {
    const greeted = new Promise<void>((resolve) => onOutput((out) => out.includes('/status') && resolve()))
    await Promise.race([greeted, ended])
    await sleep(SETTLE_S * 1000)
    const pid = child.pid ?? 0
    const before = cpuSecondsOf(pid)
    const started = performance.now()
    await sleep(SECONDS * 1000)
    const seconds = (performance.now() - started) / 1000
    const { residentMb } = memoryOf(pid)
    return { name, percent: (100 * (cpuSecondsOf(pid) - before)) / seconds, residentMb }
  } finally {
    child.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await benchIdleUp()) ? 0 : 1
