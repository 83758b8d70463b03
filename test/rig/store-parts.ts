/** The files of an embedded store, by what they are for. */
import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isReplaced } from '../../services/core/store/store-files.js'

/** Of a folder that is written meanwhile, too. */
export function filesOf(folder: string): string[] {
  return entriesOf(folder)
    .flatMap((entry) => (entry.isFile() ? [join(entry.parentPath ?? entry.path, entry.name)] : []))
    .sort()
}

/** A folder that is gone before it is read is an error to Node: then all is read again. */
function entriesOf(folder: string): Dirent[] {
  for (;;) {
    try {
      return readdirSync(folder, { recursive: true, withFileTypes: true })
    } catch (error) {
      const isGoneWithin = (error as NodeJS.ErrnoException).code === 'ENOENT' && existsSync(folder)
      if (!isGoneWithin) throw error
    }
  }
}

const PART = /_\d+_\d+_\d+$/

/** Those of parts that are read: one that was merged into another stays for some minutes. */
export function filesOfParts(files: readonly string[]): string[] {
  const folders = [...new Set(files.map(dirname))]
  const parts = folders.filter((folder) => PART.test(folder) && !folder.includes('/detached/'))
  const read = new Set(parts.filter((part) => !isReplaced(part, parts)))
  return files.filter((path) => read.has(dirname(path)))
}

/** On disk: sparse files count what they hold. One may be gone by now. */
export function allocatedBytes(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.blocks ?? 0) * 512, 0)
}
