/**
 * V8's compiled code of bundled modules, kept beside them: most of a start was compiling the same code in every thread. One file
 * for each entry and each V8 with its flags. Whatever is wrong with it, the code is compiled again.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cachedDataVersionTag } from 'node:v8'
import { threadId } from 'node:worker_threads'

export type CodeCache = {
  /** The compiled code of a file as it is now. */
  read(name: string): Buffer | undefined
  /** Keeps the code of these files beside what is known of others; does nothing where the user may not. */
  write(codes: ReadonlyMap<string, Buffer>): void
  /** Frees its memory: nothing is read from it any more. */
  close(): void
}

type Part = { name: string; modifiedMs: number; bytes: number }
type KnownCode = { modifiedMs: number; code: Buffer }
type Index = { build: string; parts: Part[] }

/** Against a damaged file, not against a person: who can write here can change the modules themselves. */
const CHECKSUM = 'sha1'
const CHECKSUM_BYTES = 20
const INDEX_LENGTH_BYTES = 4
/** Of one entry: several versions of Node, and flags, take turns. */
const KEPT_FILES = 4

const NO_CACHE: CodeCache = { read: () => undefined, write: () => {}, close: () => {} }

/** `build` names the content of the modules in `folder`: V8 itself compares only the length of a source. */
export function openCodeCache(folder: string, entry: string, build: string): CodeCache {
  if (process.env.NODE_DISABLE_COMPILE_CACHE === '1') return NO_CACHE
  const caches = join(folder, 'compiled')
  const path = join(caches, `${entry}-${process.arch}-${cachedDataVersionTag()}`)
  const opened = statSync(folder)
  const known = readCache(path, build)
  const modifiedMs = (name: string) => statSync(join(folder, name)).mtimeMs

  /** A build replaces the folder under a running process. A file of another user would be in the way of the next build. */
  function mayWrite(): boolean {
    const { uid, ino } = statSync(folder)
    return ino === opened.ino && (process.getuid === undefined || process.getuid() === uid)
  }

  return {
    read(name) {
      const found = known.get(name)
      if (found === undefined || found.modifiedMs === modifiedMs(name)) return found?.code
      known.delete(name)
      return undefined
    },
    write(codes) {
      try {
        if (!mayWrite()) return
        const all = new Map([...known].map(([name, { code }]) => [name, code] as const).concat([...codes]))
        const parts = [...all].map(([name, code]) => ({ name, modifiedMs: modifiedMs(name), bytes: code.length }))
        mkdirSync(caches, { recursive: true })
        const fresh = `${path}.${process.pid}-${threadId}`
        writeFileSync(fresh, encode({ build, parts }, [...all.values()]))
        renameSync(fresh, path)
        removeOldest(caches, entry)
      } catch {
        // Read-only, or full: the next start compiles again.
      }
    },
    close: () => known.clear(),
  }
}

function encode(index: Index, codes: readonly Buffer[]): Buffer {
  const text = Buffer.from(JSON.stringify(index))
  const length = Buffer.alloc(INDEX_LENGTH_BYTES)
  length.writeUInt32LE(text.length)
  const content = Buffer.concat([length, text, ...codes])
  return Buffer.concat([checksumOf(content), content])
}

function readCache(path: string, build: string): Map<string, KnownCode> {
  try {
    const content = readFileSync(path)
    const checked = content.subarray(CHECKSUM_BYTES)
    if (!checksumOf(checked).equals(content.subarray(0, CHECKSUM_BYTES))) return new Map()
    const codesAt = INDEX_LENGTH_BYTES + checked.readUInt32LE(0)
    const index = JSON.parse(checked.toString('utf8', INDEX_LENGTH_BYTES, codesAt)) as Index
    if (index.build !== build) return new Map()
    let at = codesAt
    return new Map(
      index.parts.map(({ name, modifiedMs, bytes }) => {
        at += bytes
        return [name, { modifiedMs, code: checked.subarray(at - bytes, at) }]
      }),
    )
  } catch {
    return new Map()
  }
}

function checksumOf(content: Buffer): Buffer {
  return createHash(CHECKSUM).update(content).digest()
}

/** Also what a process left that ended while it wrote. */
function removeOldest(caches: string, entry: string): void {
  const modifiedMs = (name: string) => statSync(join(caches, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const files = readdirSync(caches).filter((name) => name.startsWith(`${entry}-${process.arch}-`))
  const newestFirst = files.sort((one, other) => modifiedMs(other) - modifiedMs(one))
  for (const name of newestFirst.slice(KEPT_FILES)) rmSync(join(caches, name), { force: true })
}
