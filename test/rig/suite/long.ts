/** `npm run test:long [-- NAME…]`: every randomised suite, or those named, with its full count, one after another. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { COUNTS, type CountName, countOf } from '../counts.js'

// As npm scripts run: in the repository's root.
const VITEST = 'node_modules/vitest/vitest.mjs'
const ALL = Object.keys(COUNTS) as CountName[]

async function runLong(asked: readonly string[]): Promise<number> {
  const unknown = asked.filter((name) => !Object.hasOwn(COUNTS, name))
  if (unknown.length > 0) {
    process.stderr.write(`Unknown suite: ${unknown.join(', ')}. Known suites: ${ALL.join(', ')}\n`)
    return 2
  }
  const names = asked.length > 0 ? (asked as CountName[]) : ALL
  const env = { ...process.env, DEXTAPE_TEST: 'long' }
  const failed: string[] = []
  for (const [at, name] of names.entries()) {
    const { files, proves } = COUNTS[name]
    process.stdout.write(`\n[${at + 1}/${names.length}] ${name} ${countOf(name, env)}: ${proves}\n`)
    const startedMs = Date.now()
    const child = spawn(process.execPath, [VITEST, 'run', '--testTimeout', '3600000', ...files], {
      env,
      stdio: 'inherit',
    })
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) failed.push(name)
    const took = Math.round((Date.now() - startedMs) / 1000)
    process.stdout.write(`[${at + 1}/${names.length}] ${name} ${code === 0 ? 'passed' : 'FAILED'} after ${took} s\n`)
  }
  process.stdout.write(`\n${names.length - failed.length} of ${names.length} suites passed\n`)
  if (failed.length > 0) process.stdout.write(`Run again: npm run test:long -- ${failed.join(' ')}\n`)
  return failed.length > 0 ? 1 : 0
}

process.exitCode = await runLong(process.argv.slice(2))
