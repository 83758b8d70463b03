/** Runs `dextape replay` beside a running `up`, killed at random moments and begun again until a run comes to its end. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { StatusReport } from '../../../services/serve/status-report.js'
import { startCommand } from '../http/command.js'
import type { Up } from '../http/up.js'
import type { Random } from '../market/random.js'

export type BesidePlan = {
  chain: string
  folder: string
  env: Record<string, string>
  kills: number
  /** Milliseconds after its start. */
  killAfterMs: readonly [least: number, most: number]
  random: Random
  onStage?: (stage: string) => void
}

const LOOK_EVERY_MS = 300

export const replaysOf = async (up: Up) => ((await up.get('/status')).body as StatusReport).replays

/** The stages in which it was killed. */
export async function replayBeside(up: Up, plan: BesidePlan): Promise<string[]> {
  const { chain, folder, env, kills, killAfterMs, random, onStage } = plan
  const killed: string[] = []
  for (let run = 0; run <= kills; run += 1) {
    const running = startCommand(['replay', '--chain', chain], { cwd: folder, env, asUser: true })
    let isOver = false
    void running.ended.then(() => {
      isOver = true
    })
    const killAtMs = run === kills ? Number.POSITIVE_INFINITY : Date.now() + random.int(...killAfterMs)
    let stage = 'starting'
    while (!isOver && Date.now() < killAtMs) {
      onStage?.(stage)
      await Promise.race([sleep(Math.min(LOOK_EVERY_MS, Math.max(0, killAtMs - Date.now()))), running.ended])
      const replay = (await replaysOf(up)).find((one) => one.chain === chain)
      if (replay?.running === true) stage = replay.stage
    }
    if (run < kills) {
      running.child.kill('SIGKILL')
      await running.ended
      killed.push(`${chain} ${stage}`)
      continue
    }
    const { code, out, err } = await running.ended
    expect({ code, out, err: code === 0 ? '' : err }).toEqual({
      ...{ code: 0, out: expect.stringMatching(`^${chain} continues in epoch \\d+, as replayed\\.\n$`), err: '' },
    })
  }
  return killed
}
