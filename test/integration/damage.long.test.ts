/** Random damage of stopped and running servers: each is named, repaired or refused, and `verify` finds nothing afterwards. */
import { cpSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
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
  base = await makeBaseline({ seed: SEED, chains: ['eth', 'solana'], blocksPerChain: 30 })
})
afterAll(() => base?.remove())

/** `checks`: a start does not read every record, and the rest is found by the checks. One that began before the damage does not count. */
async function untilRepaired(up: UpProcess, checks: number): Promise<void> {
  const { rest } = await up.serving
  await checked(up, checks)
  await up.until('the repair', async () => {
    const [ready, status] = await Promise.all([fetch(`${rest}/ready`), fetch(`${rest}/status`)])
    return ready.status === 200 && ((await status.json()) as { damage: unknown[] }).damage.length === 0
  })
  // Another epoch has the same seqs.
  await untilSeqs(up, base.seqs)
}

/** Resolves with everything the runs wrote. A start that is refused is followed by its remedy: the backup. */
async function runUntilRepaired(dataDir: string, running: UpProcess | undefined) {
  let text = ''
  for (let run = 0; run < 5; run += 1) {
    const isFirst = run === 0 && running !== undefined
    const up = isFirst ? running : startUp({ dataDir, events: base.tape, speed: 'max', config: CHECKING })
    const isRepaired = await untilRepaired(up, isFirst ? 2 : 1).then(
      () => true,
      () => false,
    )
    // Beside the running server, whose engine it asks: loading another takes a second.
    const verified = isRepaired ? await verify(dataDir) : undefined
    const { err, code } = await up.stop()
    text += err
    if (verified !== undefined) return { text, verified }
    if (code === 78) restore(dataDir)
  }
  throw new Error(`not repaired after five starts:\n${text}`)
}

const verify = (dataDir: string) => runCommand(['verify', '--data-dir', dataDir], { cwd: base.pathOf('') })

function restore(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true })
  cpSync(base.dataDir, dataDir, { recursive: true, verbatimSymlinks: true })
}

/** Side by side: most of their time they wait for timers. */
describe.concurrent('random damage', () => {
  for (let damage = 0; damage < DAMAGES; damage += 1) {
    const isRunning = damage % 2 === 1
    test(`damage ${damage} (seed ${SEED}) of a ${isRunning ? 'running' : 'stopped'} server`, async ({ expect }) => {
      const dataDir = base.pathOf(`damaged-${damage}`)
      restore(dataDir)
      const options = { dataDir, events: base.tape, speed: 'max', config: CHECKING }
      const running = isRunning ? startUp(options) : undefined
      if (running !== undefined) await untilSeqs(running, base.seqs)
      const done = damageAtRandom(dataDir, createRandom(SEED * 1000 + damage))
      const intact = join(base.dataDir, relative(dataDir, done.file))
      const isUsed = !isRunning && isUsedByteChanged(done, intact)
      const { text, verified } = await runUntilRepaired(dataDir, running)
      if (isUsed) expect({ what: done.what, isNamed: NAMED.test(text) }).toEqual({ what: done.what, isNamed: true })
      expect({ what: done.what, ...verified }).toMatchObject({
        ...{ what: done.what, code: 0, out: expect.stringContaining('The store matches the log.') },
      })
      rmSync(dataDir, { recursive: true, force: true })
    })
  }
})

/** So many checks have ended since, or the process has. */
async function checked(up: UpProcess, checks: number): Promise<void> {
  const counted = async () => (await up.metrics()).get('dextape_checks_total') ?? 0
  const before = checks === 1 ? 0 : await counted().catch(() => 0)
  await up.until('its checks', async () => (await counted()) >= before + checks).catch(() => {})
}
