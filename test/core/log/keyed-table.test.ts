import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DextapeError } from '../../../services/core/domain/errors.js'
import { openKeyedTable } from '../../../services/core/log/keyed-table.js'
import type { EventLog } from '../../../services/core/log/port.js'
import { createLogger } from '../../../services/core/runtime/logger.js'
import { type SharedLog, sharedLog } from '../../rig/shared-log.js'
import { entry } from './contract.js'

const TOPIC = 'dex.table'

let shared: SharedLog
const openLog = (): EventLog => shared.open()

beforeEach(() => {
  shared = sharedLog()
})
afterEach(() => shared.close())

describe('a keyed table', () => {
  it('starts empty, and has its own writes at once', async () => {
    const table = await openKeyedTable<number>(openLog(), TOPIC)
    expect([table.get('a'), table.entries()]).toEqual([undefined, []])
    expect(await table.put('a', 1)).toBe(0)
    expect(await table.putAll(new Map([...Object.entries({ b: 2, a: 3 })]))).toBe(1)
    expect([table.get('a'), table.get('b')]).toEqual([3, 2])
  })

  it('has the latest value of each key when reopened, in order of the last writes', async () => {
    const first = await openKeyedTable<object>(openLog(), TOPIC)
    for (const [key, n] of [...Object.entries({ 'x/a': 1, 'x/b': 2, y: 3 }), ['x/a', 4] as const]) {
      await first.put(key, { n, text: 'ü' })
    }
    const again = await openKeyedTable<object>(openLog(), TOPIC)
    expect(again.entries('x/')).toEqual([
      { key: 'x/b', value: { n: 2, text: 'ü' }, offset: 1 },
      { key: 'x/a', value: { n: 4, text: 'ü' }, offset: 3 },
    ])
    expect(again.entries()).toEqual(first.entries())
  })

  it('has every record written before a put, once the put returns', async () => {
    const [near, far] = [await openKeyedTable<number>(openLog(), TOPIC), await openKeyedTable<number>(openLog(), TOPIC)]
    await far.put('far', 1)
    expect(near.get('far')).toBeUndefined()
    await near.put('near', 1)
    expect(near.get('far')).toBe(1)
    await far.put('far', 2)
    expect(near.get('far')).toBe(1)
    await near.refresh()
    expect(near.get('far')).toBe(2)
  })

  it('keeps the last write of a key, from any process', async () => {
    const tables = [await openKeyedTable<number>(openLog(), TOPIC), await openKeyedTable<number>(openLog(), TOPIC)]
    await Promise.all(tables.flatMap((table, at) => [1, 2, 3, 4].map((n) => table.put('k', n * 10 + at))))
    for (const table of tables) await table.refresh()
    const whole = await openKeyedTable<number>(openLog(), TOPIC)
    expect(tables.map((table) => table.entries())).toEqual([whole.entries(), whole.entries()])
  })

  it('follows other writers and reports each change once, including its own', async () => {
    const [near, far] = [await openKeyedTable<number>(openLog(), TOPIC), await openKeyedTable<number>(openLog(), TOPIC)]
    const reported: unknown[] = []
    near.onChange(({ key, value }) => reported.push([key, value]))
    const stop = new AbortController()
    const following = near.follow(stop.signal)
    await near.put('own', 1)
    await far.put('other', 2)
    await vi.waitFor(() => expect(near.get('other')).toBe(2))
    await near.put('own', 3)
    expect(reported).toEqual([
      ['own', 1],
      ['other', 2],
      ['own', 3],
    ])
    stop.abort()
    await following
  })

  it('resumes following after the log was unreachable', async () => {
    const log = openLog()
    let failures = 0
    const shaky: EventLog = {
      ...log,
      async *follow(...args) {
        if (failures++ < 2) throw new DextapeError({ code: 'log_away', what: 'unreachable', retry: true })
        yield* log.follow(...args)
      },
    }
    const table = await openKeyedTable<number>(shaky, TOPIC)
    const stop = new AbortController()
    const following = table.follow(stop.signal)
    await (await openKeyedTable<number>(openLog(), TOPIC)).put('k', 1)
    await vi.waitFor(() => expect(table.get('k')).toBe(1), 5000)
    expect(failures).toBe(3)
    stop.abort()
    await following
  })

  it('reads past the gaps that compaction leaves', async () => {
    const log = openLog()
    await log.append(
      TOPIC,
      ['0', '1', '2', '3', '4'].map((text) => entry(text, 0, `k${text}`)),
    )
    const kept = [1, 4]
    const compacted: EventLog = {
      ...log,
      read: async (topic, options) =>
        (await log.read(topic, options)).filter(({ offset }) => kept.includes(offset) || offset > 4).slice(0, 1),
    }
    const table = await openKeyedTable<number>(compacted, TOPIC)
    expect(table.entries().map(({ key, offset }) => [key, offset])).toEqual([
      ['k1', 1],
      ['k4', 4],
    ])
    expect(await table.put('k1', 9)).toBe(5)
    expect(table.get('k1')).toBe(9)
  })

  it('skips a value that is not JSON, and logs it', async () => {
    const lines: string[] = []
    const log = openLog()
    await log.append(TOPIC, [entry('{"half', 0, 'a'), entry('1', 0, 'b')])
    const logger = createLogger('json', {}, (line) => lines.push(line))
    const table = await openKeyedTable<number>(log, TOPIC, { logger })
    expect(table.entries()).toEqual([{ key: 'b', value: 1, offset: 1 }])
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', topic: TOPIC, offset: 0 })
  })
})
