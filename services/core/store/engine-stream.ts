/**
 * Answers of any size out of the engine of this process. The engine returns an answer whole, or in chunks that are files of their
 * own. Only INTO OUTFILE writes one file as it goes: here into a named pipe, so that a slow reader slows the query down.
 */
import { execFile } from 'node:child_process'
import { constants, mkdirSync, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { threadId } from 'node:worker_threads'
import { type EngineStatement, runAlone } from './embedded-engine.js'

const run = promisify(execFile)
let next = 0
/** A pipe gives a few pages at a time, and each chunk costs three sockets on its way. */
const CHUNK_BYTES = 262_144

const folderOf = (enginePath: string): string => join(enginePath, 'streams')

/** Pipes of a process that crashed within an answer. The caller is the only one that has the engine open. */
export function removeOldPipes(enginePath: string): void {
  rmSync(folderOf(enginePath), { recursive: true, force: true })
}

/** The format is the engine's name of it; the statement itself must not name one. */
export type StreamedStatement = EngineStatement & { format: string }

/**
 * The answer as the engine writes it. Rejects if the query fails before its first byte; a later failure is an error of the
 * stream. Destroying the stream ends the query. `onEnd`: called once the engine has ended the query.
 */
export async function streamAlone(
  enginePath: string,
  { sql, format, ...statement }: StreamedStatement,
  onEnd: () => void,
): Promise<Readable> {
  mkdirSync(folderOf(enginePath), { recursive: true, mode: 0o700 })
  const path = join(folderOf(enginePath), `${process.pid}-${threadId}-${next++}`)
  await run('mkfifo', ['-m', '600', path])
  // Not blocking: opening would otherwise wait for the engine, which may never come.
  const pipe = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true })
  let hasEnded = false
  const query = runAlone(enginePath, {
    ...statement,
    // The engine refuses an existing file without APPEND.
    sql: `${sql}\nINTO OUTFILE ${quoted(path)} APPEND FORMAT ${format}`,
  }).finally(() => {
    hasEnded = true
    rmSync(path, { force: true })
    onEnd()
  })
  // The engine does not notice that nobody reads any more.
  pipe.once('close', () => {
    if (!hasEnded) void endQuery(enginePath, path)
  })
  pipe.on('error', () => {})
  query.catch((error: Error) => pipe.destroy(error))
  const begun = new Promise<void>((resolve) => pipe.once('readable', resolve))
  await Promise.race([begun, query.then(() => begun)])
  const body = Readable.from(untilDone(pipe, query), { objectMode: false })
  // A generator that was never started does not close its source.
  return body.once('close', () => pipe.destroy())
}

/** The pipe also ends when the engine fails: only the query says which. */
async function* untilDone(pipe: Socket, query: Promise<unknown>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = []
  let bytes = 0
  for await (const chunk of pipe) {
    gathered.push(chunk as Buffer)
    bytes += (chunk as Buffer).length
    if (bytes < CHUNK_BYTES) continue
    yield Buffer.concat(gathered, bytes)
    gathered = []
    bytes = 0
  }
  await query
  if (bytes > 0) yield Buffer.concat(gathered, bytes)
}

async function endQuery(enginePath: string, path: string): Promise<void> {
  const sql = `KILL QUERY WHERE position(query, ${quoted(path)}) > 0 AND query NOT LIKE 'KILL%' ASYNC`
  await runAlone(enginePath, { sql, database: 'default', settings: [] }).catch(() => {})
}

function quoted(text: string): string {
  return `'${text.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`
}
