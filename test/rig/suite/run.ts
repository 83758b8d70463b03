/** `npm test [-- FILE…]`: what the tests need, then the tests with lint and the type check beside them. A failed check ends them. */
import { spawn } from 'node:child_process'
import { ensureNeeds } from './needs.js'

// As npm scripts run: in the repository's root.
const [BIOME, TSC, VITEST] = ['@biomejs/biome/bin/biome', 'typescript/bin/tsc', 'vitest/vitest.mjs'].map(
  (program) => `node_modules/${program}`,
) as [string, string, string]

type Ended = { name: string; code: number; out: string }

/** Its output is kept, to be shown whole where it fails. */
function check(name: string, program: string, ...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ name, code: code ?? 1, out }))
  })
}

async function runTests(files: readonly string[]): Promise<number> {
  await ensureNeeds()
  const tests = spawn(process.execPath, [VITEST, 'run', ...files], { stdio: 'inherit' })
  const tested = new Promise<number>((resolve, reject) => {
    tests.once('error', reject)
    tests.once('close', (ended) => resolve(ended ?? 1))
  })
  const checks = [
    check('biome check .', BIOME, 'check', '.'),
    check('tsc --noEmit', TSC, '-p', 'tsconfig.json', '--noEmit'),
  ]
  for (const checking of checks) void checking.then(({ code }) => code !== 0 && tests.kill('SIGINT'))
  const testCode = await tested
  const failed = (await Promise.all(checks)).filter(({ code }) => code !== 0)
  for (const { name, out } of failed) process.stderr.write(`${name} failed:\n${out}`)
  return failed[0]?.code ?? testCode
}

try {
  process.exitCode = await runTests(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
