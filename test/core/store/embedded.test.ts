import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { engineExpected } from '../../rig/store-engine.js'
import { storeContract } from './contract.js'

if (engineExpected)
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
else describe('store: embedded', () => it.skip('has no native package for this CPU; CLICKHOUSE_URL is used instead'))
