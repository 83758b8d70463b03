/** The engine inside this process (chDB), loaded on first use: with a server no native part is needed. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ChdbConnection } from 'chdb/connection'
import { ConfigError } from '../domain/errors.js'
import { isAlive } from '../runtime/scratch.js'

export type EngineSession = ChdbConnection

const MB = 2 ** 20

/** For a small machine: by default caches may take half of the memory, and a thousand idle threads stay. */
const ENGINE_SETTINGS = Object.entries({
  ...{ mark_cache_size: 16 * MB, primary_index_cache_size: 16 * MB, index_mark_cache_size: MB },
  ...{ query_condition_cache_size: MB, compiled_expression_cache_size: MB, mmap_cache_size: 64 },
  max_thread_pool_free_size: 4,
  max_parts_cleaning_thread_pool_size: 2,
  background_pool_size: 2,
  background_schedule_pool_size: 2,
  memory_worker_period_ms: 5000,
}).map(([name, value]) => `--${name}=${value}`)

/** A session of the engine at this path: sessions share data, run in parallel, and have their own settings. */
export async function openSession(path: string): Promise<EngineSession> {
  const { Session } = await loadEngine()
  const directory = resolve(path)
  mkdirSync(directory, { recursive: true })
  try {
    // Only a plain session takes settings of the engine, which the first session starts and the last one stops.
    const starter = new Session(directory, { connectionArgs: ENGINE_SETTINGS })
    try {
      return await joinSession(directory)
    } finally {
      starter.close()
    }
  } catch (error) {
    throw openFault(directory, error)
  } finally {
    restoreFatalSignals()
  }
}

/** A further session of an engine that this process has open. */
export async function joinSession(path: string): Promise<EngineSession> {
  const { createChdbConnection } = await loadEngine()
  return createChdbConnection({ path: resolve(path) })
}

export type EngineStatement = {
  sql: string
  database: string
  settings: readonly (readonly [name: string, value: string])[]
  /** Where the statement names none. */
  format?: string
}

/** Runs a statement in a session of its own (under 1 ms), which ends with its settings and parameters. */
export async function runAlone(
  path: string,
  { sql, database, settings, format = 'TabSeparated' }: EngineStatement,
): Promise<Uint8Array> {
  const session = await joinSession(path)
  try {
    // Separate from the statement: the engine scans the whole text once for each statement in it.
    const set = settings.map(([name, value]) => `${name} = ${literal(value, name.startsWith('param_'))}`).join(', ')
    await session.chdb.queryAsync([`USE ${identifier(database)}`, ...(set === '' ? [] : [`SET ${set}`])].join('; '))
    return (await session.chdb.queryAsync(sql, { format })).bytes()
  } finally {
    await session.close()
  }
}

function literal(value: string, isText: boolean): string {
  if (!isText && /^-?\d+(\.\d+)?$/.test(value)) return value
  return `'${value.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`
}

function identifier(name: string): string {
  return `\`${name.replace(/[\\`]/g, '')}\``
}

/**
 * For the main thread of a process whose engine runs in another one. What a thread loaded is unloaded when it ends, unless the main
 * thread has loaded it too, and the engine's own threads live longer.
 */
export async function keepEngineLoaded(): Promise<void> {
  // The native part alone: the rest of the package takes longer to load.
  await import('chdb')
  restoreFatalSignals()
}

const FATAL_SIGNALS = ['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGSYS'] as const

/**
 * The engine's first session installs handlers for these signals that sleep for minutes, waiting for a thread that only a
 * ClickHouse server has. Node aborts when it is out of memory, so the process would hang with its ports open. Adding and
 * removing a listener restores each signal's default action: the process ends at once. Only the main thread can do it.
 */
function restoreFatalSignals(): void {
  const ignore = () => {}
  for (const signal of FATAL_SIGNALS) process.on(signal, ignore).off(signal, ignore)
}

async function loadEngine() {
  try {
    const [{ Session }, { createChdbConnection }] = await Promise.all([import('chdb'), import('chdb/connection')])
    return { Session, createChdbConnection }
  } catch (cause) {
    const cpu = process.arch === 'x64' || process.arch === 'arm64' ? process.arch : 'x64'
    const part = process.platform === 'darwin' ? `@chdb/lib-darwin-${cpu}` : `@chdb/lib-linux-${cpu}-gnu`
    throw new ConfigError({
      code: 'store_engine_missing',
      what: `The embedded store needs ${part}, which is not installed for ${process.platform}-${process.arch}`,
      got: firstLine(cause),
      fix: `Run \`npm install --no-save ${part}\`, or set CLICKHOUSE_URL to a ClickHouse server`,
      cause,
    })
  }
}

function openFault(directory: string, cause: unknown): ConfigError {
  const message = firstLine(cause)
  if (message.includes('one active data directory'))
    return new ConfigError({
      code: 'store_engine_busy',
      what: 'This process already has an embedded store open in another directory',
      where: { file: directory },
      fix: 'Close that one first: an engine process has one directory',
      cause,
    })
  const holder = holderOf(directory)
  if (holder !== undefined && holder !== process.pid)
    return new ConfigError({
      code: 'store_locked',
      what: `Another process (pid ${holder}) has this embedded store open`,
      where: { file: directory },
      fix: 'Stop it, connect through its socket, or set DEXTAPE_DATA_DIR to another directory',
      cause,
    })
  return new ConfigError({
    code: 'store_unusable',
    what: 'Cannot open the embedded store',
    where: { file: directory },
    got: message,
    fix: 'Check that the directory is writable and the disk is not full',
    cause,
  })
}

/** The engine keeps `status` in its directory locked while it runs, with its pid in it. */
export function holderOf(directory: string): number | undefined {
  let pid: number
  try {
    pid = Number(/PID: (\d+)/.exec(readFileSync(join(directory, 'status'), 'utf8'))?.[1])
  } catch {
    return undefined
  }
  return Number.isInteger(pid) && isAlive(pid) ? pid : undefined
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''
}
