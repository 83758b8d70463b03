import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { flushServed, isEngineServed, serveEngine } from '../../../services/core/store/engine-socket.js'
import { appendToUp, enginePathOf, openLocalStore, socketPathOf } from '../../../services/core/store/local-store.js'
import { readMigrations } from '../../../services/core/store/migrations.js'
import { engineExpected } from '../../rig/store-engine.js'

/** Another process that keeps the engine of a directory open until killed. */
async function holdEngine(path: string): Promise<() => Promise<void>> {
  const script = `const { createChdbConnection } = require('chdb/connection')
    const session = createChdbConnection({ path: ${JSON.stringify(path)} })
    session.ping({}).then(() => console.log('open'))
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

describe.runIf(engineExpected)('the store of a data directory', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'dextape-local-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  it('opens the engine itself if no other process has, and keeps its rows', async () => {
    for (const expected of [readMigrations().length, 0]) {
      const store = await openLocalStore(dataDir)
      expect(await store.migrate()).toHaveLength(expected)
      await store.close()
    }
  })

  it('uses the socket of a running process, which only its owner can open', async () => {
    const first = await openLocalStore(dataDir)
    await first.migrate()
    const served = await serveEngine(enginePathOf(dataDir), socketPathOf(dataDir))
    expect(statSync(served.path).mode & 0o777).toBe(0o600)
    expect(await isEngineServed(served.path)).toBe(true)
    const second = await openLocalStore(dataDir)
    expect(await second.query('SELECT count() > 0 AS there FROM migrations')).toEqual([{ there: 1 }])
    await second.close()
    await served.close()
    expect(existsSync(served.path)).toBe(false)
    await first.close()
  })

  it('replaces the socket file a crash left behind', async () => {
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(socketPathOf(dataDir), '')
    expect(await isEngineServed(socketPathOf(dataDir))).toBe(false)
    const store = await openLocalStore(dataDir)
    const served = await serveEngine(enginePathOf(dataDir), socketPathOf(dataDir))
    expect(await isEngineServed(served.path)).toBe(true)
    await served.close()
    await store.close()
  })

  it('has the running process store what waits, for a reader that asks', async () => {
    expect(await flushServed(socketPathOf(dataDir))).toBe(false)
    const store = await openLocalStore(dataDir)
    let flushed = 0
    const flush = async () => {
      flushed += 1
    }
    const served = await serveEngine(enginePathOf(dataDir), socketPathOf(dataDir), { flush, append: async () => 0 })
    expect([await flushServed(served.path), flushed]).toEqual([true, 1])
    await served.close()
    await store.close()
  })

  it('has the running process append to its log, for a process that only reads it', async () => {
    const entries = [
      { key: 'eth', value: Buffer.from([0, 255, 128]), timestampMs: 5 },
      { key: 'ключ', value: Buffer.alloc(0), timestampMs: 6 },
    ]
    const append = appendToUp(dataDir)
    await expect(append('some.topic', entries)).rejects.toMatchObject({ code: 'log_write_failed', retry: true })
    const store = await openLocalStore(dataDir)
    const appended: unknown[] = []
    const served = await serveEngine(enginePathOf(dataDir), socketPathOf(dataDir), {
      flush: async () => {},
      async append(...given) {
        if (given[0] !== 'some.topic') throw new Error('the disk is full')
        appended.push(given)
        return 41
      },
    })
    expect(await append('some.topic', entries)).toBe(41)
    expect(appended).toEqual([['some.topic', entries]])
    await expect(append('other.topic', entries)).rejects.toThrow('the disk is full')
    await served.close()
    await store.close()
  })

  it('lets statements in the background have the CPU last', async () => {
    const store = await openLocalStore(dataDir)
    await store.migrate()
    const served = await serveEngine(enginePathOf(dataDir), socketPathOf(dataDir))
    const niceOf = async (isBackground: boolean) => {
      const other = await openLocalStore(dataDir, { isBackground })
      const [row] = await other.query<{ nice: number }>("SELECT getSetting('os_threads_nice_value_query') AS nice")
      await other.close()
      return Number(row?.nice)
    }
    expect([await niceOf(false), await niceOf(true)]).toEqual([0, 19])
    await served.close()
    await store.close()
  })

  it('has a socket path within the system’s limit, however deep the directory', () => {
    const deep = join(dataDir, 'x'.repeat(60), 'y'.repeat(60))
    expect(Buffer.byteLength(socketPathOf(deep))).toBeLessThan(100)
    expect(socketPathOf(deep)).not.toBe(socketPathOf(`${deep}z`))
  })

  it('reports which process has the directory open, and opens it once that process is killed', async () => {
    const path = enginePathOf(dataDir)
    const release = await holdEngine(path)
    await expect(openStore({ kind: 'embedded', path })).rejects.toMatchObject({
      name: 'ConfigError',
      code: 'store_locked',
      message: expect.stringMatching(/pid \d+/),
    })
    await release()
    const store = await openStore({ kind: 'embedded', path })
    await store.ping()
    await store.close()
  })

  it('rejects a second directory in the same process', async () => {
    const store = await openLocalStore(dataDir)
    await expect(openStore({ kind: 'embedded', path: join(dataDir, 'other') })).rejects.toMatchObject({
      code: 'store_engine_busy',
    })
    await store.close()
  })
})
