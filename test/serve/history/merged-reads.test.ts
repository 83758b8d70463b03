import { expect, it } from 'vitest'
import { createMergedReads } from '../../../services/serve/history/merged-reads.js'

function setUp() {
  const reads: string[][] = []
  const ends: ((fail?: Error) => void)[] = []
  const ask = createMergedReads<string, string>(
    (asked) => asked.slice(0, 1),
    async (asked) => {
      reads.push([...asked])
      await new Promise<void>((resolve, reject) => ends.push((fail) => (fail ? reject(fail) : resolve())))
      return asked.map((one) => `${one}!`)
    },
  )
  return { ask, reads, ends }
}
const turns = async () => {
  for (let at = 0; at < 5; at += 1) await new Promise((resolve) => setImmediate(resolve))
}

it('reads together what is asked for in one turn, and while a reading runs', async () => {
  const { ask, reads, ends } = setUp()
  const first = [ask('a1'), ask('a2')]
  await turns()
  const later = [ask('a3'), ask('a4'), ask('b1')]
  await turns()
  expect(reads).toEqual([['a1', 'a2'], ['b1']])
  for (const end of ends.splice(0)) end()
  await turns()
  expect(reads.at(-1)).toEqual(['a3', 'a4'])
  for (const end of ends.splice(0)) end()
  expect(await Promise.all([...first, ...later])).toEqual(['a1!', 'a2!', 'a3!', 'a4!', 'b1!'])
})

it('fails those that were read together, and no others', async () => {
  const { ask, ends } = setUp()
  const first = ask('a1')
  await turns()
  const second = ask('a2')
  ends.shift()?.(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await turns()
  ends.shift()?.()
  expect(await second).toBe('a2!')
})
