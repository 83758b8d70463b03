/** A replay beside a running `up`, with either process killed at random: it is switched to in the end, and no row is wrong. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { countOf, seedOf } from '../rig/counts.js'
import { removeScratchFolders, runCommand, scratchFolder, startCommand } from '../rig/http/command.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { environmentOf, startUp, type UpPlan } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'

const CHAIN = 'eth'
const SEED = seedOf('replaySwitches')
const KILLS = Math.ceil(countOf('replaySwitches') / 3)

afterAll(removeScratchFolders)

it(`ends as replayed after ${KILLS} kills of it and of up (seed ${SEED})`, async () => {
  const folder = scratchFolder()
  const lines = generateRecording({ seed: SEED, chain: CHAIN, blocks: 400 })
  const plan: UpPlan = {
    ...{ folder, chains: [marketMoney(CHAIN)], events: writeRecording(folder, 'tape.jsonl', lines) },
    settings: { retention: { s1_candles_d: 3650 }, intervals: { flush_ms: 200, checkpoint_ms: 200, progress_s: 1 } },
  }
  const env = environmentOf(plan)
  const random = createRandom(SEED)
  let up = await startUp(plan)
  await up.applied(CHAIN, lines.length)
  const replay = () => startCommand(['replay', '--chain', CHAIN], { cwd: folder, env })
  for (let kill = 0; kill < KILLS; kill += 1) {
    const running = replay()
    await Promise.race([sleep(random.int(300, 6000)), running.ended])
    if (kill % 2 === 0) running.child.kill('SIGKILL')
    else {
      await up.stop('SIGKILL')
      up = await startUp(plan)
      running.child.kill('SIGTERM')
    }
    await running.ended
  }
  const { code, out, err } = await replay().ended
  expect({ code, out, err: code === 0 ? '' : err }).toEqual({
    ...{ code: 0, out: expect.stringMatching(/^eth continues in epoch \d+, as replayed\.\n$/), err: '' },
  })
  const epoch = Number(/epoch (\d+)/.exec(out)?.[1])
  await up.until(CHAIN, `served in epoch ${epoch}`, (status) => status.epoch === epoch)
  expect((await up.stop()).code).toBe(0)
  const verified = await runCommand(['verify'], { cwd: folder, env })
  expect({ code: verified.code, err: verified.code === 0 ? '' : verified.out + verified.err }).toEqual({
    code: 0,
    err: '',
  })
})
