/** CPU of `up` until it serves, from compiled code and without, in turns. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { writeRecording } from '../rig/http/recording-file.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney, moneySections } from '../rig/market/money.js'
import { cpuSecondsOf } from '../rig/servers/figures.js'
import { startUp } from '../rig/up/process.js'
import { printTable } from './measure.js'

const STARTS = 7
/** By then a start has kept its compiled code. */
const KEPT_AFTER_MS = 8_000
/** What a start from compiled code may cost, as a share of one without. */
const GOAL_RATIO = 0.9
const KINDS = [
  { name: 'compiled code', env: {} },
  { name: 'none', env: { NODE_DISABLE_COMPILE_CACHE: '1' } },
] as const

export async function benchStart(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'dx-start-'))
  const events = writeRecording(folder, 'some.jsonl', generateRecording({ seed: 5, chain: 'eth', blocks: 5 }))
  const config = { chains: moneySections([marketMoney('eth')]) }
  let starts = 0

  async function cpuUntilServing(env: Record<string, string>, staysMs = 0): Promise<number> {
    starts += 1
    const up = startUp({ dataDir: join(folder, String(starts)), events, config, env, asUser: true })
    await up.serving
    const seconds = cpuSecondsOf(up.pid)
    await sleep(staysMs)
    await up.stop()
    return seconds
  }

  try {
    await cpuUntilServing({}, KEPT_AFTER_MS)
    const seconds: [number[], number[]] = [[], []]
    for (let turn = 0; turn < STARTS; turn += 1)
      for (const [index, { env }] of KINDS.entries()) seconds[index]?.push(await cpuUntilServing(env))
    const [ours, baseline] = seconds.map(medianOf) as [number, number]
    printTable(`A start of up with five blocks, median of ${STARTS}`, [
      ['', 'CPU until it serves, s'],
      ...KINDS.map(({ name }, index) => [name, [ours, baseline][index] ?? 0]),
      ['ratio', ours / baseline],
    ])
    console.log(`  goal: at most ${GOAL_RATIO} of the CPU`)
    return ours / baseline <= GOAL_RATIO
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[values.length >> 1] ?? 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await benchStart()) ? 0 : 1
