/** A serving node on real parts: embedded log, embedded store, real sockets on free ports. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, vi } from 'vitest'
import { BUILT_IN_CHAINS } from '../../services/core/config/built-in-chains.js'
import { BUILT_IN_CONTRACTS } from '../../services/core/config/evm-source.js'
import type { BlockUpdate } from '../../services/core/domain/records.js'
import { hashKey, type KeyRecord, type KeyStore } from '../../services/core/keys/key-store.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { splitUpdate } from '../../services/core/log/parts.js'
import { updatesTopic } from '../../services/core/log/port.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import type { Store } from '../../services/core/store/port.js'
import { replayDatabase, TABLES, type TableName } from '../../services/core/store/tables.js'
import { createServe } from '../../services/serve/main.js'
import type { ServeConfig, ServeDeps } from '../../services/serve/serve-deps.js'
import { copyMigratedStore } from '../rig/migrated-store.js'
import { engineExpected } from '../rig/store-engine.js'

export const KEY = 'dx_test_key'

export type Rig = Awaited<ReturnType<typeof startRig>>

export function keyRecord(given: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: 'k1',
    hash: '',
    name: 'test',
    plan: 'unlimited',
    ratePerS: null,
    quotaCu: null,
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
    ...given,
  }
}

/** Credit usage per key, with the interface of the key store. */
export function spentInMemory(): Pick<KeyStore, 'spentCu' | 'addSpentCu'> {
  const spent = new Map<string, number>()
  return {
    spentCu: (keyId, month) => spent.get(`${month} ${keyId}`) ?? 0,
    async addSpentCu(more) {
      for (const { keyId, month, cu } of more) {
        spent.set(`${month} ${keyId}`, (spent.get(`${month} ${keyId}`) ?? 0) + cu)
      }
    },
  }
}

export async function openTestStore(directory: string): Promise<Store> {
  copyMigratedStore(join(directory, 'store'))
  const url = process.env.CLICKHOUSE_URL ?? ''
  const database = `serve_${process.pid}_${Date.now()}`
  const store = await openStore(
    engineExpected
      ? { kind: 'embedded', path: join(directory, 'store') }
      : { kind: 'server', url: new URL(database, url).href },
  )
  await store.migrate()
  return store
}

/** The store beside it that has the rows of a chain's replay. */
export function openTestStoreBeside(directory: string, store: Store, chain: string): Promise<Store> {
  const database = replayDatabase(store.database, chain)
  return openStore(
    engineExpected
      ? { kind: 'embedded', path: join(directory, 'store'), database }
      : { kind: 'server', url: process.env.CLICKHOUSE_URL ?? '', database },
  )
}

/** A store of a test file's own: opened before its tests, removed after them. */
export function storeOfFile(name: string): () => Store {
  const directory = mkdtempSync(join(tmpdir(), `dextape-${name}-`))
  let store: Store
  beforeAll(async () => {
    store = await openTestStore(directory)
  }, 60_000)
  afterAll(async () => {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return () => store
}

export async function startRig(
  given: Partial<ServeDeps> = {},
  maxValueBytes = 1_000_000,
  settings: Partial<ServeConfig> = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'dextape-serve-'))
  const store = given.store ?? (await openTestStore(directory))
  const { log, registry } = openEmbedded({ path: join(directory, 'log'), maxValueBytes })
  const codec = createCodec(registry)
  const keys = new Map<string, KeyRecord>([[hashKey(KEY), keyRecord()]])
  const spent = spentInMemory()

  async function append(...updates: BlockUpdate[]): Promise<void> {
    for (const update of updates) {
      const topic = updatesTopic(update.chain)
      const values = splitUpdate(update, (part) => codec.encodeUpdate(topic, part), maxValueBytes)
      const entries = values.map((value) => ({ key: update.chain, value, timestampMs: update.time * 1000 }))
      await log.append(topic, entries)
    }
  }

  const config: ServeConfig = {
    host: '127.0.0.1',
    httpPort: 0,
    wsPort: 0,
    pushServer: process.env.DEXTAPE_PUSH_SERVER === 'ws' ? 'ws' : 'auto',
    apiKey: { kind: 'none' },
    envelope: 'spec',
    chains: new Map(BUILT_IN_CHAINS.map((facts) => [facts.chain, facts])),
    contracts: BUILT_IN_CONTRACTS,
    ...settings,
  }
  const open = (more: Partial<ServeDeps> = {}) =>
    createServe({
      log,
      codec,
      store,
      keys: {
        lookup: (hash) => keys.get(hash),
        list: () => [...keys].map(([hash, record]) => ({ ...record, hash })),
        ...spent,
      },
      config,
      logger: silentLogger,
      metrics: createMetrics({ processMetrics: false }),
      pollMs: 20,
      ...given,
      ...more,
    })
  let serve = open()
  let ports = { httpPort: 0, wsPort: 0 }

  /** Appends the updates and waits until they are served. */
  async function feed(...updates: BlockUpdate[]): Promise<void> {
    await append(...updates)
    const last = updates.at(-1)
    await vi.waitFor(async () => {
      const { chains } = await serve.status()
      const state = chains.find(({ chain }) => chain === last?.chain)
      if (state?.seq !== last?.seq || state?.epoch !== last?.epoch) throw new Error(`served: ${JSON.stringify(state)}`)
    }, 5000)
  }

  const get = (path: string, headers: Record<string, string> = { 'x-api-key': KEY }) =>
    fetch(`http://127.0.0.1:${ports.httpPort}${path}`, { headers })
  const post = (path: string, body: unknown, headers: Record<string, string> = { 'x-api-key': KEY }) =>
    fetch(`http://127.0.0.1:${ports.httpPort}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  const send = (method: string, path: string) =>
    fetch(`http://127.0.0.1:${ports.httpPort}${path}`, { method, headers: { 'x-api-key': KEY } })

  return {
    log,
    codec,
    store,
    keys,
    config,
    /** Opens another node on the same log and store; the caller starts and stops it. */
    open,
    append,
    feed,
    get,
    post,
    send,
    get ports() {
      return ports
    },
    get wsUrl() {
      return `ws://127.0.0.1:${ports.wsPort}`
    },
    get serve() {
      return serve
    },
    start: async () => {
      ports = await serve.start()
    },
    restart: async () => {
      await serve.stop()
      serve = open()
      ports = await serve.start()
    },
    stop: async () => {
      await serve.stop()
      await log.close()
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A row as text; omitted columns take their default. */
export function row(table: TableName, values: Record<string, unknown>): string {
  return `${JSON.stringify(TABLES[table].map((column) => values[column] ?? null))}\n`
}
