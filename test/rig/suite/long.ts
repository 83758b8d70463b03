/** `npm run test:long [-- NAME…]`: every randomised suite and long file, or those named, with their full counts. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { COUNTS, type CountName, countOf, LARGER_SUITES } from '../counts.js'
import { ensureNeeds } from './needs.js'

// As npm scripts run: in the repository's root.
const VITEST = 'node_modules/vitest/vitest.mjs'
const ALL = Object.keys(COUNTS) as CountName[]
/** A suite of a hundred seeds is one test. */
const TEST_TIMEOUT_MS = 3_600_000

/** The suites that only a long run has. */
function longOnly(): string[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.long.test.ts')).map((file) => `test/${file}`)
}

const isCount = (name: string): name is CountName => Object.hasOwn(COUNTS, name)

async function runLong(asked: readonly string[]): Promise<number> {
  const inFiles = (name: string) => longOnly().filter((file) => file.includes(name))
  const others = asked.filter((name) => !isCount(name))
  const unknown = others.filter((name) => inFiles(name).length === 0)
  if (unknown.length > 0) {
    process.stderr.write(
      `Unknown suite: ${unknown.join(', ')}. Known suites: ${ALL.join(', ')}; or a part of the name of a *.long.test.ts file\n`,
    )
    return 2
  }
  await ensureNeeds()
  const names = asked.length > 0 ? asked.filter(isCount) : ALL
  const env = { ...process.env, DEXTAPE_TEST: 'long' }
  for (const name of names) process.stdout.write(`${name} ${countOf(name, env)}: ${COUNTS[name].proves}\n`)
  const files = new Set([...names.flatMap((name) => COUNTS[name].files), ...others.flatMap(inFiles)])
  if (asked.length === 0) for (const file of [...LARGER_SUITES, ...longOnly()]) files.add(file)
  const child = spawn(process.execPath, [VITEST, 'run', '--testTimeout', String(TEST_TIMEOUT_MS), ...files], {
    env,
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}

try {
  process.exitCode = await runLong(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
