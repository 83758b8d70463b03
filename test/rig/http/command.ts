/** Runs the real command as a separate process, as a user would. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import { isLongRun } from '../counts.js'

export const DEXTAPE = join(repositoryRoot(), 'services/cli/dextape.js')

/** Thirty times V8's own number of calls before it optimises a function; V8 of Node 22 renamed the flag. */
const OPTIMISE_LATE =
  Number.parseInt(process.versions.node, 10) < 22
    ? '--interrupt-budget=2000000'
    : '--invocation-count-for-turbofan=90000'

/**
 * For processes that live for seconds: optimising what then ran for a moment was a sixth of their CPU. A long run has V8's own
 * limits.
 */
export const NODE_FLAGS: readonly string[] = isLongRun() ? [] : [OPTIMISE_LATE]

export type Ended = { code: number | null; out: string; err: string }

export type Started = {
  child: ChildProcessWithoutNullStreams
  /** Calls the listener with all standard output so far on every new chunk. */
  onOutput(listener: (out: string) => void): void
  ended: Promise<Ended>
}

/** As the first line of the command has them. */
export const USER_FLAGS = ['--max-semi-space-size=32']
export const USER_ENVIRONMENT = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '32768' }

/** `program`: run instead of the command. `asUser`: with V8's and glibc's settings as a user has them, for measurements. */
export type CommandOptions = {
  cwd: string
  env?: Record<string, string>
  uid?: number
  program?: string
  asUser?: boolean
}

const folders: string[] = []
const running = new Set<ChildProcessWithoutNullStreams>()

export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-it-'))
  folders.push(folder)
  return folder
}

/** Call at the end of a test file. Also kills processes that a failed test did not stop. */
export function removeScratchFolders(): void {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}

/** Passes on only PATH, so that no other variable of the test process reaches the command. */
export function startCommand(
  args: readonly string[],
  { cwd, env = {}, uid, program = DEXTAPE, asUser = false }: CommandOptions,
): Started {
  const child = spawn(process.execPath, [...(asUser ? USER_FLAGS : NODE_FLAGS), program, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...(asUser ? USER_ENVIRONMENT : {}), ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  running.add(child)
  child.once('close', () => running.delete(child))
  let [out, err] = ['', '']
  const listeners: ((out: string) => void)[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    for (const listener of listeners) listener(out)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err })))
  return { child, onOutput: (listener) => listeners.push(listener), ended }
}

/** Runs a command that exits by itself; it is killed on timeout, and its code is then null. */
export async function runCommand(
  args: readonly string[],
  options: CommandOptions & { withinMs?: number },
): Promise<Ended> {
  const { child, ended } = startCommand(args, options)
  const timer = setTimeout(() => child.kill('SIGKILL'), options.withinMs ?? 120_000)
  return ended.finally(() => clearTimeout(timer))
}
