/**
 * A list of the embedded engine's files, kept beside them. The engine sets a part it cannot read aside without a word, and a part
 * that is gone is not missed by it. Parts never change once written, so a list of them shows what is missing or was changed.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { crc32 } from '../runtime/crc32.js'
import { atOnce, inTurns } from '../runtime/in-turns.js'
import { writeJsonFile } from '../runtime/json-file.js'
import { enginePathOf } from './local-store.js'
import { REPLAY_MARK } from './tables.js'

/** Its size, and the checksum of a small one. */
type FileMark = [bytes: number, checksum: number | null]
type Part = {
  files: Record<string, FileMark> /** Deletes may leave it without rows, and then the engine drops it. */
  isMasked: boolean
}
type StoreFiles = { files: Record<string, FileMark>; parts: Record<string, Part> }

/** Larger files are checked by the engine, in the background. */
const SMALL_BYTES = 64 * 1024
const PART_NAME = /^(.+)_(\d+)_(\d+)_(\d+)(?:_(\d+))?$/
/** Of the engine's work, not of its data. */
const PASSING =
  /^(inserts|tmp|tmp_.*|delete_tmp_.*|detached|moving|status|uuid|flags|preprocessed_configs|user_files|format_schemas|metadata_dropped|mutation_\d+\.txt|tmp_mutation_.*|deduplication_logs|.*\.tmp)$/

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

export const storeFilesOf = (dataDir: string): string => join(dataDir, 'store-files.json')

export type StoreFileList = {
  /** Lists what is there now, in short turns. Parts already listed are not read again. */
  save(): Promise<void>
  /** Before the tables change: the list no longer holds, nor does one that is being made. */
  drop(): void
}

export function createStoreFileList(dataDir: string): StoreFileList {
  let known: StoreFiles = { files: {}, parts: {} }
  let saved = ''
  let drops = 0
  let last: Promise<void> = Promise.resolve()
  /** Has not begun: whoever asks now gets it too. */
  let next: Promise<void> | undefined

  async function list(): Promise<void> {
    next = undefined
    const dropsBefore = drops
    const found = await inTurns(listingFiles(enginePathOf(dataDir), known.parts))
    if (drops !== dropsBefore) return
    known = found
    const text = JSON.stringify(known)
    if (text === saved) return
    const path = storeFilesOf(dataDir)
    try {
      writeJsonFile(path, { checksum: crc32(text), list: known })
      saved = text
    } catch {
      // On a full disk the earlier list stays: its parts are still there, or replaced.
      rmSync(`${path}.new`, { force: true })
    }
  }

  return {
    save() {
      if (next === undefined) {
        next = last.then(list, list)
        last = next
      }
      return next
    },
    drop() {
      drops += 1
      saved = ''
      dropStoreFileList(dataDir)
    },
  }
}

/** Before the tables change: the list no longer holds. */
export function dropStoreFileList(dataDir: string): void {
  rmSync(storeFilesOf(dataDir), { force: true })
}

/** What differs from the list; empty without a list. The engine must not run. */
export function findChangedFiles(dataDir: string): string[] {
  const list = readList(storeFilesOf(dataDir))
  if (list === undefined) return []
  const root = enginePathOf(dataDir)
  if (!existsSync(root)) return [`the folder ${root} is missing`]
  const now = atOnce(listingFiles(root, {}))
  const changed = Object.entries(list.files).flatMap(([file, mark]) => differenceOf(file, mark, now.files[file]))
  for (const [part, { files, isMasked }] of Object.entries(list.parts)) {
    const found = now.parts[part]
    if (found === undefined) {
      if (!isMasked && !isReplaced(part, Object.keys(now.parts))) changed.push(`${part} is missing`)
    } else
      for (const [file, mark] of Object.entries(files))
        changed.push(...differenceOf(`${part}/${file}`, mark, found.files[file]))
  }
  return changed
}

function differenceOf(file: string, expected: FileMark, found: FileMark | undefined): string[] {
  if (found === undefined) return [`${file} is missing`]
  if (found[0] !== expected[0]) return [`${file} has ${found[0]} of ${expected[0]} bytes`]
  return expected[1] !== null && found[1] !== expected[1] ? [`${file} has other contents`] : []
}

function readList(path: string): StoreFiles | undefined {
  try {
    const { checksum, list } = JSON.parse(readFileSync(path, 'utf8')) as { checksum: number; list: StoreFiles }
    return crc32(JSON.stringify(list)) === checksum ? list : undefined
  } catch {
    return undefined
  }
}

function* listingFiles(root: string, known: StoreFiles['parts']): Generator<void, StoreFiles> {
  const found: StoreFiles = { files: {}, parts: {} }
  const lasting = lastingFolders(root)
  const folders = [root]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      yield
      if (PASSING.test(entry.name) || entry.name.includes(REPLAY_MARK)) continue
      // A table that is being dropped has no name any more.
      if (entry.isDirectory() && isUuid(entry.name) && !lasting.has(entry.name)) continue
      const path = join(folder, entry.name)
      const name = relative(root, path)
      // Reading a pipe would take what an export writes into it.
      if (entry.isFIFO()) continue
      if (!entry.isDirectory()) {
        const mark = markOf(path)
        if (mark !== undefined) found.files[name] = mark
      } else if (PART_NAME.test(entry.name)) {
        const part = known[name] ?? readPart(path)
        if (part !== undefined) found.parts[name] = part
      } else folders.push(path)
    }
  }
  return found
}

const isUuid = (name: string): boolean => UUID.exec(name)?.[0] === name

/**
 * The folders of databases and tables, as the engine names them. Those of a replay come and go, and what they have is compared row
 * by row before it is used.
 */
function lastingFolders(root: string): Set<string> {
  const lasting = new Set<string>()
  const databases = join(root, 'metadata')
  for (const { name } of entriesOf(databases)) {
    if (!name.endsWith('.sql') || name.includes(REPLAY_MARK)) continue
    addUuid(join(databases, name), lasting)
    const tables = join(databases, name.slice(0, -'.sql'.length))
    for (const table of entriesOf(tables)) addUuid(join(tables, table.name), lasting)
  }
  return lasting
}

function addUuid(file: string, to: Set<string>): void {
  try {
    const uuid = UUID.exec(readFileSync(file, 'utf8'))?.[0]
    if (uuid !== undefined) to.add(uuid)
  } catch {
    // The engine has just removed it.
  }
}

/** Undefined: the engine has just removed it. */
function readPart(path: string): Part | undefined {
  const files: Part['files'] = {}
  for (const { name } of entriesOf(path)) {
    const mark = markOf(join(path, name))
    if (mark === undefined) return undefined
    files[name] = mark
  }
  try {
    return { files, isMasked: readFileSync(join(path, 'columns.txt'), 'utf8').includes('_row_exists') }
  } catch {
    return { files, isMasked: false }
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function markOf(path: string): FileMark | undefined {
  try {
    const stat = lstatSync(path)
    if (stat.isSymbolicLink()) return [stat.size, crc32(readlinkSync(path))]
    return [stat.size, stat.size <= SMALL_BYTES ? crc32(readFileSync(path)) : null]
  } catch {
    return undefined
  }
}

/** A merge or a delete writes a part that takes the place of others: of the same partition, with all their blocks. */
export function isReplaced(part: string, others: readonly string[]): boolean {
  const own = placeOf(part)
  return others.some((name) => {
    const other = placeOf(name)
    return (
      name !== part &&
      other.table === own.table &&
      other.partition === own.partition &&
      other.first <= own.first &&
      other.last >= own.last &&
      other.level >= own.level &&
      other.mutation >= own.mutation
    )
  })
}

function placeOf(path: string) {
  const at = path.lastIndexOf('/')
  const [, partition = '', first, last, level, mutation] = PART_NAME.exec(path.slice(at + 1)) ?? []
  const numbers = { first: Number(first), last: Number(last), level: Number(level), mutation: Number(mutation ?? 0) }
  return { table: path.slice(0, at), partition, ...numbers }
}
