/** The real command on a pseudo-terminal, as a person sees it. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import { DEXTAPE } from '../http/command.js'

export type Terminal = {
  /** Everything written so far, with ␛ for the escape character. */
  readonly shown: string
  /** Resolves once what was written matches. */
  until(pattern: RegExp): Promise<string>
  type(keys: string): void
  resize(columns: number, rows: number): void
  /** `echo`: whether the terminal was left as it was found. */
  ended: Promise<{ code: number; echo: string }>
}

type Given = { cwd: string; env?: Record<string, string>; columns?: number; rows?: number }

export function runOnTerminal(args: readonly string[], { cwd, env = {}, columns = 100, rows = 30 }: Given): Terminal {
  const program = join(repositoryRoot(), 'test/rig/terminal/pseudo-terminal.py')
  const child = spawn('python3', [program, String(columns), String(rows), process.execPath, DEXTAPE, ...args], {
    ...{ cwd, env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env } },
  })
  let shown = ''
  const watchers = new Set<() => void>()
  const onText = (chunk: string) => {
    shown += chunk.replaceAll('\x1b', '␛')
    for (const watch of watchers) watch()
  }
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onText)
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const order = (line: string) => void child.stdin.write(`${line}\n`)
  return {
    get shown() {
      return shown
    },
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = () => {
          if (!pattern.test(shown)) return
          watchers.delete(watch)
          resolve(shown)
        }
        watchers.add(watch)
        void closed.then(() => reject(new Error(`the command ended without ${pattern}:\n${shown}`)))
        watch()
      }),
    type: (keys) => order(`key ${keys}`),
    resize: (wide, high) => order(`size ${wide} ${high}`),
    ended: closed.then(() => {
      const [, code = '', echo = ''] = /\nexit (-?\d+) echo (\w+)\n$/.exec(shown) ?? []
      return { code: Number(code), echo }
    }),
  }
}
