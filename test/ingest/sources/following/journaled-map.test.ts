import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { JournaledMap } from '../../../../services/ingest/sources/following/journaled-map.js'
import { createRandom } from '../../../rig/market/random.js'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

type Model = Map<string, unknown>
const KEYS = Array.from({ length: 12 }, (_, index) => `key${index}`)

describe('a map that rolls back block by block', () => {
  it.each([1, 2, 3, 4, 5, 6])('equals a model that copies itself at every block (seed %i)', async (seed) => {
    const { next } = createRandom(seed)
    const folder = mkdtempSync(join(tmpdir(), 'journaled-'))
    folders.push(folder)
    // A cache smaller than the keys, so that most values are read back.
    const open = () => new JournaledMap({ path: folder, cachedValues: 3 })
    let map = open()
    let number = 0
    let model: Model = new Map()
    /** The model after each block. */
    let after = new Map<number, Model>([[0, new Map()]])
    let committed: { number: number; after: typeof after } | undefined
    /** The checkpoint is at the last commit or the one before, unless the map rolled back since. */
    let before = 0

    const check = () => {
      for (const key of KEYS) expect(map.get(key) ?? undefined).toEqual(model.get(key))
      const known = KEYS.filter((key) => key.startsWith('key1') && (model.get(key) ?? null) !== null)
      expect(map.keysFrom('key1').sort()).toEqual(known.map((key) => key.slice('key1'.length)).sort())
    }
    const block = () => {
      number += 1
      map.begin({ number, hash: `h${number}-${next()}`, timeS: number })
      for (const key of KEYS) {
        if (next() > 0.2) continue
        const value = next() < 0.2 ? null : { amount: BigInt(Math.floor(next() * 1e9)), at: number }
        map.set(key, value)
        if (value === null) model.delete(key)
        else model.set(key, value)
      }
      map.end(true)
      after.set(number, new Map(model))
    }
    const backTo = (to: number) => {
      map.rollback(to)
      number = to
      model = new Map(after.get(to))
      after = new Map([...after].filter(([known]) => known <= to))
    }

    for (let step = 0; step < 250; step += 1) {
      const kind = next()
      if (kind < 0.6) block()
      else if (kind < 0.75) {
        map.commit(next() < 0.5 ? number - 5 : 0)
        before = Math.min(committed?.number ?? 0, number)
        committed = { number, after: new Map(after) }
      } else if (kind < 0.85) {
        const [ground] = map.steps
        if (ground !== undefined) backTo(ground.number + Math.floor(next() * (number - ground.number + 1)))
        before = Math.min(before, number)
      } else if (kind < 0.93) {
        map.forget(number - 5)
      } else if (committed !== undefined && before > 0) {
        // A crash: uncommitted changes are lost.
        await map.close()
        map = open()
        number = committed.number
        after = new Map(committed.after)
        expect(map.steps.at(-1)?.number).toBe(number)
        backTo(next() < 0.5 && before >= (map.steps[0]?.number ?? 0) ? before : number)
        committed = undefined
        before = 0
      }
      check()
    }
    await map.close()
  })
})
