/**
 * Runs the command inside the test process, which saves the second a new process takes to load. Signals, pipes and the
 * first load of a process are tested with `runCommand`.
 */
import { Readable, Writable } from 'node:stream'
import { runCli } from '../../../services/cli/program.js'
import { createOutput } from '../../../services/core/runtime/output.js'
import { runMain } from '../../../services/core/runtime/run-main.js'
import type { Ended } from './command.js'

export type HereOptions = { cwd: string; env?: Record<string, string>; stdin?: string | Buffer }

/** Run one at a time: the command uses the streams of the process. */
export async function runHere(args: readonly string[], { cwd, env = {}, stdin = '' }: HereOptions): Promise<Ended> {
  const ended: Ended = { code: null, out: '', err: '' }
  const stdout = new Writable({
    write(chunk, _, done) {
      ended.out += chunk
      done()
    },
  })
  const stderr = new Writable({
    write(chunk, _, done) {
      ended.err += chunk
      done()
    },
  })
  const world = {
    ...{ env: { PATH: process.env.PATH, ...env }, cwd, stdout, out: createOutput(stdout) },
    ...{ stdin: Readable.from([Buffer.from(stdin)]), stderr, nowMs: Date.now },
  }
  const giveBack = [
    redirect(process.stdout, (text) => {
      ended.out += text
    }),
    redirect(process.stderr, (text) => {
      ended.err += text
    }),
  ]
  try {
    await runMain(() => runCli(world, args), {
      stderr: (text) => process.stderr.write(text),
      exit: (code) => {
        ended.code = code
      },
    })
  } finally {
    for (const restore of giveBack) restore()
  }
  return ended
}

function redirect(stream: NodeJS.WriteStream, to: (text: string) => void): () => void {
  const own = stream.write
  stream.write = ((chunk: string | Uint8Array) => {
    to(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
    return true
  }) as typeof own
  return () => {
    stream.write = own
  }
}
