/** Random damage of stopped and running servers: each is named, repaired or refused, and `verify` finds nothing afterwards. */
import { cpSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countOf, seedOf } from '../rig/counts.js'
import { damageAtRandom, isUsedByteChanged } from '../rig/damage.js'
import { runCommand } from '../rig/http/command.js'
import { createRandom } from '../rig/market/random.js'
import { type Baseline, makeBaseline } from '../rig/up/baseline.js'
import { BUSY, untilSeqs } from '../rig/up/play.js'
import { startUp, type UpProcess } from '../rig/up/process.js'

const SEED = seedOf('dataDamages')
const DAMAGES = countOf('dataDamages')
/** A running server reads all of its data again and again. */
const CHECKING = { ...BUSY, intervals: { ...BUSY.intervals, check_s: 1 } }
const NAMED = /damage found|is damaged/

let base: Baseline
beforeAll(async () => {
  base = await makeBaseline({ seed: SEED, chains: ['eth', 'solana'], blocksPerChain: 60 })
})
afterAll(() => base?.remove())

async function untilRepaired(up: UpProcess): Promise<void> {
  const { rest } = await up.serving
  // A start does not read every record: the rest is found by the checks.
  await checkedTwice(up)
  await up.until('the repair', async () => {
    const [ready, status] = await Promise.all([fetch(`${rest}/ready`), fetch(`${rest}/status`)])
    return ready.status === 200 && ((await status.json()) as { damage: unknown[] }).damage.length === 0
  })
  // Another epoch has the same seqs.
  await untilSeqs(up, base.seqs)
}

/** Resolves with everything the runs wrote. A start that is refused is followed by its remedy: the backup. */
async function runUntilRepaired(dataDir: string, first: UpProcess): Promise<string> {
  let [up, text] = [first, '']
  for (let run = 0; run < 5; run += 1) {
    const isRepaired = await untilRepaired(up).then(
      () => true,
      () => false,
    )
    const { err, code } = await up.stop()
    text += err
    if (isRepaired) return text
    if (code === 78) restore(dataDir)
    up = startUp({ dataDir, events: base.tape, speed: 'max', config: CHECKING })
  }
  await up.stop()
  throw new Error(`not repaired after five starts:\n${text}`)
}

function restore(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true })
  cpSync(base.dataDir, dataDir, { recursive: true, verbatimSymlinks: true })
}

for (let damage = 0; damage < DAMAGES; damage += 1) {
  const isRunning = damage % 2 === 1
  test(`damage ${damage} (seed ${SEED}) of a ${isRunning ? 'running' : 'stopped'} server`, async () => {
    const dataDir = base.pathOf('damaged')
    restore(dataDir)
    const random = createRandom(SEED * 1000 + damage)
    const options = { dataDir, events: base.tape, speed: 'max' }
    const running = isRunning ? startUp({ ...options, config: CHECKING }) : undefined
    if (running !== undefined) await untilSeqs(running, base.seqs)
    const done = damageAtRandom(dataDir, random)
    const intact = join(base.dataDir, relative(dataDir, done.file))
    const isUsed = !isRunning && isUsedByteChanged(done, intact)
    const text = await runUntilRepaired(dataDir, running ?? startUp({ ...options, config: CHECKING }))
    if (isUsed) expect({ what: done.what, isNamed: NAMED.test(text) }).toEqual({ what: done.what, isNamed: true })
    const verified = await runCommand(['verify', '--data-dir', dataDir], { cwd: base.pathOf('') })
    expect({ what: done.what, ...verified }).toMatchObject({ what: done.what, code: 0 })
  })
}

/** A check that began after the damage has ended, or the process has. */
async function checkedTwice(up: UpProcess): Promise<void> {
  const counted = async () => (await up.metrics()).get('dextape_checks_total') ?? 0
  const before = await counted().catch(() => 0)
  await up.until('two checks', async () => (await counted()) >= before + 2).catch(() => {})
}
