/** What every command receives: the process's streams, environment and clock, and the configuration read from them. */
import type { Command } from 'commander'
import type { Environment } from '../core/config/environment.js'
import { type Config, type LoadOptions, loadConfig } from '../core/config/index.js'
import { type DataDir, findDataDir, isDataDir, openDataDir } from '../core/data-dir/data-dir.js'
import { isRunning } from '../core/data-dir/lock.js'
import { ConfigError } from '../core/domain/errors.js'
import { chooseLogFormat, createLogger, type Logger } from '../core/runtime/logger.js'
import type { Output } from '../core/runtime/output.js'
import { createProgress, type Progress, type ProgressOptions } from '../core/runtime/progress.js'
import { createPaint, type OutStream, type Paint, wantsColour } from '../core/runtime/terminal.js'

export type World = {
  env: Environment
  cwd: string
  out: Output
  stdout: OutStream
  stdin: AsyncIterable<Buffer>
  stderr: OutStream
  nowMs: () => number
}

/** Options every command takes. */
export type GlobalOptions = { config?: string; dataDir?: string }

/** Wraps a command's action: passes its own and the global options, and turns its result into the exit code. */
export type Act = <Options>(
  run: (options: Options & GlobalOptions, ...args: string[]) => Promise<unknown>,
) => (...given: unknown[]) => Promise<void>

/**
 * What a command registers itself with. Registering must stay cheap, since every start registers every command: engines and
 * services are imported when a command runs.
 */
export type Cli = { program: Command; world: World; act: Act }

export function configOf(
  world: World,
  { config: file, dataDir }: GlobalOptions,
  more: Pick<LoadOptions, 'service' | 'chains'> = {},
): Config {
  const env = dataDir === undefined ? world.env : { ...world.env, DEXTAPE_DATA_DIR: dataDir }
  return loadConfig({ env, cwd: world.cwd, file, ...more })
}

/** For commands that work on existing data. Without a named directory: the one in use by a running `up`, else the one that exists. */
export function configOfExistingData(world: World, options: GlobalOptions): Config {
  const config = configOf(world, options)
  const { dataDir, simulatedDataDir } = config
  const useSimulated = isRunning(simulatedDataDir)
    ? !isRunning(dataDir)
    : !isDataDir(dataDir) && isDataDir(simulatedDataDir)
  return useSimulated ? { ...config, dataDir: simulatedDataDir } : config
}

/** Fails where there is none. */
export function existingDir(config: Config): DataDir {
  return findDataDir(config.dataDir)
}

/** Creates it where there is none. */
export function createdDir(config: Config): DataDir {
  return openDataDir(config.dataDir)
}

export function loggerOf(world: World, config: Config): Logger {
  return createLogger(chooseLogFormat(config.logFormat, world.env, world.stderr))
}

/** Colours of what a command prints. */
export function paintOf({ env, stdout }: World): Paint {
  return createPaint(wantsColour(env, stdout))
}

export function progressOf(
  { env, stderr, nowMs }: World,
  logger: Logger,
  what: Pick<ProgressOptions, 'message' | 'unit' | 'fields' | 'everyMs'>,
): Progress {
  return createProgress({ ...what, stream: stderr, logger, paint: createPaint(wantsColour(env, stderr)), nowMs })
}

/** The key of a command that calls a running server; `create` makes one that it can use. */
export function keyOf({ apiKey }: Config, options: { key?: string }, create: string): string {
  const key = options.key ?? (apiKey.kind === 'fixed' ? apiKey.key : undefined)
  if (key !== undefined) return key
  throw new ConfigError({
    code: 'key_missing',
    what: 'No API key is set',
    fix: `Set --key or DEXTAPE_API_KEY, or create a key with \`${create}\`.`,
  })
}
