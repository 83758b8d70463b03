import { expect, it } from 'vitest'
import { pacedStore } from '../../../services/core/store/paced-store.js'
import type { Store } from '../../../services/core/store/port.js'

it('begins no statement once its process stops, and does not rest any longer', async () => {
  const stop = new AbortController()
  const began: string[] = []
  const store = {
    async command(sql: string) {
      began.push(sql)
      stop.abort('SIGTERM')
    },
  } as unknown as Store
  const paced = pacedStore(store, stop.signal)
  await paced.command('DELETE 1')
  await expect(paced.command('DELETE 2')).rejects.toBe('SIGTERM')
  expect(began).toEqual(['DELETE 1'])
})
