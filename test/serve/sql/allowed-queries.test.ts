import { expect, it } from 'vitest'
import { remembering } from '../../../services/serve/sql/allowed-queries.js'
import type { CanonicalQuery } from '../../../services/serve/sql/canonical-text.js'

function counted() {
  const asked: string[] = []
  const guard = remembering(async (text, _settings, parameters = new Map()) => {
    asked.push(text)
    if (text.startsWith('DROP')) throw new Error('refused')
    return { sql: `${text} ${[...parameters].join()}` } as CanonicalQuery
  })
  return { asked, guard }
}

it('asks the guard once for a text that was allowed', async () => {
  const { asked, guard } = counted()
  const first = await guard('SELECT 1', {})
  expect(await guard('SELECT 1', { max_threads: 1 })).toBe(first)
  expect(asked).toEqual(['SELECT 1'])
})

it('asks again for what was refused, for other parameters and for another text', async () => {
  const { asked, guard } = counted()
  for (let round = 0; round < 2; round += 1) await expect(guard('DROP TABLE trades', {})).rejects.toThrow('refused')
  await guard('SELECT {a:String}', {}, new Map([['a', 'x']]))
  const other = await guard('SELECT {a:String}', {}, new Map([['a', 'y']]))
  expect(other.sql).toBe('SELECT {a:String} a,y')
  await guard('SELECT {a:String} ', {}, new Map([['a', 'y']]))
  expect(asked).toHaveLength(5)
})

it('forgets the text that was not asked for longest, and keeps no long one', async () => {
  const { asked, guard } = counted()
  for (let n = 0; n < 500; n += 1) await guard(`SELECT ${n}`, {})
  await guard('SELECT 0', {})
  await guard('SELECT 500', {})
  asked.length = 0
  await guard('SELECT 0', {})
  await guard('SELECT 1', {})
  const long = `SELECT ${'1 + '.repeat(3000)} 1`
  await guard(long, {})
  await guard(long, {})
  expect(asked).toEqual(['SELECT 1', long, long])
})
