import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { engineExpected } from '../../rig/store-engine.js'
import { storeContract } from './contract.js'

if (engineExpected) {
  it('starts the engine with settings for a small machine', async () => {
    const path = mkdtempSync(join(tmpdir(), 'dextape-store-'))
    const store = await openStore({ kind: 'embedded', path })
    await store.migrate()
    const names = ['mark_cache_size', 'max_thread_pool_free_size']
    const sql = 'SELECT name, value FROM system.server_settings WHERE name IN {names:Array(String)} ORDER BY name'
    expect(await store.query(sql, { names })).toEqual([
      { name: 'mark_cache_size', value: String(16 * 2 ** 20) },
      { name: 'max_thread_pool_free_size', value: '4' },
    ])
    await store.close()
    rmSync(path, { recursive: true, force: true })
  })

  storeContract('embedded', async () => {
    const path = mkdtempSync(join(tmpdir(), 'dextape-store-'))
    const store = await openStore({ kind: 'embedded', path })
    return {
      store,
      close: async () => {
        await store.close()
        rmSync(path, { recursive: true, force: true })
      },
    }
  })
} else describe('store: embedded', () => it.skip('has no native package for this CPU; CLICKHOUSE_URL is used instead'))
