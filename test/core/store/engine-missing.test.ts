import { expect, it, vi } from 'vitest'
import { openStore } from '../../../services/core/store/clickhouse-store.js'

vi.mock('chdb/connection', () => {
  throw new Error('chdb: no native binding')
})

it('names the missing native package and the command that installs it', async () => {
  const refused = await openStore({ kind: 'embedded', path: '/nowhere' }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ name: 'ConfigError', code: 'store_engine_missing' })
  expect(String(refused)).toMatch(/npm install --no-save @chdb\/lib-\S+/)
})
