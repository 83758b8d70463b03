import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { createRandom } from '../rig/market/random.js'
import { readRows } from '../rig/up/contents.js'
import { scratchFolder, stoppedCleanly, untilRead } from '../rig/up/play.js'
import { startUp } from '../rig/up/process.js'
import { chainsOf, generateTape, writeTape } from '../rig/up/recording.js'

const SEED = 3
const STOPS = 3

const folder = scratchFolder()

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('SIGTERM while catching up', () => {
  it(`exits within 5 s with everything stored, and the next run resumes there (seed ${SEED})`, async () => {
    const options = { swapsPerBlock: 100, quietDay: 0 }
    const lines = generateTape({ seed: SEED, chains: ['eth', 'solana'], blocksPerChain: 160, options })
    const events = writeTape(join(folder, 'large-blocks.jsonl'), lines)
    const dataDir = join(folder, 'data')
    const random = createRandom(SEED)
    let before = new Map(chainsOf(lines).map((chain) => [chain, 0]))
    for (let run = 0; run < STOPS; run += 1) {
      const up = startUp({ dataDir, events, speed: 'max' })
      await untilRead(up, new Map(chainsOf(lines).map((chain) => [chain, 1])))
      await sleep(random.int(0, 300))
      stoppedCleanly(await up.stop())
      const { progress_rows: rows } = await readRows(dataDir)
      const stored = new Map([...rows].map(([chain, { seq }]) => [chain, Number(seq)]))
      for (const [chain, seq] of before) expect(stored.get(chain), `${chain} in run ${run}`).toBeGreaterThan(seq)
      before = stored
      if ([...stored.values()].every((seq) => seq === 160)) break
    }
  })
})
