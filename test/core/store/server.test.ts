import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { startClickHouse } from '../../rig/clickhouse/server.js'
import { remoteStoreContract } from './contract.js'

remoteStoreContract('server', async () => {
  const server = await startClickHouse()
  const store = await openStore({ kind: 'server', url: server.url })
  return {
    store,
    away: server.kill,
    back: server.restart,
    close: async () => {
      await store.close()
      await server.stop()
    },
  }
})
