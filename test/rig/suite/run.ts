/** `npm test [-- FILE…]`: what the tests need, then lint, then the tests with the type check beside them. Ends with the first failure of a check. */
import { spawn } from 'node:child_process'
import { ensureNeeds } from './needs.js'

// As npm scripts run: in the repository's root.
const [BIOME, TSC, VITEST] = ['@biomejs/biome/bin/biome', 'typescript/bin/tsc', 'vitest/vitest.mjs'].map(
  (program) => `node_modules/${program}`,
) as [string, string, string]

type Ended = { code: number; out: string }

/** Its output is kept, to be shown whole where it fails. */
function check(program: string, ...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, out }))
  })
}

async function runTests(files: readonly string[]): Promise<number> {
  const lint = check(BIOME, 'check', '.')
  await ensureNeeds()
  const { code, out } = await lint
  if (code !== 0) {
    process.stderr.write(`biome check . failed:\n${out}`)
    return code
  }
  const tests = spawn(process.execPath, [VITEST, 'run', ...files], { stdio: 'inherit' })
  const tested = new Promise<number>((resolve, reject) => {
    tests.once('error', reject)
    tests.once('close', (ended) => resolve(ended ?? 1))
  })
  const typed = check(TSC, '-p', 'tsconfig.json', '--noEmit').then((ended) => {
    if (ended.code !== 0) tests.kill('SIGINT')
    return ended
  })
  const testCode = await tested
  const typeCheck = await typed
  if (typeCheck.code !== 0) process.stderr.write(`tsc --noEmit failed:\n${typeCheck.out}`)
  return typeCheck.code !== 0 ? typeCheck.code : testCode
}

try {
  process.exitCode = await runTests(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
