import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { openSession } from '../../../services/core/store/embedded-engine.js'
import { serveEngine } from '../../../services/core/store/engine-socket.js'
import { engineExpected } from '../../rig/store-engine.js'
import { remoteStoreContract } from './contract.js'

if (engineExpected)
  remoteStoreContract('socket', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'dextape-socket-'))
    const path = join(directory, 'engine.sock')
    const engine = await openSession(join(directory, 'store'))
    let served = await serveEngine(join(directory, 'store'), path)
    const store = await openStore({ kind: 'socket', path })
    return {
      store,
      away: () => served.close(),
      back: async () => {
        served = await serveEngine(join(directory, 'store'), path)
      },
      close: async () => {
        await store.close()
        await served.close()
        await engine.close()
        rmSync(directory, { recursive: true, force: true })
      },
    }
  })
else describe('store: socket', () => it.skip('has no native package for this CPU; CLICKHOUSE_URL is used instead'))
