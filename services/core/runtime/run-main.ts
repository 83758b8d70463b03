/** The entry point of a program: every outcome becomes an exit code and, on failure, one message on stderr. */
import { writeSync } from 'node:fs'
import { ConfigError, DextapeError } from '../domain/errors.js'
import { killMyself } from './shutdown.js'
import { createPaint, wantsColour } from './terminal.js'

export const EXIT = { ok: 0, failed: 1, usage: 64, config: 78 } as const

export type MainEdge = { stderr: (text: string) => void; exit: (code: number) => void }

const processEdge: MainEdge = {
  stderr: (text) => process.stderr.write(text.replace(/^dextape:/, paintError)),
  // Native parts may keep threads alive: once the work is done and printed, the process ends.
  exit: (code) => {
    process.exitCode = code
    if (process.stdout.writableLength === 0) process.exit()
    else process.stdout.once('drain', () => process.exit())
  },
}

const paintError = (text: string): string => createPaint(wantsColour(process.env, process.stderr)).red(text)

/** `main` resolves with an exit code, or nothing for success. */
export async function runMain(main: () => Promise<number | undefined>, edge: MainEdge = processEdge): Promise<void> {
  try {
    edge.exit((await main()) ?? EXIT.ok)
  } catch (error) {
    edge.stderr(`${messageOf(error)}\n`)
    edge.exit(error instanceof ConfigError ? EXIT.config : EXIT.failed)
  }
}

/**
 * An uncaught error ends the process at once. Node would exit in order, and the open engine may then wait without end, with the
 * ports still open.
 */
export function dieOnUncaughtError(): void {
  process.on('uncaughtException', (error) => {
    try {
      writeSync(process.stderr.fd, `${messageOf(error)}\n`)
    } finally {
      killMyself()
    }
  })
}

/** Expected errors are one sentence, with what caused those nobody has a remedy for; unexpected ones have their stack. */
export function messageOf(error: unknown): string {
  if (error instanceof DextapeError) {
    const isExplained = error instanceof ConfigError || error.fix !== undefined || !(error.cause instanceof Error)
    return isExplained ? `dextape: ${error.message}` : `dextape: ${error.message}: ${(error.cause as Error).message}`
  }
  if (error instanceof Error) return `dextape: unexpected error\n${error.stack ?? error.message}`
  return `dextape: unexpected error: ${String(error)}`
}
