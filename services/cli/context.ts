/** What a command is handed: the world as it stands at the edge, nothing read behind its back. */

import type { Writable } from 'node:stream'
import type { Environment } from '../core/config/environment.js'
import { type Config, type LoadOptions, loadConfig } from '../core/config/index.js'
import { type DataDir, findDataDir, isDataDir, openDataDir } from '../core/data-dir/data-dir.js'
import { isRunning } from '../core/data-dir/lock.js'
import { createLogger, type Logger } from '../core/runtime/logger.js'
import type { Output } from '../core/runtime/output.js'

export type World = {
  env: Environment
  cwd: string
  out: Output
  stdout: Writable
  stdin: AsyncIterable<Buffer>
  stderrIsTerminal: boolean
  nowMs: () => number
}

/** Options every command takes. */
export type GlobalOptions = { config?: string; dataDir?: string }

export function configOf(
  world: World,
  { config: file, dataDir }: GlobalOptions,
  more: Pick<LoadOptions, 'service' | 'chains'> = {},
): Config {
  const env = dataDir === undefined ? world.env : { ...world.env, DEXTAPE_DATA_DIR: dataDir }
  return loadConfig({ env, cwd: world.cwd, file, ...more })
}

/** For commands that work beside a running `up` or after it: unless a directory is named, the one that is running, else the one that is there. */
export function configOfExistingData(world: World, options: GlobalOptions): Config {
  const config = configOf(world, options)
  const { dataDir, simulatedDataDir } = config
  const useSimulated = isRunning(simulatedDataDir)
    ? !isRunning(dataDir)
    : !isDataDir(dataDir) && isDataDir(simulatedDataDir)
  return useSimulated ? { ...config, dataDir: simulatedDataDir } : config
}

export function existingDir(config: Config): DataDir {
  return findDataDir(config.dataDir)
}

export function createdDir(config: Config): DataDir {
  return openDataDir(config.dataDir)
}

export function loggerOf(world: World, config: Config): Logger {
  const format = config.logFormat === 'auto' ? (world.stderrIsTerminal ? 'text' : 'json') : config.logFormat
  return createLogger(format)
}

/** Runs a command's action with its own and the global options. */
export type Act = <Options>(
  run: (options: Options & GlobalOptions, ...args: string[]) => Promise<unknown>,
) => (...given: unknown[]) => Promise<void>
