/** The official client, connected to a server, to this process's engine, or to another process's engine by its socket. */
import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { ConfigError } from '../domain/errors.js'
import { type ClientTlsFiles, readClientTls } from '../runtime/client-tls.js'
import { type EngineSession, joinSession, openSession, runAlone } from './embedded-engine.js'
import { removeOldPipes, streamAlone } from './engine-stream.js'
import { BACKGROUND_WORK, type ReadSettings, STREAMED } from './port.js'
import { CLUSTER_SETTINGS, onCluster } from './replicated-tables.js'
import { removeOldRowsFiles, withRowsFile } from './rows-file.js'

/** `database`: another than the configured one. */
export type StoreTarget = { database?: string } & (
  | /** The URL has user, password and database (default `dextape`); `?rows=json`: inserts as text. */
  {
      kind: 'server'
      url: string
      tls?: ClientTlsFiles
      /** Of the server's `remote_servers`: tables are made on all its replicas. */
      cluster?: string
    }
  | { kind: 'embedded'; path: string }
  /** `enginePath`: the engine runs in this process, and takes rows from files. `isBackground`: others come first there. */
  | { kind: 'socket'; path: string; enginePath?: string; isBackground?: boolean }
)

export type Clients = {
  database: string
  /** Creates the database; connected to none. */
  bootstrap: ClickHouseClient
  /** Separate from `readers`: a session of the embedded engine runs one statement at a time; writes must not wait for queries. */
  write: ClickHouseClient
  /** Each runs one query at a time if `sticky`, otherwise many. */
  readers: readonly ClickHouseClient[]
  /** Runs `INSERT … FORMAT RowBinary` with these bytes. Null: the server's front passes text only. */
  insertBytes: ((statement: string, rows: Uint8Array) => Promise<void>) | null
  /** Runs a statement with these settings, none of which outlive it, and returns what the engine wrote. */
  read: (sql: string, settings: ReadSettings) => Promise<Uint8Array>
  /** The same as a stream, in the engine's format. */
  stream: (sql: string, format: string, settings: ReadSettings) => Promise<Readable>
  /** How a statement that defines tables is sent; as it is by default. */
  defining?: (sql: string) => string
  /** Settings of a request stay in an embedded session, so `USE` is sent only once per session. */
  sticky: boolean
  close: () => Promise<void>
}

const DATABASE = 'dextape'
/** The engine uses libuv's threads (4 by default): one is for writes. */
const EMBEDDED_READERS = 3
/** Above every query limit: the engine must time out first. */
const REQUEST_TIMEOUT_MS = 120_000
/** How long a server may take beyond a query's own limit. */
export const SILENCE_MS = 5_000
/** A server sends nothing before an answer is complete. */
const STREAM_TIMEOUT_MS = 86_400_000
const COMMON = { request_timeout: REQUEST_TIMEOUT_MS, application: 'dextape', log: { level: ClickHouseLogLevel.OFF } }

export async function connect(target: StoreTarget): Promise<Clients> {
  const { database } = target
  if (target.kind === 'embedded') return embedded(target.path, database)
  return target.kind === 'socket' ? overSocket(target, database) : overHttp(target, database)
}

type ServerTarget = Extract<StoreTarget, { kind: 'server' }>

function overHttp({ url: text, tls: tlsFiles, cluster }: ServerTarget, named: string | undefined): Clients {
  const url = serverUrl(text)
  const database = named ?? (decodeURIComponent(url.pathname.slice(1)) || DATABASE)
  url.pathname = '/'
  const isTextOnly = url.searchParams.get('rows') === 'json'
  url.searchParams.delete('rows')
  // Below the server's keep-alive (3 s in old versions, 10 s today): the server must not close a socket we are about to use.
  const keepAlive = { keep_alive: { enabled: true, idle_socket_ttl: 2_000 }, max_open_connections: 10 }
  const options = {
    ...{ ...COMMON, url, ...keepAlive, ...(tlsFiles === undefined ? {} : agentOf(tlsFiles)) },
    ...(cluster === undefined ? {} : { clickhouse_settings: CLUSTER_SETTINGS }),
  }
  const bootstrap = createClient({ ...options, database: 'default' })
  const main = createClient({ ...options, database })
  const streams = createClient({ ...options, database, request_timeout: STREAM_TIMEOUT_MS })
  // A server then keeps the answer in a file until it is complete: an error cannot look like its end.
  const defined = cluster === undefined ? {} : { defining: (sql: string) => onCluster(sql, cluster) }
  return { ...pair({ database, bootstrap, main, streams, isTextOnly, streamSettings: SERVER_STREAM }), ...defined }
}

/** The client's own `tls` requires an authority even where only a certificate is given. */
function agentOf(files: ClientTlsFiles): { http_agent: SecureAgent; set_basic_auth_header: true } {
  const agent = new SecureAgent({
    ...readClientTls(files),
    keepAlive: true,
    maxSockets: 10,
    timeout: REQUEST_TIMEOUT_MS,
  })
  return { http_agent: agent, set_basic_auth_header: true }
}

type SocketTarget = Extract<StoreTarget, { kind: 'socket' }>

function overSocket({ path: socketPath, enginePath, isBackground }: SocketTarget, database = DATABASE): Clients {
  const agent = new Agent({ socketPath, keepAlive: false, maxSockets: 10 } as ConstructorParameters<typeof Agent>[0])
  const options = {
    ...{ ...COMMON, url: 'http://localhost', http_agent: agent, set_basic_auth_header: false },
    ...(isBackground === true ? { clickhouse_settings: { log_comment: BACKGROUND_WORK } } : {}),
  }
  const bootstrap = createClient({ ...options, database: 'default' })
  const main = createClient({ ...options, database })
  const streams = createClient({ ...options, database, request_timeout: STREAM_TIMEOUT_MS })
  const clients = pair({ database, bootstrap, main, streams, streamSettings: { [STREAMED]: 1 } })
  if (enginePath === undefined) return clients
  const insertBytes = (statement: string, rows: Uint8Array) =>
    withRowsFile(enginePath, statement, rows, async (query) => void (await main.command({ query })))
  return { ...clients, insertBytes }
}

/** Complete or not at all; and a client that leaves ends its query. */
const SERVER_STREAM: ReadSettings = { wait_end_of_query: 1, cancel_http_readonly_queries_on_client_close: 1 }

type Pair = {
  database: string
  bootstrap: ClickHouseClient
  main: ClickHouseClient
  streams: ClickHouseClient
  streamSettings: ReadSettings
  isTextOnly?: boolean
}

function pair({ database, bootstrap, main, streams, streamSettings, isTextOnly = false }: Pair): Clients {
  const close = async () => void (await Promise.all([bootstrap, main, streams].map((client) => client.close())))
  const insertBytes = async (query: string, rows: Uint8Array) => {
    const { stream } = await main.exec({ query, values: Readable.from([rows]) })
    await buffer(stream)
  }
  const read = async (query: string, { max_execution_time: seconds = 0, ...settings }: ReadSettings) => {
    // A server that hangs must not keep the reader waiting.
    const limit = Number(seconds) > 0 ? { abort_signal: AbortSignal.timeout(Number(seconds) * 1000 + SILENCE_MS) } : {}
    const { stream } = await main.exec({
      ...{ query, ...limit },
      clickhouse_settings: { wait_end_of_query: 1, max_execution_time: Number(seconds), ...settings },
    })
    return buffer(stream)
  }
  const stream = async (sql: string, format: string, settings: ReadSettings) => {
    const query = `${sql}\nFORMAT ${format}`
    const answer = await streams.exec({ query, clickhouse_settings: { ...settings, ...streamSettings } })
    return answer.stream
  }
  const clients = { database, bootstrap, write: main, readers: [main], read, stream, sticky: false, close }
  return { ...clients, insertBytes: isTextOnly ? null : insertBytes }
}

/** By path: how many stores of this process have the engine open. */
const openStores = new Map<string, number>()

async function embedded(path: string, database = DATABASE): Promise<Clients> {
  const enginePath = resolve(path)
  const clientOf = (session: EngineSession) => createClient({ ...COMMON, connection: asConnection(session) })
  const write = clientOf(await openSession(path))
  const opened = openStores.get(enginePath) ?? 0
  openStores.set(enginePath, opened + 1)
  // Another store of this process may be using its own.
  if (opened === 0) {
    removeOldRowsFiles(enginePath)
    removeOldPipes(enginePath)
  }
  const join = async () => clientOf(await joinSession(path))
  const readers = await Promise.all(Array.from({ length: EMBEDDED_READERS }, join))
  const close = async () => {
    for (const client of [...readers, write]) await client.close()
    openStores.set(enginePath, (openStores.get(enginePath) ?? 1) - 1)
  }
  const insertBytes = (statement: string, rows: Uint8Array) =>
    withRowsFile(enginePath, statement, rows, async (query) => void (await write.command({ query })))
  const asEngineError = (error: unknown) => {
    throw engineError(error)
  }
  const read = (sql: string, settings: ReadSettings) =>
    runAlone(enginePath, { sql, database, settings: textsOf(settings) }).catch(asEngineError)
  const stream = (sql: string, format: string, settings: ReadSettings) => {
    const statement = { sql, format, database, settings: textsOf(settings) }
    return streamAlone(enginePath, statement, () => {}).catch(asEngineError)
  }
  return { database, bootstrap: write, write, readers, insertBytes, read, stream, sticky: true, close }
}

function textsOf(settings: ReadSettings): (readonly [string, string])[] {
  return Object.entries(settings).map(([name, value]) => [name, String(value)] as const)
}

type InjectedConnection = NonNullable<NonNullable<Parameters<typeof createClient>[0]>['connection']>

/** The engine is typed against its own copy of the client's types: same shape, different nominal type. */
function asConnection(session: EngineSession): InjectedConnection {
  return session as unknown as InjectedConnection
}

/** As the client makes it of a server's answer: with the engine's code. */
function engineError(error: unknown): unknown {
  const text = error instanceof Error ? error.message : String(error)
  const code = /Code: (\d+)/.exec(text)?.[1]
  return code === undefined ? error : Object.assign(new Error(text), { code, type: /\((\w+)\)\s*$/.exec(text)?.[1] })
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new ConfigError({
      code: 'store_url',
      what: 'CLICKHOUSE_URL is not the URL of a ClickHouse HTTP interface',
      expected: 'http(s)://user:password@host:8123/database',
      fix: 'Correct it, or unset it to use the embedded store',
    })
  return url
}
