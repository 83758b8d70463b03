/** Large states stored bucket by bucket: reads return what was written, also after a rollback or a restart. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { KnownVenue } from '../../../../services/ingest/decode/evm/block/book.js'
import { type KeptBook, openBook } from '../../../../services/ingest/sources/evm/kept-book.js'
import { createRandom } from '../../../rig/market/random.js'

const ID = `0x${'ab'.repeat(32)}`
let path = ''
let book: KeptBook

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'dextape-book-'))
  book = openBook({ path, cachedValues: 3 })
})
afterEach(async () => {
  await book.close()
  rmSync(path, { recursive: true, force: true })
})

type Buckets = ReadonlyMap<number, ReadonlyMap<number, bigint>>

function known(price: bigint, ticks: Buckets | null): KnownVenue {
  const venue = { id: ID, protocol: 'uniswap-v4', amm: 'uniswapv4', tokens: ['0x1', '0x2'], fee: null, creator: null }
  const state = { reserves: [price, 1n], price, ticks, flat: new Map([[1, 2n]]) }
  return { venue, state, pairs: [ID], funded: true }
}

function step(number: number): { number: number; hash: string; timeS: number } {
  return { number, hash: `0x${number}`, timeS: number }
}

it('random changes, rollbacks and restarts, seed 7', async () => {
  const random = createRandom(7)
  const model: (KnownVenue | undefined)[] = [undefined]
  let ticks: Buckets = new Map()
  for (let round = 0; round < 300; round += 1) {
    const what = random.int(0, 9)
    if (what < 7) {
      const [word, tick] = [random.int(-3, 3), random.int(0, 5)]
      const bucket = new Map(ticks.get(word))
      if (!bucket.delete(tick)) bucket.set(tick, BigInt(random.int(0, 1000)))
      const copy = new Map(ticks)
      if (bucket.size === 0) copy.delete(word)
      else copy.set(word, bucket)
      ticks = copy
      book.begin(step(model.length))
      const value = known(BigInt(round), random.chance(0.05) ? null : ticks)
      book.putVenue(ID, value)
      book.end(true)
      model.push(value)
    } else if (what < 9) {
      const back = random.int(Math.max(0, model.length - 4), model.length - 1)
      book.rollback(back)
      model.length = back + 1
      const state = model.at(-1)?.state as { ticks?: Buckets | null } | undefined
      ticks = state?.ticks ?? new Map()
    } else {
      book.commit()
      await book.close()
      book = openBook({ path, cachedValues: 3 })
    }
    expect(book.venue(ID)).toEqual(model.at(-1))
  }
})

it('returns the same object for an unchanged value', () => {
  const [first, second] = [new Map([[1, 1n]]), new Map([[300, 2n]])]
  book.begin(step(1))
  book.putVenue(
    ID,
    known(
      1n,
      new Map([
        [0, first],
        [1, second],
      ]),
    ),
  )
  book.end(true)
  const state = book.venue(ID)?.state as { ticks?: Buckets }
  expect(state.ticks?.get(0)).toBe(first)
  expect(state.ticks?.get(1)).toBe(second)
})
