/** The whole pipe on a simulated clock, log and store: whatever a seed has in store, the numbers are those of the final chain. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { countOf, isLongRun, seedOf } from '../rig/counts.js'
import { bundleSimulation, planted } from './bundle.js'
import { PLANTED_BUGS } from './planted-bugs.js'

const run = promisify(execFile)

type Summary = { played: number; failed: number[]; injected: Record<string, number> }

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

/** A simulated process that crashed stays in memory with what it waited for: some 5 MB a seed. */
const SEEDS_PER_PROCESS = 50
const LANES = 2

/** Many seeds, in processes of their own. */
async function playMany(bundle: string, first: number, seeds: number): Promise<{ lines: string[]; summary: Summary }> {
  const batches: string[][] = []
  for (let done = 0; done < seeds; done += SEEDS_PER_PROCESS)
    batches.push(['--seed', `${first + done}`, '--seeds', `${Math.min(SEEDS_PER_PROCESS, seeds - done)}`])
  const lines: string[] = []
  const summary: Summary = { played: 0, failed: [], injected: {} }
  const lane = async (): Promise<void> => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      const { lines: printed, summary: next } = await play(bundle, batch)
      lines.push(...printed.slice(0, -1))
      summary.played += next.played
      summary.failed.push(...next.failed)
      for (const [kind, times] of Object.entries(next.injected))
        summary.injected[kind] = (summary.injected[kind] ?? 0) + times
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return { lines, summary }
}

let plain = ''
beforeAll(async () => {
  plain = await bundleSimulation()
})

it('stores and pushes what the final chain says, through every fault', async () => {
  const seeds = countOf('simulationSeeds')
  const { lines, summary } = await playMany(plain, seedOf('simulationSeeds'), seeds)
  const failed = summary.failed.map((seed) => `node ${plain} --seed ${seed} --trace`)
  expect(failed, `each line reproduces a failure:\n${lines.join('\n')}`).toEqual([])
  expect(summary.played).toBe(seeds)
  // Every kind of fault was injected: the run was not calm by accident.
  const kinds = ['refused', 'unacknowledged', 'partial', 'repeated', 'slow', 'crash', 'rebalance', 'disconnect']
  expect(kinds.filter((kind) => (summary.injected[kind] ?? 0) === 0)).toEqual([])
})

it('passes the seeds that found a fault once', async () => {
  const found = [911, 1252, 1500, 2157, 2391, 3494, 3823, 5021, 5202, 5257, 6125]
  const { lines, summary } = await play(plain, ['--seed', (isLongRun() ? found : found.slice(0, 4)).join()])
  expect(summary.failed, lines.join('\n')).toEqual([])
})

it('gives the same run for the same seed', async () => {
  const trace = () => play(plain, ['--seed', '7', '--trace'])
  const [one, other] = [await trace(), await trace()]
  expect(one.lines).toEqual(other.lines)
})

describe('a planted bug is caught', () => {
  it.each(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))('and still fits the code: %s', (_name, bug) => {
    const text = readFileSync(join(repositoryRoot(), bug.file), 'utf8')
    expect(planted(text, bug)).not.toBe(text)
  })

  /** Each takes a bundle of its own: a short run has one, a long run has all. */
  const bugs = isLongRun() ? PLANTED_BUGS : PLANTED_BUGS.slice(1, 2)

  it.each(bugs.map((bug) => [bug.name, bug] as const))('%s', async (_name, bug) => {
    const bundle = await bundleSimulation(bug)
    const { summary } = await play(bundle, ['--seed', `${bug.seed ?? 1}`, '--seeds', '400', '--until-caught'])
    expect(summary.failed, `none of ${summary.played} seeds`).not.toEqual([])
  })
})
