/** How the command line calls a command. */
import type { GlobalOptions } from './context.js'

/** Runs a command's action with its own and the global options. */
export type Act = <Options>(
  run: (options: Options & GlobalOptions, ...args: string[]) => Promise<unknown>,
) => (...given: unknown[]) => Promise<void>

/** Loaded by name, so that a command nobody asked for costs nothing at the start. */
export async function load<Module>(name: string): Promise<Module> {
  return (await import(new URL(`./${name}.js`, import.meta.url).href)) as Module
}
