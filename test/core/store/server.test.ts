import { describe, it } from 'vitest'
import { openStore } from '../../../services/core/store/clickhouse.js'
import { proxyTo } from '../../rig/store-proxy.js'
import { remoteStoreContract } from './contract.js'

const url = process.env.CLICKHOUSE_URL

if (url === undefined) describe('store: server', () => it.skip('runs where CLICKHOUSE_URL is set'))
else
  remoteStoreContract('server', async () => {
    const proxy = await proxyTo(new URL(url))
    const database = `dextape_test_${Date.now()}`
    const through = new URL(proxy.url)
    through.pathname = `/${database}`
    const store = await openStore({ kind: 'server', url: through.href })
    return {
      store,
      away: proxy.away,
      back: proxy.back,
      close: async () => {
        await store.command(`DROP DATABASE IF EXISTS ${database}`)
        await store.close()
        await proxy.close()
      },
    }
  })
