/** The bytes of a recording as JSON lines. The first bytes decide whether it is gzip or Avro, not the file's name. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { createGunzip } from 'node:zlib'
import { ConfigError, DextapeError } from '../../../core/domain/errors.js'
import { AVRO_FILE_MAGIC } from '../../../core/log/avro-file.js'
import { avroLines } from './avro-lines.js'

const CHUNK_BYTES = 128 * 1024
export type Chunks = AsyncIterable<Buffer>

/** From an offset in the unpacked bytes. `onRead`: how far the file itself is read. */
export async function* fileBytes(
  path: string,
  from: number,
  onRead: (fileBytes: number) => void = () => {},
): AsyncGenerator<Buffer> {
  const head = await firstBytes(path)
  if (!isGzip(head) && !isAvroFile(head)) {
    yield* readFrom(path, from, onRead)
    return
  }
  let skip = from
  const file = readFrom(path, 0, onRead)
  for await (const chunk of isGzip(head) ? gunzip(file, path) : avroLines(file, basename(path))) {
    if (skip < chunk.length) yield skip > 0 ? chunk.subarray(skip) : chunk
    skip = Math.max(0, skip - chunk.length)
  }
}

/** A stream that cannot be read twice, such as standard input. */
export async function* streamBytes(input: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const chunks = input[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < HEAD_BYTES) {
    const next = await chunks.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  async function* all(): AsyncGenerator<Buffer> {
    if (head.length > 0) yield head
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
  }
  if (isGzip(head)) yield* gunzip(all(), name)
  else yield* isAvroFile(head) ? avroLines(all(), name) : all()
}

const HEAD_BYTES = AVRO_FILE_MAGIC.length
const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b
const isAvroFile = (head: Buffer): boolean => head.subarray(0, HEAD_BYTES).equals(AVRO_FILE_MAGIC)

async function firstBytes(path: string): Promise<Buffer> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new ConfigError({
      code: 'recording_unreadable',
      what: `The recording cannot be read: ${(cause as Error).message}`,
      fix: 'Pass an existing file: JSON lines, plain or gzip, or Avro.',
      cause,
    })
  }
}

async function* readFrom(path: string, start: number, onRead: (fileBytes: number) => void): AsyncGenerator<Buffer> {
  let at = start
  try {
    for await (const chunk of createReadStream(path, { start, highWaterMark: CHUNK_BYTES })) {
      at += (chunk as Buffer).length
      onRead(at)
      yield chunk as Buffer
    }
  } catch (cause) {
    throw new DextapeError({
      code: 'recording_unreadable',
      what: `Reading the recording failed: ${(cause as Error).message}`,
      where: { file: path },
      cause,
    })
  }
}

/**
 * Unpacks chunk by chunk instead of through a pipe: a pipe that hits damaged data drops what it unpacked before, which is intact.
 */
async function* gunzip(packed: Chunks, name: string): AsyncGenerator<Buffer> {
  const unzip = createGunzip()
  let ready: Buffer[] = []
  let failure: Error | undefined
  const ended = new Promise<void>((resolve) => {
    unzip.once('end', resolve)
    unzip.once('error', (error) => {
      failure = error
      resolve()
    })
  })
  unzip.on('data', (chunk: Buffer) => ready.push(chunk))
  const take = (): Buffer[] => {
    const taken = ready
    ready = []
    return taken
  }
  try {
    for await (const chunk of packed) {
      await new Promise<void>((resolve) => unzip.write(chunk, () => resolve()))
      yield* take()
      if (failure !== undefined) break
    }
    if (failure === undefined) {
      unzip.end()
      await ended
    }
    yield* take()
  } finally {
    unzip.destroy()
  }
  if (failure !== undefined) throw damaged(name, failure)
}

function damaged(name: string, cause: Error): DextapeError {
  const truncated = (cause as NodeJS.ErrnoException).code === 'Z_BUF_ERROR'
  return new DextapeError({
    code: truncated ? 'gzip_truncated' : 'gzip_damaged',
    what: truncated
      ? 'The recording ends in the middle of its gzip data'
      : `The recording's gzip data is damaged (${cause.message})`,
    where: { file: name },
    fix: 'The intact part is published. Get the file again and restart: it resumes from there.',
    cause,
  })
}
