/** The files of an embedded store, by what they are for. */
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isReplaced } from '../../services/core/store/store-files.js'

export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [join(entry.parentPath ?? entry.path, entry.name)] : []))
    .sort()
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
