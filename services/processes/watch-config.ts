/** Reads the configuration file again when it changes: chains, nodes and scopes take effect at once, the rest at the next start. */
import { statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { ChainSourceConfig, Config } from '../core/config/index.js'
import type { Logger } from '../core/runtime/logger.js'

/** The configuration as a start would read it now, and the chains it would read. */
export type ReadConfigAgain = () => { config: Config; sources: readonly ChainSourceConfig[] }

export type ConfigWatch = {
  config: Config
  read: ReadConfigAgain
  change: (sources: readonly ChainSourceConfig[]) => void
  logger: Logger
  signal: AbortSignal
  everyMs?: number
}

const LOOK_EVERY_MS = 2_000
/** What changes with the chains that are read. */
const OF_SOURCES: readonly (keyof Config)[] = ['sources', 'contracts']

/** Only a file can change: without one there is nothing to watch. */
export function watchConfig({
  config: first,
  read,
  change,
  logger,
  signal,
  everyMs = LOOK_EVERY_MS,
}: ConfigWatch): void {
  if (first.file.kind === 'none') return
  const { path } = first.file
  let current = first
  let seen = stampOf(path)

  function look(): void {
    const stamp = stampOf(path)
    if (stamp === seen || stamp === undefined) return
    seen = stamp
    try {
      take(read())
    } catch (error) {
      logger.error('the configuration file is wrong; the running configuration is kept', { file: path, error })
    }
  }

  function take({ config, sources }: ReturnType<ReadConfigAgain>): void {
    const changed = (Object.keys(config) as (keyof Config)[]).filter(
      (key) => !OF_SOURCES.includes(key) && !isDeepStrictEqual(config[key], current[key]),
    )
    current = config
    if (changed.length > 0) logger.warn('some changes of the configuration need a restart', { file: path, changed })
    change(sources)
  }

  const timer = setInterval(look, everyMs).unref()
  process.on('SIGHUP', look)
  signal.addEventListener(
    'abort',
    () => {
      clearInterval(timer)
      process.off('SIGHUP', look)
    },
    { once: true },
  )
}

/** Undefined while it is being replaced. */
function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && `${stat.ino} ${stat.mtimeMs} ${stat.size}`
}
