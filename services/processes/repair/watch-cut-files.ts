/**
 * Ends the process with the reason when one of its LMDB files is cut. LMDB has the file mapped into memory: the next access beyond
 * its end is a SIGBUS, which ends the process without a word. The kernel's notice usually comes first.
 */
import { existsSync, type FSWatcher, readdirSync, statSync, watch, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { damageMarkOf, dataFileOf } from '../../core/log/salvage-log.js'
import { killMyself } from '../../core/runtime/shutdown.js'

type CutDeps = {
  onCut?: (text: string) => void
  /** For chains that appear later. */
  listEveryMs?: number
}

const LIST_EVERY_MS = 10_000
const STDERR = 2

/** Returns how to end it. */
export function watchCutFiles(dir: DataDir, { onCut = endProcess, listEveryMs = LIST_EVERY_MS }: CutDeps = {}) {
  const watches = new Map<string, FSWatcher>()

  /** The next listing finds what replaced it. */
  function forget(file: string): void {
    watches.get(file)?.close()
    watches.delete(file)
  }

  function watchFile(folder: string): void {
    const file = dataFileOf(folder)
    if (watches.has(file)) return
    const first = statSync(file, { throwIfNoEntry: false })
    if (first === undefined) return
    let bytes = first.size
    const look = () => {
      const now = statSync(file, { throwIfNoEntry: false })
      // Removed, or replaced by a replay: what is mapped stays whole.
      if (now?.ino !== first.ino) return forget(file)
      const was = bytes
      bytes = now.size
      if (bytes >= was) return
      // The next start checks every record.
      if (folder === dir.logPath) writeFileSync(damageMarkOf(dir.logPath), 'the file was cut\n')
      onCut(`${file} was cut from ${was} to ${bytes} bytes while in use`)
    }
    const watcher = watch(file, { persistent: false }, look)
    watcher.on('error', () => {})
    watches.set(file, watcher)
  }

  function list(): void {
    for (const folder of [dir.logPath, dir.sourcesPath, dir.keysPath]) watchFile(folder)
    for (const parent of [dir.statePath, join(dir.path, 'chains')])
      for (const name of existsSync(parent) ? readdirSync(parent) : []) watchFile(join(parent, name))
  }

  list()
  const timer = setInterval(list, listEveryMs).unref()
  return () => {
    clearInterval(timer)
    for (const watcher of watches.values()) watcher.close()
  }
}

/** An orderly stop would read the file. */
function endProcess(what: string): void {
  writeSync(STDERR, `dextape: ${what}; ending the process. Start it again: a start repairs the data directory.\n`)
  killMyself()
}
