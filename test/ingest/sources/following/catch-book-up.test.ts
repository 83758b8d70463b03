import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { catchBookUp } from '../../../../services/ingest/sources/following/catch-book-up.js'
import type { Header } from '../../../../services/ingest/sources/following/chain-nodes.js'
import { chainBook, JournaledMap } from '../../../../services/ingest/sources/following/journaled-map.js'

const folders: string[] = []
const maps: JournaledMap[] = []
afterEach(async () => {
  for (const map of maps.splice(0)) await map.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const chain = (branch: string): Header[] =>
  Array.from({ length: 20 }, (_, number) => ({
    ...{ number, hash: `${branch}${number}`, parentHash: `${branch}${number - 1}`, timeS: number },
  }))
const BLOCKS = chain('h')

/** A book where every block adds its number, with the blocks up to `to` in one commit, all final. */
function bookAt(first: number, to: number) {
  const folder = mkdtempSync(join(tmpdir(), 'behind-'))
  folders.push(folder)
  const map = new JournaledMap({ path: folder })
  maps.push(map)
  const add = ({ number }: Header) => map.set('sum', Number(map.get('sum') ?? 0) + number)
  for (const block of BLOCKS.slice(first, to + 1)) {
    map.begin(block)
    add(block)
    map.end(true)
  }
  map.commit(100)
  return { map, add }
}

function partsOf({ map, add }: ReturnType<typeof bookAt>, nodesHave: readonly Header[], late = 0) {
  let calls = 0
  return {
    book: chainBook(map),
    nodes: {
      range: async (from: number, to: number) => {
        calls += 1
        return nodesHave.slice(from, to + 1 - (calls <= late ? 1 : 0))
      },
      headerByHash: async (hash: string) => nodesHave.find((block) => block.hash === hash) ?? null,
    },
    prepare: async () => add,
    chunkSize: { blocks: 50 },
    weightOf: () => 1,
  }
}

const { signal } = new AbortController()
const sumOf = (from: number, to: number) => ((to - from + 1) * (from + to)) / 2

it.each([0, 2])('re-reads blocks committed together up to the one on the log (late: %i)', async (late) => {
  const opened = bookAt(3, 12)
  opened.map.rollback(7)
  // All are rolled back, because they were committed together.
  expect(opened.map.get('sum') ?? 0).toBe(0)
  const onLog = new Set(['h3', 'h5', 'h7'])
  expect(await catchBookUp(partsOf(opened, BLOCKS, late), { number: 7, hash: 'h7' }, onLog, signal)).toBe(true)
  expect(opened.map.get('sum')).toBe(sumOf(3, 7))
  const published = opened.map.steps.filter((step) => step.published).map(({ hash }) => hash)
  expect(published).toEqual(['h3', 'h5', 'h7'])
})

it('cannot catch up with a block that the nodes no longer have', async () => {
  const opened = bookAt(3, 12)
  opened.map.rollback(7)
  const other = [...BLOCKS.slice(0, 6), ...chain('other').slice(6)]
  expect(await catchBookUp(partsOf(opened, other), { number: 7, hash: 'h7' }, new Set(), signal)).toBe(false)
})

it('keeps the first block of a book until the book is cleared', () => {
  const { map } = bookAt(3, 12)
  expect(map.first).toBe(3)
  map.clear()
  expect(map.first).toBeUndefined()
})

it('a block that was rolled back and added again does not count as rolled back', () => {
  const { map } = bookAt(3, 12)
  map.rollback(2)
  expect(map.groundOf('h12')).toBe(2)
  const [block] = BLOCKS.slice(12)
  if (block === undefined) throw new Error('no block')
  map.begin(block)
  map.end(true)
  expect(map.groundOf('h12')).toBeUndefined()
})
