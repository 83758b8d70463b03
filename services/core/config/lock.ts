/** One running `up` a data directory: a file with its process id. A lock whose process is gone is taken over. */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { ConfigError } from '../domain/errors.js'
import { isAlive } from '../runtime/is-alive.js'
import { type DataDir, findDataDir, isDataDir } from './data-dir.js'

export type DirLock = { release(): void }
type Holder = { pid: number; started: string }

export function lockDataDir(dir: DataDir, pid: number = process.pid): DirLock {
  const own = JSON.stringify({ pid, started: startOf(pid) } satisfies Holder)
  const draft = `${dir.lockPath}.${pid}`
  writeFileSync(draft, own)
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        // A link appears whole or not at all, so nobody reads a half written lock.
        linkSync(draft, dir.lockPath)
        break
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'EEXIST' || attempt === 5) throw cause
      }
      const holder = lockHolder(dir)
      if (holder !== undefined) throw inUse(dir, holder.pid)
      removeStale(dir, pid)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  return {
    release() {
      if (readText(dir.lockPath) === own) rmSync(dir.lockPath, { force: true })
    },
  }
}

/** The live process that holds the directory, if any. */
export function lockHolder(dir: DataDir): { pid: number } | undefined {
  const holder = parseHolder(readText(dir.lockPath))
  return holder !== undefined && isHolding(holder) ? { pid: holder.pid } : undefined
}

/** Whether an `up` runs on this directory. */
export const isRunning = (path: string): boolean => isDataDir(path) && lockHolder(findDataDir(path)) !== undefined

/** Moved aside before it is judged again: another starter may have replaced it in between. */
function removeStale(dir: DataDir, pid: number): void {
  const aside = `${dir.lockPath}.stale.${pid}`
  try {
    renameSync(dir.lockPath, aside)
  } catch {
    return
  }
  const holder = parseHolder(readText(aside))
  if (holder !== undefined && isHolding(holder)) {
    renameSync(aside, dir.lockPath)
    throw inUse(dir, holder.pid)
  }
  rmSync(aside, { force: true })
}

function isHolding({ pid, started }: Holder): boolean {
  if (!isAlive(pid)) return false
  // Process ids are used again, in containers at every start: the same id with another start time is another process.
  return startOf(pid) === started
}

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A process that ended and only waits to be reaped holds nothing any more.
    if (fields[0] === 'Z' || fields[0] === 'X') return ''
    return `${boot}:${fields[19]}`
  } catch {
    return ''
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function parseHolder(text: string | undefined): Holder | undefined {
  try {
    const value = JSON.parse(text ?? '') as Partial<Holder>
    return typeof value.pid === 'number' && typeof value.started === 'string'
      ? { pid: value.pid, started: value.started }
      : undefined
  } catch {
    return undefined
  }
}

function inUse(dir: DataDir, pid: number): ConfigError {
  return new ConfigError({
    code: 'data_dir_in_use',
    what: `Another dextape (process ${pid}) is running on the data directory ${dir.path}`,
    fix: 'Stop it first, or give this one its own directory with DEXTAPE_DATA_DIR.',
  })
}
