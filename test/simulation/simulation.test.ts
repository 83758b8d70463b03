/** The whole pipe on a simulated clock, log and store: whatever a seed has in store, the numbers are those of the final chain. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { countOf, isLongRun, seedOf } from '../rig/counts.js'
import { bundleSimulation } from './bundle.js'
import { PLANTED_BUGS } from './planted-bugs.js'

const run = promisify(execFile)

type Summary = { played: number; failed: number[]; blocks: number; pushes: number; injected: Record<string, number> }

/** The lines the simulation printed: failed seeds, then the summary. */
async function play(bundle: string, given: readonly string[]): Promise<{ lines: string[]; summary: Summary }> {
  const { stdout } = await run(process.execPath, [bundle, ...given], { maxBuffer: 2 ** 28 }).catch(
    (error: { stdout?: string; code?: number }) => {
      if (error.code === 1 && error.stdout !== undefined) return { stdout: error.stdout }
      throw error
    },
  )
  const lines = stdout.trim().split('\n')
  return { lines, summary: JSON.parse(lines.at(-1) ?? '') as Summary }
}

let plain = ''
beforeAll(async () => {
  plain = await bundleSimulation()
})

it('stores and pushes what the final chain says, through every fault', async () => {
  const seeds = countOf('simulationSeeds')
  const { lines, summary } = await play(plain, ['--seed', `${seedOf('simulationSeeds')}`, '--seeds', `${seeds}`])
  const failed = summary.failed.map((seed) => `node ${plain} --seed ${seed} --trace`)
  expect(failed, `each line reproduces a failure:\n${lines.slice(0, -1).join('\n')}`).toEqual([])
  expect(summary.played).toBe(seeds)
  // Every kind of fault was injected: the run was not calm by accident.
  const kinds = ['refused', 'unacknowledged', 'partial', 'repeated', 'slow', 'crash', 'rebalance', 'disconnect']
  expect(kinds.filter((kind) => (summary.injected[kind] ?? 0) === 0)).toEqual([])
})

it('gives the same run for the same seed', async () => {
  const trace = () => play(plain, ['--seed', '7', '--trace'])
  const [one, other] = [await trace(), await trace()]
  expect(one.lines).toEqual(other.lines)
})

describe('a planted bug is caught', () => {
  /** Each takes a bundle of its own: a short run has one, a long run has all. */
  const bugs = isLongRun() ? PLANTED_BUGS : PLANTED_BUGS.slice(1, 2)

  it.each(bugs.map((bug) => [bug.name, bug] as const))('%s', async (_name, bug) => {
    const bundle = await bundleSimulation(bug)
    const { summary } = await play(bundle, ['--seed', '1', '--seeds', '400', '--until-caught'])
    expect(summary.failed, `none of ${summary.played} seeds`).not.toEqual([])
  })
})
