import { expect, it } from 'vitest'
import { openStore } from '../../../services/core/store/clickhouse-store.js'
import { columnTypes, RowWriter } from '../../../services/core/store/row-binary.js'
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

it('keeps unknown figures unknown where rows are sent as text', async () => {
  const server = await startClickHouse()
  const store = await openStore({ kind: 'server', url: `${server.url}?rows=json` })
  await store.migrate()
  const writer = new RowWriter('pair_rows')
  const figures = Float64Array.of(1, Number.NaN, -0.5)
  writer.row(columnTypes('pair_rows').map((type) => (type === 'Array(Float64)' ? figures : undefined)))
  await store.insertRows('pair_rows', writer.finish())
  expect(await store.query('SELECT windows, price_usd FROM pair_rows')).toEqual([
    { windows: [1, null, -0.5], price_usd: null },
  ])
  await store.close()
  await server.stop()
})
