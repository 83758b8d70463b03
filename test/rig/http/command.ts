/** The real command as a process of its own, as a person would start it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'

export const DEXTAPE = join(repositoryRoot(), 'services/cli/dextape.js')

export type Ended = { code: number | null; out: string; err: string }

export type Started = {
  child: ChildProcessWithoutNullStreams
  /** Standard output so far, told again whenever some more came. */
  onOutput(listener: (out: string) => void): void
  ended: Promise<Ended>
}

export type CommandOptions = { cwd: string; env?: Record<string, string>; uid?: number }

export const scratchFolder = (): string => mkdtempSync(join(tmpdir(), 'dextape-it-'))

/** Of this process's environment only the path is handed on: nothing set here may reach the command by accident. */
export function startCommand(args: readonly string[], { cwd, env = {}, uid }: CommandOptions): Started {
  const child = spawn(process.execPath, [DEXTAPE, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
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

/** A command that ends by itself; one that does not is killed, which its code (null) tells. */
export async function runCommand(
  args: readonly string[],
  options: CommandOptions & { withinMs?: number },
): Promise<Ended> {
  const { child, ended } = startCommand(args, options)
  const timer = setTimeout(() => child.kill('SIGKILL'), options.withinMs ?? 20_000)
  return ended.finally(() => clearTimeout(timer))
}
