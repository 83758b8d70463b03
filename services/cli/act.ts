/** How the command line calls a command. */
import type { GlobalOptions } from './context.js'

/** Runs a command's action with its own and the global options. */
export type Act = <Options>(
  run: (options: Options & GlobalOptions, ...args: string[]) => Promise<unknown>,
) => (...given: unknown[]) => Promise<void>
