/** Looks at the sizes of the LMDB files in use, to notice one that is cut. */
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

  function look(): void {
    for (const [file, was] of sizes) {
      const now = statSync(file, { throwIfNoEntry: false })
      // Removed, or replaced by a replay: what is mapped stays whole.
      if (now?.ino !== was.ino) sizes.delete(file)
      else {
        sizes.set(file, now)
        const what = whatIsCut(was, now)
        if (what === undefined) continue
        // The next start checks every record.
        if (file === dataFileOf(dir.logPath)) writeFileSync(damageMarkOf(dir.logPath), 'the file was cut\n')
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
