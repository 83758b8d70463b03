import { describe, expect, it } from 'vitest'
import { createStoreReachability, openStore, type Trouble } from '../../../services/core/store/clickhouse-store.js'
import { migrate } from '../../../services/core/store/migrations.js'
import { isTransient, storeFault } from '../../../services/core/store/store-faults.js'
import { line } from './rows.js'

/** Nothing listens on port 1. */
const NOWHERE = { kind: 'server', url: 'http://someone:hunter2@127.0.0.1:1/dextape' } as const

describe('an unreachable store', () => {
  it('keeps an insert until the store is closed, and reports each attempt', async () => {
    const troubles: Trouble[] = []
    let seenTwo = () => {}
    const two = new Promise<void>((resolve) => {
      seenTwo = resolve
    })
    const store = await openStore(NOWHERE, {
      onTrouble: (trouble) => {
        if (troubles.push(trouble) === 2) seenTwo()
      },
    })
    const waiting = store.insert('candle_rows', line('candle_rows')).catch((error: unknown) => error)
    await two
    await store.close()
    expect(await waiting).toMatchObject({ code: 'store_closed', retry: true })
    expect(troubles.slice(0, 2).map(({ attempt, error }) => [attempt, error.code])).toEqual([
      [1, 'store_away'],
      [2, 'store_away'],
    ])
  })

  it('abandons an insert when the caller’s signal aborts', async () => {
    const stop = new AbortController()
    const store = await openStore(NOWHERE, { signal: stop.signal, onTrouble: () => stop.abort() })
    await expect(store.insert('candle_rows', line('candle_rows'))).rejects.toMatchObject({ code: 'store_closed' })
    await store.close()
  })

  it('fails queries and pings at once, without address or password in the message', async () => {
    const store = await openStore(NOWHERE)
    for (const attempt of [() => store.query('SELECT 1'), () => store.ping(), () => store.migrate()]) {
      const error = await attempt().catch((caught: unknown) => caught)
      expect(error).toMatchObject({ code: 'store_away', retry: true })
      expect(String(error)).not.toMatch(/hunter2|someone|127\.0\.0\.1/)
    }
    await store.close()
    await expect(store.query('SELECT 1')).rejects.toMatchObject({ code: 'store_closed' })
  })

  it('is reported when a statement fails because of it', async () => {
    const reported: string[] = []
    const onUnreachable = (reason: string) => void reported.push(reason)
    const store = await openStore(NOWHERE, { onUnreachable, onReachable: () => reported.push('back') })
    await store.query('SELECT 1').catch(() => {})
    const waiting = store.insert('candle_rows', line('candle_rows')).catch(() => {})
    await expect.poll(() => reported.length).toBeGreaterThan(1)
    await store.close()
    await waiting
    expect([...new Set(reported)]).toEqual(['The store is unreachable (ECONNREFUSED)'])
  })

  it('rejects an invalid URL without repeating it', async () => {
    const refused = await openStore({ kind: 'server', url: 'hunter2' }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ name: 'ConfigError', code: 'store_url' })
    expect(String(refused)).not.toContain('hunter2')
  })
})

describe('whether the store is reachable', () => {
  const away = storeFault(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), 'a query')
  const full = storeFault(Object.assign(new Error('parts'), { code: '252', type: 'TOO_MANY_PARTS' }), 'an insert')

  it('follows the last statement of each kind; a stored insert outweighs an answered query', () => {
    const reported: string[] = []
    const onUnreachable = (reason: string) => void reported.push(reason)
    const reachability = createStoreReachability({ onUnreachable, onReachable: () => reported.push('back') })
    reachability.worked('insert')
    reachability.failed('insert', full)
    reachability.worked('other')
    reachability.failed('other', away)
    reachability.worked('other')
    expect(reported.splice(0)).toEqual([
      'The store refused an insert; got TOO_MANY_PARTS (252)',
      'The store is unreachable (ECONNREFUSED)',
    ])
    reachability.worked('insert')
    reachability.worked('insert')
    expect(reported).toEqual(['back'])
  })

  it.each(['516', '497'])('treats engine code %s as a configuration error, without a retry', (code) => {
    const fault = storeFault(Object.assign(new Error('no'), { code, type: 'DENIED' }), 'a migration')
    expect(fault).toMatchObject({ name: 'ConfigError', code: 'store_refused', retry: false })
    expect(fault.message).toMatch(/CLICKHOUSE_URL/)
  })
})

it('waits for room on a disk that is full', () => {
  const error = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  expect(isTransient(error)).toBe(true)
  expect(storeFault(error, 'an insert')).toMatchObject({ message: 'The disk is full during an insert', retry: true })
})

describe('migrations', () => {
  const view = (text: string) => `CREATE OR REPLACE VIEW v AS SELECT ${text}`
  const copy = 'INSERT INTO b SELECT * FROM a'
  const known = [
    { name: '0001_a', statements: ['A', view('a')] },
    { name: '0002_b', statements: ['B', copy, view('b')] },
  ]
  const against = (done: string[], tables = ['a']) => {
    const commands: string[] = []
    const runner = {
      command: async (sql: string, params?: Record<string, unknown>) =>
        void commands.push(params ? `+${params.names}` : sql),
      query: async <Row>(sql: string) =>
        (sql.includes('system.tables') ? tables : done).map((name) => ({ name })) as Row[],
    }
    return { commands, run: () => migrate(runner, undefined, known) }
  }

  it('runs pending migrations in order, and records each when done', async () => {
    const { commands, run } = against([])
    expect(await run()).toEqual(['0001_a', '0002_b'])
    expect(commands.slice(1)).toEqual(['A', view('a'), '+0001_a', 'B', copy, view('b'), '+0002_b'])
    const later = against(['0001_a'])
    expect(await later.run()).toEqual(['0002_b'])
  })

  it('leaves out of a new store what a later one replaces, and copies of nothing', async () => {
    const { commands, run } = against([], [])
    expect(await run()).toEqual(['0001_a', '0002_b'])
    expect(commands.slice(1)).toEqual(['A', 'B', view('b'), '+0001_a,0002_b'])
  })

  it('stops at a store of a newer version', async () => {
    const { commands, run } = against(['0001_a', '0002_b', '0003_c'])
    await expect(run()).rejects.toMatchObject({ name: 'ConfigError', code: 'store_newer' })
    expect(commands).toHaveLength(1)
  })
})
