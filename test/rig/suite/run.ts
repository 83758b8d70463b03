/** `npm test [-- FILE…]`, after the build, which checks types: the tests with lint beside them. Failed lint ends them. */
import { spawn } from 'node:child_process'
import { ensureNeeds } from './needs.js'

// As npm scripts run: in the repository's root.
const BIOME = 'node_modules/@biomejs/biome/bin/biome'
const VITEST = 'node_modules/vitest/vitest.mjs'

/** Its output is kept, to be shown whole where it fails. */
function lint(): Promise<{ code: number; out: string }> {
  const child = spawn(process.execPath, [BIOME, 'check', '.'], { stdio: ['ignore', 'pipe', 'pipe'] })
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
  await ensureNeeds()
  const tests = spawn(process.execPath, [VITEST, 'run', ...files], { stdio: 'inherit' })
  const tested = new Promise<number>((resolve, reject) => {
    tests.once('error', reject)
    tests.once('close', (ended) => resolve(ended ?? 1))
  })
  const linted = lint()
  void linted.then(({ code }) => code !== 0 && tests.kill('SIGINT'))
  const testCode = await tested
  const { code, out } = await linted
  if (code !== 0) process.stderr.write(`biome check . failed:\n${out}`)
  return code !== 0 ? code : testCode
}

try {
  process.exitCode = await runTests(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
