/** Looks at the LMDB files in use, to notice one that is cut, and a log that is removed. */
import { existsSync, readdirSync, type Stats, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { damageMarkOf, dataFileOf } from '../../core/log/lmdb-file.js'

export type CutWatch = {
  /** Finds files that are new or have replaced others. */
  list(): void
  look(): void
}

const BLOCK_BYTES = 512
/** A write may make the file long again before it is looked at. Compressing file systems move a little by themselves. */
const LOST_SHARE = 0.25

export function watchCutFiles(dir: DataDir, onCut: (what: string) => void): CutWatch {
  const sizes = new Map<string, Stats>()

  function list(): void {
    const states = [dir.statePath, join(dir.path, 'chains')].flatMap((parent) =>
      existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : [],
    )
    for (const folder of [dir.logPath, dir.sourcesPath, dir.keysPath, ...states]) {
      const file = dataFileOf(folder)
      const found = sizes.has(file) ? undefined : statSync(file, { throwIfNoEntry: false })
      if (found !== undefined) sizes.set(file, found)
    }
  }

  /** The next start checks every record. A missing folder is found without it. */
  function markLog(why: string): void {
    if (existsSync(dir.logPath)) writeFileSync(damageMarkOf(dir.logPath), `${why}\n`)
  }

  function look(): void {
    for (const [file, was] of sizes) {
      const now = statSync(file, { throwIfNoEntry: false })
      const isLog = file === dataFileOf(dir.logPath)
      // Removed, or replaced by a replay: what is mapped stays whole. Of a removed log nobody else would see what is written.
      if (now?.ino !== was.ino) {
        sizes.delete(file)
        if (!isLog) continue
        markLog('the file was removed')
        onCut(`${file} was removed while in use`)
      } else {
        sizes.set(file, now)
        const what = whatIsCut(was, now)
        if (what === undefined) continue
        if (isLog) markLog('the file was cut')
        onCut(`${file} ${what} while in use`)
      }
    }
  }

  list()
  return { list, look }
}

function whatIsCut(was: Stats, now: Stats): string | undefined {
  if (now.size < was.size) return `was cut from ${was.size} to ${now.size} bytes`
  const [before, after] = [was.blocks * BLOCK_BYTES, now.blocks * BLOCK_BYTES]
  const isLost = before >= was.size && after < now.size && before - after > was.size * LOST_SHARE
  return isLost ? `lost ${before - after} of its ${now.size} bytes` : undefined
}
