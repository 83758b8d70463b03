/** Writes what a server sends, beside its final name until it is complete. */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'

/** Called with the size of each chunk. */
export type OnBytes = (bytes: number) => void

const unfinished = (path: string) => `${path}.unfinished-${process.pid}`

/** A file that exists is replaced, at once and whole. */
export async function writeWhole(path: string, source: Readable, onBytes: OnBytes): Promise<void> {
  const beside = unfinished(path)
  try {
    await writeTo(beside, source, onBytes)
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {})
    throw error
  }
}

/** `fill` writes into a folder that gets its name once it is complete. */
export async function writeFolder<Result>(path: string, fill: (folder: string) => Promise<Result>): Promise<Result> {
  await refuseFilled(path)
  const beside = unfinished(path)
  try {
    await mkdir(beside, { recursive: true }).catch((cause) => {
      throw unwritable(path, cause)
    })
    const result = await fill(beside)
    await rename(beside, path)
    return result
  } catch (error) {
    await rm(beside, { recursive: true, force: true }).catch(() => {})
    throw error
  }
}

export async function writeTo(path: string, source: Readable, onBytes: OnBytes): Promise<void> {
  const file = await openNew(path).catch((cause) => {
    throw unwritable(path, cause)
  })
  try {
    // Not a stream on its descriptor: after a failure it would close that as well.
    const write = async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await file.appendFile(chunk)
    }
    await pipeline(source, counter(onBytes), write).catch((cause) => {
      throw asFault(cause, path)
    })
    // Before the rename: otherwise a power cut could leave an empty file under the final name.
    await file.sync()
  } finally {
    await file.close()
  }
}

async function openNew(path: string) {
  await mkdir(dirname(path), { recursive: true })
  return open(path, 'w')
}

export function counter(onBytes: OnBytes): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onBytes(chunk.length)
      done(null, chunk)
    },
  })
}

async function refuseFilled(path: string): Promise<void> {
  const held = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw unwritable(path, error)
  })
  if (held.length === 0) return
  throw new ConfigError({
    code: 'out_exists',
    what: `The folder ${path} is not empty`,
    fix: 'Name another folder with --out, or remove this one: two exports in one folder would read as one table.',
  })
}

function unwritable(path: string, cause: unknown): ConfigError {
  return new ConfigError({
    code: 'out_unwritable',
    what: `Cannot write ${path}: ${(cause as Error).message}`,
    fix: 'Name another place with --out.',
    cause,
  })
}

export function asFault(cause: unknown, path: string): unknown {
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EFBIG' || code === 'EDQUOT') return unwritable(path, cause)
  if (code !== 'ECONNRESET') return cause
  return new DextapeError({
    code: 'export_broken',
    what: 'The server ended the export before it was complete',
    fix: 'See the log of the server, then run the export again.',
    cause,
  })
}
