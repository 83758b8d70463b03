/** Connects the command line to the process: streams, environment and exit code. */

import { createOutput, endQuietlyOnClosedPipe } from '../core/runtime/output.js'
import { dieOnUncaughtError, runMain } from '../core/runtime/run-main.js'
import { createPaint, wantsColour } from '../core/runtime/terminal.js'
import { runCli } from './program.js'

dieOnUncaughtError()
endQuietlyOnClosedPipe(process.stdout, (code) => process.exit(code))
/** Resolves when the command has ended. */
export const finished = runMain(() =>
  runCli(
    {
      env: process.env,
      cwd: process.cwd(),
      out: createOutput(process.stdout, createPaint(wantsColour(process.env, process.stdout))),
      stdout: process.stdout,
      stdin: process.stdin as AsyncIterable<Buffer>,
      stderr: process.stderr,
      nowMs: Date.now,
    },
    process.argv.slice(2),
  ),
)
