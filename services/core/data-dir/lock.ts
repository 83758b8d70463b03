/** One running `up` per data directory: a file with its process id. The lock of an ended process is replaced. */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../domain/errors.js'
import { isAlive } from '../runtime/scratch.js'
import { type DataDir, findDataDir, isDataDir } from './data-dir.js'

export type DirLock = {
  release(): void
  /** The process that held it and ended without releasing it. */
  replaced?: number
}
type Holder = { pid: number; started: string }

export function lockDataDir(dir: DataDir, pid: number = process.pid): DirLock {
  return lockFile(dir.lockPath, pid, (holder) => inUse(dir, holder))
}

/** One running `backfill` per chain, next to whatever else runs on the directory. */
export function lockBackfill(dir: DataDir, chain: string, pid: number = process.pid): DirLock {
  return lockFile(join(dir.path, `backfill-${chain}.lock`), pid, (holder) => isBackfilled(chain, holder))
}

/** One running `replay` per chain, next to whatever else runs on the directory. */
export function lockReplay(dir: DataDir, chain: string, pid: number = process.pid): DirLock {
  return lockFile(join(dir.path, `replay-${chain}.lock`), pid, (holder) => isReplayed(chain, holder))
}

type Refuse = (holder: number) => ConfigError

function lockFile(lockPath: string, pid: number, refuse: Refuse): DirLock {
  const own = JSON.stringify({ pid, started: startOf(pid) } satisfies Holder)
  const draft = `${lockPath}.${pid}`
  writeFileSync(draft, own)
  let replaced: number | undefined
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        // A link appears whole or not at all, so no process reads a half-written lock.
        linkSync(draft, lockPath)
        break
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'EEXIST' || attempt === 5) throw cause
      }
      const holder = holderOf(lockPath)
      if (holder !== undefined) throw refuse(holder.pid)
      replaced = parseHolder(readText(lockPath))?.pid
      removeStale(lockPath, pid, refuse)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  return {
    ...(replaced === undefined ? {} : { replaced }),
    release() {
      if (readText(lockPath) === own) rmSync(lockPath, { force: true })
    },
  }
}

/** The live process that holds the directory, if any. */
export const lockHolder = (dir: DataDir): { pid: number } | undefined => holderOf(dir.lockPath)

function holderOf(lockPath: string): { pid: number } | undefined {
  const holder = parseHolder(readText(lockPath))
  return holder !== undefined && isHolding(holder) ? { pid: holder.pid } : undefined
}

/** Whether an `up` runs on this directory. */
export const isRunning = (path: string): boolean => isDataDir(path) && lockHolder(findDataDir(path)) !== undefined

/** Moved aside, then checked again: another process may have replaced it in between. */
function removeStale(lockPath: string, pid: number, refuse: Refuse): void {
  const aside = `${lockPath}.stale.${pid}`
  try {
    renameSync(lockPath, aside)
  } catch {
    return
  }
  const holder = parseHolder(readText(aside))
  if (holder !== undefined && isHolding(holder)) {
    renameSync(aside, lockPath)
    throw refuse(holder.pid)
  }
  rmSync(aside, { force: true })
}

function isHolding({ pid, started }: Holder): boolean {
  if (!isAlive(pid)) return false
  // Process ids are reused, in containers at every start: the same id with another start time is another process.
  return startOf(pid) === started
}

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie process holds nothing.
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
    fix: 'Stop it first, or use another directory (DEXTAPE_DATA_DIR).',
  })
}

function isBackfilled(chain: string, pid: number): ConfigError {
  return new ConfigError({
    code: 'backfill_running',
    what: `Another backfill of ${chain} (process ${pid}) is running`,
    fix: 'Wait for it, or stop it: the next backfill resumes where it stopped.',
  })
}

function isReplayed(chain: string, pid: number): ConfigError {
  return new ConfigError({
    code: 'replay_running',
    what: `Another replay of ${chain} (process ${pid}) is running`,
    fix: 'Wait for it, or stop it: the next replay resumes where it stopped.',
  })
}
