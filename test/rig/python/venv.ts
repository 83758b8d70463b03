/**
 * Python tools in a virtual environment, created once in the git-ignored cache and then reused. Concurrent test runs wait
 * for the one that creates it.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { repositoryRoot } from '../../../schemas/avro.js'

export type Ran = { code: number | null; out: string }

const HERE = join(repositoryRoot(), 'test/rig/python')
const CACHE = join(repositoryRoot(), '.cache/python')
/** For PYTHONPYCACHEPREFIX: compiling pandas takes two seconds at each start, and none is left in the sources. */
export const COMPILED = join(CACHE, 'compiled')
/** The first run downloads every package. */
const MAKE_WITHIN_MS = 240_000

/** @returns the folder with the executables of `test/rig/python/<name>.txt`. */
export function pythonTools(name: string): Promise<string> {
  return pythonEnvironment(name, join(HERE, `${name}.txt`))
}

/** @returns the folder with the executables of a requirements file. */
export async function pythonEnvironment(name: string, requirements: string): Promise<string> {
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
  const folder = join(CACHE, `${name}-${version}`)
  const ready = join(folder, 'ready')
  if (!existsSync(ready)) {
    mkdirSync(CACHE, { recursive: true })
    await holding(`${folder}.lock`, async () => {
      if (existsSync(ready)) return
      rmSync(folder, { recursive: true, force: true })
      await make(folder, requirements)
      writeFileSync(ready, '')
    })
  }
  return join(folder, 'bin')
}

async function make(folder: string, requirements: string): Promise<void> {
  const why = `The tests use packages from PyPI, listed in ${requirements}.`
  const version = await run('python3', ['--version'])
  if (version.code !== 0) {
    throw new Error(`python3 is missing. ${why} Install it: apt install python3 python3-venv\n${version.out}`)
  }
  // With the system's pip the environment needs none of its own, which takes twice as long as small packages.
  const hasPip = (await run('python3', ['-m', 'pip', '--version'])).code === 0
  const venv = await run('python3', ['-m', 'venv', ...(hasPip ? ['--without-pip'] : []), folder])
  if (venv.code !== 0) {
    throw new Error(
      `python3 cannot create a virtual environment. ${why} Install it: apt install python3-venv\n${venv.out}`,
    )
  }
  const python = join(folder, 'bin/python')
  const pip = [
    ...['-m', 'pip', ...(hasPip ? ['--python', python] : []), 'install', '--quiet', '--disable-pip-version-check'],
    // Programs compile what they import at their first start.
    ...['--no-compile', '--requirement', requirements],
  ]
  const command = hasPip ? 'python3' : python
  const installed = await run(command, pip)
  if (installed.code !== 0) {
    throw new Error(
      `pip could not install the packages. ${why} See why with: ${[command, ...pip].join(' ')}\n${installed.out}`,
    )
  }
}

/** Returns stdout and stderr in one text; a missing command exits with 127. */
export function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  const note = (text: string): void => {
    out += text
  }
  child.stdout.setEncoding('utf8').on('data', note)
  child.stderr.setEncoding('utf8').on('data', note)
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: 127, out: `${out}${error.message}` }))
    child.once('close', (code) => resolve({ code, out }))
  })
}

/** The lock is a folder, because creating one is atomic. The lock of a dead process is removed. */
export async function holding(lock: string, work: () => Promise<void>): Promise<void> {
  const owner = join(lock, 'pid')
  const deadline = Date.now() + MAKE_WITHIN_MS
  for (;;) {
    try {
      mkdirSync(lock)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    if (isAbandoned(owner)) rmSync(lock, { recursive: true, force: true })
    if (Date.now() > deadline)
      throw new Error(`${lock} is still held after ${MAKE_WITHIN_MS} ms; remove it if no process holds it`)
    await sleep(200)
  }
  try {
    writeFileSync(owner, String(process.pid))
    await work()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function isAbandoned(owner: string): boolean {
  if (!existsSync(owner)) return false
  try {
    process.kill(Number(readFileSync(owner, 'utf8')), 0)
    return false
  } catch {
    return true
  }
}
