/** A log that is cut under a running `up`: it names the file and ends, and the next start repairs it. */
import { rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createRandom } from '../rig/market/random.js'
import { scratchFolder } from '../rig/up/play.js'
import { startUp } from '../rig/up/process.js'

const TIMES = 10
const SEED = 19
const ARGS = ['--simulate', '--rate', '200']
const CHECKING = { intervals: { check_s: 5 } }
const CUT = /dextape: .+log\/data\.mdb was cut from \d+ to \d+ bytes while in use; ending the process\. Start it/

const folder = scratchFolder()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it(`${TIMES} times (seed ${SEED})`, async () => {
  const random = createRandom(SEED)
  const dataDir = join(folder, 'data')
  const log = join(dataDir, 'log', 'data.mdb')
  const ends: string[] = []
  for (let time = 0; time < TIMES; time += 1) {
    const up = startUp({ dataDir, args: ARGS, config: CHECKING })
    await up.serving
    truncateSync(log, Math.floor(statSync(log).size * (random.int(0, 90) / 100)))
    const { signal, code: endedWith, err: last } = await up.ended
    ends.push(signal ?? `code ${endedWith}`)
    // If a write made the file long again before the notice was read, the check finds the hole.
    if (signal === null) expect([endedWith, last]).toEqual([1, expect.stringContaining('damage found')])
    else expect({ signal, last }).toEqual({ signal: 'SIGKILL', last: expect.stringMatching(CUT) })
    const next = startUp({ dataDir, args: ARGS })
    await next.until('the repair', async () => {
      const { rest } = await next.serving
      return (await fetch(`${rest}/ready`)).status === 200
    })
    const { code, err: text } = await next.stop()
    expect({ time, code, text: code === 0 ? '' : text }).toEqual({ time, code: 0, text: '' })
    if (signal !== null) expect(text).toContain('the last run ended without stopping')
    expect(text).toContain('The log')
  }
  console.info(`ends: ${ends.join(', ')}`)
})
