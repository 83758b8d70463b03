/**
 * Reads an LMDB file without LMDB. LMDB maps its file into memory and trusts every number in it: a page beyond the end of the file
 * ends the process with SIGBUS. So a file is walked here, page by page, before LMDB opens it.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'

export const dataFileOf = (path: string): string => join(path, 'data.mdb')

/** Whoever finds a damaged record leaves this mark beside the log's folder: the next start then checks every record. */
export const damageMarkOf = (path: string): string => `${path}.damaged`

/** What is wrong, and where in the file. */
export type FileProblem = { what: string; page?: number }

/** `key` and `value` as stored: encoded, possibly compressed. */
export type FileEntry = { table: string; key: Buffer; value: Buffer }

export type FileCheck = {
  problems: FileProblem[]
  /** Entries and pages that the walk reached. */
  entries: number
  pages: number
}

const MAGIC = 0xbeefc0de
const VERSION = 2
const HEADER_BYTES = 24
const NODE_BYTES = 8
const BRANCH = 1
const LEAF = 2
const OVERFLOW = 4
const META = 8
/** Node flags. */
const BIG = 1
const SUB = 2
const NO_PAGE = 2 ** 64
/** Problems listed of one file. */
const MAX_PROBLEMS = 20
const MAX_DEPTH = 32
const LARGEST_MAP_BYTES = 2 ** 46

/** The record of a table: in the meta page, or the value of its name. */
type Tree = { depth: number; branches: number; leaves: number; overflow: number; entries: number; root: number }
type Meta = { pageBytes: number; lastPage: number; txn: number; free: Tree; main: Tree; mapBytes: number }
type Counted = Omit<Tree, 'root' | 'depth'>

/** The name of the table that lists the other tables. */
const MAIN = ''

/**
 * Walks all tables. Large values are only read for `onEntry`, so that a walk without it reads about a hundredth of a log. An
 * unreadable page costs the entries below it, the rest is still read. The file must not be written meanwhile.
 */
export function walkLmdbFile(file: string, onEntry?: (entry: FileEntry) => void): FileCheck {
  const fd = openSync(file, 'r')
  try {
    return walk(fd, onEntry)
  } finally {
    closeSync(fd)
  }
}

function walk(fd: number, onEntry: ((entry: FileEntry) => void) | undefined): FileCheck {
  const problems: FileProblem[] = []
  const note = (what: string, page?: number) => {
    if (problems.length < MAX_PROBLEMS) problems.push(page === undefined ? { what } : { what, page })
  }
  const fileBytes = fstatSync(fd).size
  const meta = readMeta(fd, fileBytes, note)
  const counted = { entries: 0, pages: 0 }
  if (meta === undefined) return { problems, ...counted }
  const { pageBytes, lastPage, txn } = meta
  const neededBytes = (lastPage + 1) * pageBytes
  // A file ends with its last used page; free pages after it need not exist.
  const pagesInFile = Math.min(lastPage + 1, Math.floor(fileBytes / pageBytes))
  const used = new Uint8Array(pagesInFile)

  const read = (page: number, bytes: number): Buffer | undefined => {
    const buffer = Buffer.allocUnsafe(bytes)
    return readSync(fd, buffer, 0, bytes, page * pageBytes) === bytes ? buffer : undefined
  }
  /** Marks pages as used; false if they are not in the file or used twice. */
  const take = (page: number, count: number, by: string): boolean => {
    if (page < 2 || page + count > lastPage + 1 || count < 1) {
      note(`${by} points outside the file`, page)
      return false
    }
    if (page + count > pagesInFile) {
      note(`the file ends before page ${page + count - 1}: ${fileBytes} of ${neededBytes} bytes`, page)
      return false
    }
    for (let one = page; one < page + count; one++) {
      if (used[one] === 1) {
        note(`${by} uses a page that is used elsewhere`, one)
        return false
      }
      used[one] = 1
    }
    counted.pages += count
    return true
  }

  function walkTree(table: string, tree: Tree, onLeaf: (key: Buffer, value: Buffer, flags: number) => void): void {
    const found: Counted = { branches: 0, leaves: 0, overflow: 0, entries: 0 }
    const before = problems.length
    if (tree.root !== NO_PAGE) walkPage(tree.root, 1)
    const expected = countsOf(tree)
    if (problems.length === before && JSON.stringify(expected) !== JSON.stringify(found))
      note(`table ${table || 'of tables'} has other counts than recorded: ${JSON.stringify({ expected, found })}`)
    counted.entries += found.entries

    function walkPage(page: number, depth: number): void {
      if (!take(page, 1, `table ${table || 'of tables'}`)) return
      const bytes = read(page, pageBytes)
      if (bytes === undefined) return note('the page cannot be read', page)
      const flags = bytes.readUInt16LE(18)
      const kind = flags & (BRANCH | LEAF | OVERFLOW | META)
      const isExpected = depth < tree.depth ? kind === BRANCH : kind === LEAF
      if (numberAt(bytes, 0) !== page || !isExpected || depth > MAX_DEPTH || numberAt(bytes, 8) > txn)
        return note('the page has a wrong header', page)
      const nodes = bytes.readUInt16LE(20) >> 1
      const upper = bytes.readUInt16LE(22)
      if (nodes === 0 || HEADER_BYTES + nodes * 2 > pageBytes || upper + HEADER_BYTES > pageBytes || upper < nodes * 2)
        return note('the page has wrong bounds', page)
      if (kind === BRANCH) found.branches += 1
      else found.leaves += 1
      let previous: Buffer | undefined
      for (let node = 0; node < nodes; node++) {
        const at = bytes.readUInt16LE(HEADER_BYTES + node * 2) + HEADER_BYTES
        if (at < HEADER_BYTES + upper || at + NODE_BYTES > pageBytes)
          return note('an entry lies outside its page', page)
        const low = bytes.readUInt32LE(at)
        const nodeFlags = bytes.readUInt16LE(at + 4)
        const keyEnd = at + NODE_BYTES + bytes.readUInt16LE(at + 6)
        if (keyEnd > pageBytes) return note('a key lies outside its page', page)
        const key = bytes.subarray(at + NODE_BYTES, keyEnd)
        // The first key of a branch is never compared.
        if (previous !== undefined && compareKeys(table, previous, key) >= 0 && !(kind === BRANCH && node === 1))
          return note('keys are out of order', page)
        previous = key
        if (kind === BRANCH) {
          walkPage(low + nodeFlags * 2 ** 32, depth + 1)
          continue
        }
        found.entries += 1
        const value = readValue(bytes, keyEnd, low, nodeFlags, page)
        if (value !== undefined) onLeaf(key, value, nodeFlags)
      }
    }

    /** The value of an entry; empty for a large one that no one reads. */
    function readValue(bytes: Buffer, at: number, length: number, flags: number, page: number): Buffer | undefined {
      if ((flags & ~(BIG | SUB)) !== 0) {
        note('an entry has unknown flags', page)
        return undefined
      }
      if ((flags & BIG) === 0) {
        if (at + length <= pageBytes) return bytes.subarray(at, at + length)
        note('a value lies outside its page', page)
        return undefined
      }
      if (at + 24 > pageBytes) {
        note('a value lies outside its page', page)
        return undefined
      }
      const first = numberAt(bytes, at)
      const count = Math.floor((HEADER_BYTES - 1 + length) / pageBytes) + 1
      if (!take(first, count, `a value of table ${table || 'of tables'}`)) return undefined
      found.overflow += count
      const large = read(first, onEntry === undefined && table !== FREE ? HEADER_BYTES : HEADER_BYTES + length)
      const isWhole =
        large !== undefined &&
        numberAt(large, 0) === first &&
        (large.readUInt16LE(18) & OVERFLOW) !== 0 &&
        large.readUInt32LE(20) === count
      if (isWhole) return large.subarray(HEADER_BYTES)
      note('a large value has a wrong header', first)
      return undefined
    }
  }

  const tables: { name: string; tree: Tree }[] = []
  walkTree(MAIN, meta.main, (key, value, flags) => {
    // LMDB-js ends names of tables with a zero.
    const name = key.toString('latin1').replace(/\0+$/, '')
    if ((flags & SUB) === 0) onEntry?.({ table: MAIN, key, value })
    else if (value.length === 48) tables.push({ name, tree: treeAt(value, 0) })
    else note(`the record of table ${name} has a wrong size`)
  })
  for (const { name, tree } of tables) walkTree(name, tree, (key, value) => onEntry?.({ table: name, key, value }))
  walkTree(FREE, meta.free, (_key, value) => checkFreePages(value, used, lastPage, note))
  return { problems, ...counted }
}

/** An entry of any page, also of one that is no longer used: `txn` is the transaction that wrote it. */
export type ScannedEntry = { key: Buffer; txn: number; value: () => Buffer | undefined }

const USUAL_PAGE_BYTES = 4096

/**
 * Finds entries without following the tree: its top is at the end of the file, so a shortened file has lost it. Deleted and
 * replaced entries are found too, and their large values may have been overwritten.
 */
export function scanLmdbFile(file: string, onEntry: (entry: ScannedEntry) => void): void {
  const fd = openSync(file, 'r')
  try {
    const fileBytes = fstatSync(fd).size
    const meta = readMeta(fd, fileBytes, () => {})
    const pageBytes = meta?.pageBytes ?? USUAL_PAGE_BYTES
    const newestTxn = meta?.txn ?? Number.POSITIVE_INFINITY
    const bytes = Buffer.allocUnsafe(pageBytes)
    for (let page = 2; (page + 1) * pageBytes <= fileBytes; page++) {
      readSync(fd, bytes, 0, pageBytes, page * pageBytes)
      const txn = numberAt(bytes, 8)
      if (numberAt(bytes, 0) !== page || bytes.readUInt16LE(18) !== LEAF || txn > newestTxn) continue
      for (const { at, length, flags, key } of nodesOf(bytes, pageBytes))
        onEntry({ key, txn, value: () => scannedValue(fd, bytes, at, length, flags, pageBytes) })
    }
  } finally {
    closeSync(fd)
  }
}

function* nodesOf(bytes: Buffer, pageBytes: number) {
  const nodes = Math.min(bytes.readUInt16LE(20) >> 1, (pageBytes - HEADER_BYTES) >> 1)
  for (let node = 0; node < nodes; node++) {
    const at = bytes.readUInt16LE(HEADER_BYTES + node * 2) + HEADER_BYTES
    if (at + NODE_BYTES > pageBytes) continue
    const keyEnd = at + NODE_BYTES + bytes.readUInt16LE(at + 6)
    if (keyEnd > pageBytes) continue
    const key = bytes.subarray(at + NODE_BYTES, keyEnd)
    yield { at: keyEnd, length: bytes.readUInt32LE(at), flags: bytes.readUInt16LE(at + 4), key }
  }
}

function scannedValue(
  fd: number,
  bytes: Buffer,
  at: number,
  length: number,
  flags: number,
  pageBytes: number,
): Buffer | undefined {
  if (flags === 0) return at + length <= pageBytes ? bytes.subarray(at, at + length) : undefined
  if (flags !== BIG || at + 24 > pageBytes || length > fstatSync(fd).size) return undefined
  const first = numberAt(bytes, at)
  const large = Buffer.allocUnsafe(HEADER_BYTES + length)
  if (readSync(fd, large, 0, large.length, first * pageBytes) < large.length) return undefined
  return numberAt(large, 0) === first && (large.readUInt16LE(18) & OVERFLOW) !== 0
    ? large.subarray(HEADER_BYTES)
    : undefined
}

const FREE = 'of free pages'

/** A page that is both free and used would be overwritten. A list has its length, then page numbers; 0 is a gap, negative a run. */
function checkFreePages(
  value: Buffer,
  used: Uint8Array,
  lastPage: number,
  note: (what: string, page?: number) => void,
) {
  for (let at = 8; at + 8 <= value.length; at += 8) {
    const id = value.readBigInt64LE(at)
    if (id <= 0n) continue
    const page = Number(id)
    if (page > lastPage) return note('the list of free pages points outside the file', page)
    if (used[page] === 1) return note('a used page is listed as free', page)
  }
}

/** Of the newest of both meta pages. */
function readMeta(fd: number, fileBytes: number, note: (what: string, page?: number) => void): Meta | undefined {
  const first = metaAt(fd, 0)
  if (first === undefined || typeof first === 'string') {
    note(first ?? `the file has only ${fileBytes} bytes`, 0)
    return undefined
  }
  const second = metaAt(fd, first.pageBytes)
  if (second === undefined || typeof second === 'string') {
    note(second ?? `the file has only ${fileBytes} bytes`, 1)
    return undefined
  }
  const newest = second.txn > first.txn ? second : first
  // A commit writes one of them in turn, so that they are one transaction apart.
  if (Math.abs(first.txn - second.txn) > 1 || second.pageBytes !== first.pageBytes)
    note(`the meta pages do not belong together: transactions ${first.txn} and ${second.txn}`, 1)
  return newest
}

function metaAt(fd: number, at: number): Meta | string | undefined {
  const bytes = Buffer.alloc(HEADER_BYTES + 136)
  if (readSync(fd, bytes, 0, bytes.length, at) < bytes.length) return undefined
  if ((bytes.readUInt16LE(18) & META) === 0 || bytes.readUInt32LE(HEADER_BYTES) !== MAGIC)
    return 'not an LMDB meta page'
  if ((bytes.readUInt32LE(HEADER_BYTES + 4) & 0xffff) !== VERSION) return 'unknown version of LMDB'
  const mapBytes = numberAt(bytes, HEADER_BYTES + 16)
  const pageBytes = bytes.readUInt32LE(HEADER_BYTES + 24)
  const free = treeAt(bytes, HEADER_BYTES + 24)
  const main = treeAt(bytes, HEADER_BYTES + 72)
  const lastPage = numberAt(bytes, HEADER_BYTES + 120)
  const txn = numberAt(bytes, HEADER_BYTES + 128)
  const isPlausible =
    pageBytes >= 512 && pageBytes <= 65536 && (pageBytes & (pageBytes - 1)) === 0 && mapBytes <= LARGEST_MAP_BYTES
  if (!isPlausible || (lastPage + 1) * pageBytes > mapBytes) return 'the meta page has impossible sizes'
  return { pageBytes, lastPage, txn, free, main, mapBytes }
}

function treeAt(bytes: Buffer, at: number): Tree {
  return {
    depth: bytes.readUInt16LE(at + 6),
    branches: numberAt(bytes, at + 8),
    leaves: numberAt(bytes, at + 16),
    overflow: numberAt(bytes, at + 24),
    entries: numberAt(bytes, at + 32),
    root: numberAt(bytes, at + 40),
  }
}

const countsOf = ({ branches, leaves, overflow, entries }: Tree): Counted => ({ branches, leaves, overflow, entries })

/** Exact up to 2^53; "no page" is 2^64 - 1, which rounds to 2^64. */
const numberAt = (bytes: Buffer, at: number): number => bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32

/** Keys of the table of free pages are numbers. */
function compareKeys(table: string, a: Buffer, b: Buffer): number {
  if (table === FREE && a.length === 8 && b.length === 8) return numberAt(a, 0) - numberAt(b, 0)
  return Buffer.compare(a, b)
}
