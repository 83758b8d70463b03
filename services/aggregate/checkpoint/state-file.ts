/** The LMDB file of a state directory. One of an earlier version is written anew when it is opened. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { DextapeError } from '../../core/domain/errors.js'
import { dataFileOf } from '../../core/log/lmdb-file.js'
import { MAP_BYTES } from '../../core/log/lmdb-tables.js'
import { freeBytesOf } from '../../core/runtime/disk-space.js'
import { inTable } from './table-key.js'
import { type TableChange, writeTogether } from './write-together.js'

type Root = RootDatabase<Buffer, string>
type Table = Database<Buffer, string>
export type StateFile = { root: Root; table: Table }

/** Of the compressed values: buckets, and even more the undo data of a block, repeat themselves. */
const TABLE = 'values-by-time'
/** The same by owner. At first values were in the root table, uncompressed. */
const OLD_TABLE = 'values'

/**
 * LMDB has the numbers of all pages that a transaction changed in a sorted list, and moves half of it for each new one. With fewer
 * and larger pages a checkpoint of 20,000 pairs takes half the CPU.
 */
export const PAGE_BYTES = 16_384

/** Created where it is missing. `onRewrite` is called before one of an earlier version is written anew. */
export async function openStateFile(path: string, onRewrite: () => void = () => {}): Promise<StateFile> {
  await written(path, async () => makeRoomFor(path))
  const file = openFile(path)
  if (!isOld(file.root)) return file
  onRewrite()
  await written(path, () => writeAnew(file.root, path))
  return openFile(path)
}

/** A full disk may have room again. */
export async function written<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    throw new DextapeError({
      ...{ code: 'state_write_failed', what: 'Cannot write a checkpoint', retry: true, where: { file: path } },
      got: cause instanceof Error ? cause.message : String(cause),
      fix: 'Check for a full disk or a read-only data directory.',
      cause,
    })
  }
}

function openFile(path: string): StateFile {
  const root: Root = open({
    path,
    overlappingSync: false,
    encoding: 'binary',
    mapSize: MAP_BYTES,
    pageSize: PAGE_BYTES,
  })
  return { root, table: openTable(root, TABLE) }
}

const openTable = (root: Root, name: string): Table => root.openDB({ name, encoding: 'binary', compression: true })

/** LMDB maps its files before the disk has room for them: on a full one the process would end by SIGBUS. */
const FIRST_FILES_BYTES = 2 ** 20

function makeRoomFor(path: string): void {
  mkdirSync(path, { recursive: true })
  const isThere = existsSync(dataFileOf(path)) && existsSync(join(path, 'lock.mdb'))
  if (!isThere && freeBytesOf(path) < FIRST_FILES_BYTES) throw new Error('no space left on the disk')
}

function isOld(root: Root): boolean {
  for (const key of root.getKeys()) if (key !== TABLE) return true
  return false
}

/** A crash meanwhile leaves the old file as it was. Closes it. */
async function writeAnew(old: Root, path: string): Promise<void> {
  const beside = join(path, 'next')
  rmSync(beside, { recursive: true, force: true })
  try {
    await copyValues(old, beside)
  } finally {
    await old.close()
  }
  renameSync(dataFileOf(beside), dataFileOf(path))
  rmSync(beside, { recursive: true })
}

async function copyValues(old: Root, path: string): Promise<void> {
  makeRoomFor(path)
  const { root, table } = openFile(path)
  try {
    for (const some of inSets(oldValues(old))) await writeTogether(table, some)
    await table.flushed
  } finally {
    await root.close()
  }
}

/** Not those of the new table: where it is beside an old one, an earlier version was started once more and has what is newest. */
function* oldValues(root: Root): Generator<TableChange<string>> {
  for (const key of root.getKeys()) {
    if (key === OLD_TABLE) {
      for (const entry of openTable(root, OLD_TABLE).getRange()) yield inTable(entry)
    } else if (key !== TABLE) yield inTable({ key, value: root.get(key) ?? null })
  }
}

/** A transaction has every page that it changes in memory. */
const VALUES_PER_SET = 1000

function* inSets<T>(all: Iterable<T>): Generator<T[]> {
  let some: T[] = []
  for (const one of all) {
    some.push(one)
    if (some.length < VALUES_PER_SET) continue
    yield some
    some = []
  }
  yield some
}
