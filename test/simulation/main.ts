/**
 * `node dist/simulation/plain.mjs [--seed N] [--seeds COUNT] [--trace]`: plays seeds one after another; prints a JSON line for each seed with
 * a problem and one at the end. Exits with 1 if any has a problem.
 */
import { EventEmitter } from 'node:events'
import { parseArgs } from 'node:util'
import { runSeed } from './run-seed.js'

// Every call of a process listens for its end.
EventEmitter.defaultMaxListeners = 0

const { values } = parseArgs({
  options: {
    /** One, or several with commas between. */
    seed: { type: 'string', default: '1' },
    /** How many to play, from each on. */
    seeds: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    /** Ends at the first seed with a problem. */
    'until-caught': { type: 'boolean', default: false },
  },
})
const count = Number(values.seeds)
const seeds = values.seed.split(',').flatMap((first) => Array.from({ length: count }, (_, at) => Number(first) + at))
const injected: Record<string, number> = {}
const failed: number[] = []
let [played, blocks, pushes] = [0, 0, 0]

for (const seed of seeds) {
  const result = await runSeed(seed, values.trace ? (line) => process.stdout.write(`${line}\n`) : undefined)
  played += 1
  blocks += result.blocks
  pushes += result.pushes
  for (const [kind, times] of Object.entries(result.injected)) injected[kind] = (injected[kind] ?? 0) + times
  if (result.problems.length === 0) continue
  failed.push(seed)
  process.stdout.write(`${JSON.stringify({ seed, problems: result.problems.slice(0, 10) })}\n`)
  if (values['until-caught']) break
}
process.stdout.write(`${JSON.stringify({ played, failed, blocks, pushes, injected })}\n`)
process.exit(failed.length === 0 ? 0 : 1)
