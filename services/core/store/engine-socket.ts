/**
 * ClickHouse's HTTP interface on a Unix socket in front of this process's engine, for the other threads and for commands that use it
 * while it runs. Each request has its own session.
 */
import { once } from 'node:events'
import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DextapeError } from '../domain/errors.js'
import { createGate } from '../runtime/gate.js'
import { type EngineStatement, runAlone } from './embedded-engine.js'
import { streamAlone } from './engine-stream.js'
import { BACKGROUND_WORK, STREAMED, USER_QUERY } from './port.js'
import { withRowsFile } from './rows-file.js'

export type EngineSocket = { path: string; close: () => Promise<void> }

/** The engine uses libuv's threads (8 in `dextape`): one is for inserts. */
const QUERIES_AT_ONCE = 3
/** What users asked and background work must wait for each other, not the program's own statements for them. */
const LATER_AT_ONCE = 2
/** Streamed answers hold a thread for long: with the others, one is left for files. */
const STREAMS_AT_ONCE = 1
/** By `log_comment`. Where the process may set it, whatever else the machine does comes first. */
const LATER: Readonly<Record<string, EngineStatement['settings']>> = {
  [USER_QUERY]: [['os_threads_nice_value_query', '10']],
  [BACKGROUND_WORK]: [
    ['os_threads_nice_value_query', '19'],
    ['os_threads_nice_value_materialized_view', '19'],
    ['max_threads', '1'],
  ],
}
const laterSettings = (asked: URLSearchParams) => LATER[asked.get('log_comment') ?? '']
const PING_TIMEOUT_MS = 2_000
const FLUSH_TIMEOUT_MS = 30_000
const APPEND_TIMEOUT_MS = 30_000
/** The engine's own code for it: such an insert is tried again. */
const NOT_ENOUGH_SPACE = '243'
const FLUSH_PATH = '/flush'
const APPEND_PATH = '/append'
/** Parameters of a query are in its address, lists of hundreds of pairs among them. */
const MAX_HEADER_BYTES = 1 << 20

/** URL parameters that are not engine settings, or are settings only of a server's HTTP layer. */
const NO_SETTING = new Set([
  ...['query', 'database', 'user', 'password', 'query_id', 'session_id', 'session_timeout', 'session_check', 'role'],
  ...['default_format', 'compress', 'decompress', 'wait_end_of_query', 'enable_http_compression'],
  ...[STREAMED, 'send_progress_in_http_headers', 'http_headers_progress_interval_ms', 'http_response_buffer_size'],
])

/** An entry for the log of the process with the engine. */
export type AppendedEntry = { key: string; value: Uint8Array; timestampMs: number }

/** What the process with the engine does for others that ask for it. */
export type EngineOwner = {
  /** Stores rows that wait for their batch. */
  flush(): Promise<void>
  /** Appends to the log: a process of low priority would have its writer lock for long. */
  append(topic: string, entries: readonly AppendedEntry[]): Promise<number>
}

const NOTHING_ELSE: EngineOwner = {
  flush: async () => {},
  append: async () => {
    throw new Error('this process has no log')
  },
}

/** The caller has the engine of `enginePath` open, so an existing socket file is left over from a crash. */
export async function serveEngine(
  enginePath: string,
  socketPath: string,
  owner: EngineOwner = NOTHING_ELSE,
): Promise<EngineSocket> {
  const queries = createGate(QUERIES_AT_ONCE)
  const later = createGate(LATER_AT_ONCE)
  const streams = createGate(STREAMS_AT_ONCE)
  const inserts = createGate(1)
  const running = new Set<Promise<void>>()
  /** Closing does not wait for them. */
  const streaming = new Set<ServerResponse>()
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (incoming, response) => {
    const work = answer(incoming, response).catch(() => void response.destroy())
    running.add(work)
    void work.finally(() => running.delete(work))
  })
  server.requestTimeout = 0

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://engine')
    const body = await bodyOf(incoming)
    if (url.pathname === '/ping') return reply(response, 200, Buffer.from('Ok.\n'))
    if (url.pathname === FLUSH_PATH) {
      await owner.flush()
      return reply(response, 200, Buffer.from('Ok.\n'))
    }
    if (url.pathname === APPEND_PATH) return append(url.searchParams.get('topic') ?? '', body, response)
    const query = url.searchParams.get('query') ?? ''
    const isBinary = /FORMAT RowBinary\s*$/.test(query)
    const sql = isBinary ? query : [query, body.toString('utf8')].filter((part) => part !== '').join('\n')
    if (url.searchParams.has(STREAMED)) {
      streaming.add(response)
      response.once('close', () => streaming.delete(response))
      return streams(() => sendStream(enginePath, statementOf(url.searchParams, sql), response))
    }
    const isLater = laterSettings(url.searchParams) !== undefined
    const gate = isLater ? later : /^\s*insert\s/i.test(sql) ? inserts : queries
    const runIt = (statement: string) => run(enginePath, url.searchParams, statement)
    try {
      const bytes = await gate(() => (isBinary ? withRowsFile(enginePath, sql, body, runIt) : runIt(sql)))
      reply(response, 200, bytes)
    } catch (error) {
      replyFault(response, error)
    }
  }

  async function append(topic: string, body: Buffer, response: ServerResponse): Promise<void> {
    try {
      reply(response, 200, Buffer.from(String(await owner.append(topic, readEntries(body)))))
    } catch (error) {
      replyFault(response, error)
    }
  }

  await listenPrivately(server, socketPath)
  return {
    path: socketPath,
    close: async () => {
      const closed = new Promise<void>((done) => server.close(() => done()))
      for (const response of streaming) response.destroy()
      await Promise.allSettled(running)
      server.closeAllConnections()
      await closed
      rmSync(socketPath, { force: true })
    },
  }
}

/** Whether a process answers behind this socket; a file alone may be left over from a crash. */
export const isEngineServed = (socketPath: string): Promise<boolean> => asks(socketPath, '/ping', PING_TIMEOUT_MS)

/** Has the process behind this socket store the rows that wait for their batch; false if there is none. */
export const flushServed = (socketPath: string): Promise<boolean> => asks(socketPath, FLUSH_PATH, FLUSH_TIMEOUT_MS)

/** Has the process behind this socket append to its log; returns the first entry's offset. */
export async function appendServed(
  socketPath: string,
  topic: string,
  entries: readonly AppendedEntry[],
): Promise<number> {
  const path = `${APPEND_PATH}?${new URLSearchParams({ topic })}`
  const asked = request({ socketPath, path, method: 'POST', timeout: APPEND_TIMEOUT_MS, agent: false })
  asked.on('timeout', () => asked.destroy(new Error(`no answer within ${APPEND_TIMEOUT_MS} ms`)))
  asked.end(writeEntries(entries))
  try {
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    const text = (await bodyOf(answer)).toString('utf8')
    if (answer.statusCode !== 200) throw new Error(text)
    return Number(text)
  } catch (cause) {
    throw new DextapeError({
      ...{ code: 'log_write_failed', what: 'Cannot write to the log of the running Dextape', retry: true },
      where: { topic, file: socketPath },
      got: cause instanceof Error ? cause.message : String(cause),
      fix: 'Check that `up` still runs.',
      cause,
    })
  }
}

type SentEntry = Omit<AppendedEntry, 'value'> & { value: string }

function writeEntries(entries: readonly AppendedEntry[]): string {
  const sent = entries.map(({ key, value, timestampMs }): SentEntry => {
    return { key, timestampMs, value: Buffer.from(value).toString('base64') }
  })
  return JSON.stringify(sent)
}

function readEntries(body: Buffer): AppendedEntry[] {
  const sent = JSON.parse(body.toString('utf8')) as SentEntry[]
  return sent.map(({ key, value, timestampMs }) => ({ key, timestampMs, value: Buffer.from(value, 'base64') }))
}

function asks(socketPath: string, path: string, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ socketPath, path, timeout, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(false))
    asked.end()
  })
}

function run(enginePath: string, asked: URLSearchParams, sql: string): Promise<Uint8Array> {
  return runAlone(enginePath, statementOf(asked, sql))
}

/** Resolves when the engine is free again. A failure after the first byte breaks the connection: it cannot look like the end. */
async function sendStream(enginePath: string, statement: EngineStatement, response: ServerResponse): Promise<void> {
  const [, sql = '', format = ''] = /^(.*)\nFORMAT (\w+)\s*$/s.exec(statement.sql) ?? []
  let free = () => {}
  const freed = new Promise<void>((resolve) => {
    free = resolve
  })
  if (response.destroyed) return
  try {
    const body = await streamAlone(enginePath, { ...statement, sql, format }, free)
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' })
    await pipeline(body, response).catch(() => {})
    await freed
  } catch (error) {
    replyFault(response, error)
  }
}

function statementOf(asked: URLSearchParams, sql: string): EngineStatement {
  const given = [...asked].filter(([name]) => !NO_SETTING.has(name) && /^\w+$/.test(name))
  const settings = [...(laterSettings(asked) ?? []), ...given]
  const database = asked.get('database') ?? 'default'
  const format = asked.get('default_format')
  return { sql, database, settings, ...(format === null ? {} : { format }) }
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function replyFault(response: ServerResponse, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error)
  const isDiskFull = (error as NodeJS.ErrnoException).code === 'ENOSPC'
  const code = isDiskFull ? NOT_ENOUGH_SPACE : (/Code: (\d+)/.exec(text)?.[1] ?? '1000')
  reply(response, 500, Buffer.from(text), { 'X-ClickHouse-Exception-Code': code })
}

function reply(response: ServerResponse, status: number, body: Uint8Array, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=UTF-8',
    'Content-Length': body.byteLength,
    'X-ClickHouse-Summary': '{"read_rows":"0","written_rows":"0"}',
    ...headers,
  })
  response.end(body)
}

/**
 * Whoever can open the socket can do anything with the store. It is created in a private directory and moved into place with its
 * mode set. (A umask would also affect files that the engine's threads create meanwhile.)
 */
async function listenPrivately(server: ReturnType<typeof createServer>, socketPath: string): Promise<void> {
  const privateFolder = mkdtempSync(join(dirname(socketPath), '.s'))
  try {
    const created = join(privateFolder, 's')
    server.listen(created)
    await once(server, 'listening')
    chmodSync(created, 0o600)
    renameSync(created, socketPath)
  } finally {
    rmSync(privateFolder, { recursive: true, force: true })
  }
}
