import { expect, it } from 'vitest'
import { ByHolder } from '../../services/aggregate/state/by-holder.js'
import { createRandom } from '../rig/market/random.js'

const contents = (of: ByHolder<number>) =>
  new Map([...of.entries()].map(([token, holder, value]) => [`${token}/${holder}`, value]))

it('values by token and holder are those of a plain map, while they grow, are taken by another and are cleared', () => {
  const random = createRandom(5)
  const now = { kept: new ByHolder<number>(), model: new Map<string, number>() }
  const taken = { kept: new ByHolder<number>(), model: new Map<string, number>() }
  const done = { taken: 0, cleared: 0, changed: 0 }
  for (let step = 1; step <= 20_000; step += 1) {
    const token = `token ${Math.floor(random.next() ** 2 * 40)}`
    const holder = `holder ${Math.floor(random.next() * 200)}`
    const key = `${token}/${holder}`
    expect(now.kept.get(token, holder)).toBe(now.model.get(key))
    expect(taken.kept.get(token, holder)).toBe(taken.model.get(key))
    if (now.model.has(key)) done.changed += 1
    now.kept.set(token, holder, step)
    now.model.set(key, step)
    if (random.chance(0.001)) {
      taken.kept.take(now.kept)
      for (const [name, value] of now.model) taken.model.set(name, value)
      now.model.clear()
      expect(contents(taken.kept)).toEqual(taken.model)
      done.taken += 1
    }
    if (random.chance(0.0003)) {
      taken.kept.clear()
      taken.model.clear()
      done.cleared += 1
    }
    expect([now.kept.size, taken.kept.size]).toEqual([now.model.size, taken.model.size])
  }
  expect(contents(now.kept)).toEqual(now.model)
  expect(Math.min(done.taken - 10, done.cleared, done.changed - 1000)).toBeGreaterThan(0)
})
