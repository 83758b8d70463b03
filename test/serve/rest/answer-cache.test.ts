import { expect, it } from 'vitest'
import { createAnswerCache, type EncodedAnswer, encodeAnswer } from '../../../services/serve/rest/answer-cache.js'

const MAX_BYTES = 100_000

function answerOf(text: string, given: Partial<EncodedAnswer> = {}): EncodedAnswer {
  return { ...encodeAnswer(Buffer.from(text), { chains: ['eth'] }), ...given }
}

function setUp(maxBytes = MAX_BYTES) {
  const state = { newest: 2, last: 1, names: 1, chainCount: 1, made: 0 }
  const revisions = {
    newest: () => state.newest,
    of: (chain: string, isClosed: boolean) => (chain === 'eth' ? (isClosed ? state.names : state.last) : undefined),
    chainCount: () => state.chainCount,
  }
  const cache = createAnswerCache(revisions, maxBytes)
  const ask = (key = 'a', given: Partial<EncodedAnswer> = {}) =>
    cache.answer(key, async () => {
      state.made += 1
      return answerOf(`${key} ${state.made}`, given)
    })
  const change = () => {
    state.last = ++state.newest
  }
  return { state, cache, ask, change }
}

it('keeps an answer until its chain changes', async () => {
  const { ask, change } = setUp()
  const first = await ask()
  expect(await ask()).toBe(first)
  change()
  expect((await ask()).body.toString()).toBe('a 2')
})

it('keeps a closed range through changes of the chain, until a name changes', async () => {
  const { state, ask, change } = setUp()
  const first = await ask('a', { isClosed: true })
  change()
  expect(await ask('a', { isClosed: true })).toBe(first)
  state.names = ++state.newest
  expect(await ask('a', { isClosed: true })).not.toBe(first)
})

it('drops an answer about all chains when there is another chain', async () => {
  const { state, ask } = setUp()
  const first = await ask()
  state.chainCount = 2
  expect(await ask()).not.toBe(first)
})

it('keeps no answer that is provisional, was made across a change, is about no chain, or failed', async () => {
  const { cache, ask, change } = setUp()
  const early = cache.answer('a', async () => {
    await Promise.resolve()
    change()
    return answerOf('mixed')
  })
  await early
  expect((await ask()).body.toString()).toBe('a 1')
  await ask('none', { chains: [] })
  expect((await ask('none')).body.toString()).toBe('none 3')
  await expect(cache.answer('b', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect((await ask('b')).body.toString()).toBe('b 4')
  await ask('c', { isProvisional: true })
  expect((await ask('c')).body.toString()).toBe('c 6')
})

it('shares the answer in flight, unless an update came after it began', async () => {
  const { ask, change } = setUp()
  const [first, second] = [ask(), ask()]
  change()
  const third = ask()
  expect([await first, await second, await third].map(({ body }) => body.toString())).toEqual(['a 1', 'a 1', 'a 2'])
  expect((await ask()).body.toString()).toBe('a 2')
})

it('stays within its memory and forgets the least recently used first', async () => {
  const { state, cache, ask } = setUp(10_000)
  const keys = Array.from({ length: 8 }, (_, n) => `key ${n}`)
  for (const key of keys) await ask(key)
  await ask('key 0')
  for (const key of ['more', 'and more']) await ask(key)
  expect(cache.bytes).toBeLessThanOrEqual(10_000)
  const before = state.made
  await ask('key 0')
  expect(state.made).toBe(before)
  await ask('key 1')
  expect(state.made).toBe(before + 1)
})

it('keeps an answer only as long as it says that it holds', async () => {
  const { ask } = setUp()
  let isHeld = true
  const first = await ask('a', { holdsWhile: () => isHeld })
  expect(await ask()).toBe(first)
  isHeld = false
  expect(await ask()).not.toBe(first)
})
