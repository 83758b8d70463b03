import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createGenerations } from '../../../services/core/coordination/generations.js'
import { openEmbeddedLog } from '../../../services/core/log/embedded-log.js'
import { blocksOf, blocksTopic } from '../../../services/core/log/port.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Two tables on one log, as two processes would open them. */
function twoTables() {
  const log = openEmbeddedLog({ path: mkdtempSync(join(tmpdir(), 'dextape-generations-')) })
  closing.push(() => log.close())
  return [0, 1].map(() => {
    const generations = createGenerations(log)
    closing.push(() => generations.close())
    return generations
  }) as [ReturnType<typeof createGenerations>, ReturnType<typeof createGenerations>]
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

const FROM = { kind: 'block', number: 5 } as const

it('switches every process from the first generation to the next live one', async () => {
  const [one, other] = twoTables()
  await Promise.all([one.load(), other.load()])
  const [whileFirst, elsewhere] = [other.whileLive('eth', 1), other.whileLive('bsc', 1)]
  expect([other.liveOf('eth'), whileFirst.aborted]).toEqual([1, false])
  await one.makeLive('eth', { generation: 2, from: FROM, made: 1 })
  await aborted(whileFirst)
  expect([one.liveOf('eth'), other.liveOf('eth'), other.liveOf('bsc'), elsewhere.aborted]).toEqual([2, 2, 1, false])
  expect([other.whileLive('eth', 1).aborted, other.whileLive('eth', 2).aborted]).toEqual([true, false])
})

it('forgets an unfinished generation when it is live or abandoned, but never reuses its number', async () => {
  const [one, other] = twoTables()
  await one.load()
  expect([one.unfinishedOf('eth'), one.highestOf('eth')]).toEqual([undefined, 1])
  await one.begin('eth', { generation: 2, from: FROM, began: 1 })
  await other.load()
  expect(other.unfinishedOf('eth')).toEqual({ generation: 2, from: FROM, began: 1 })
  await other.abandon('eth')
  await one.load()
  expect([one.unfinishedOf('eth'), one.highestOf('eth'), one.liveOf('eth')]).toEqual([undefined, 2, 1])
  await one.begin('eth', { generation: 3, from: FROM, began: 2 })
  await one.makeLive('eth', { generation: 3, from: FROM, made: 3 })
  expect([one.unfinishedOf('eth'), one.highestOf('eth'), one.liveOf('eth')]).toEqual([undefined, 3, 3])
})

it('gives each generation a topic with its chain and number', () => {
  const topics = [blocksTopic('eth'), blocksTopic('eth', 1), blocksTopic('my_chain', 12)]
  expect(topics).toEqual(['dex.blocks.eth', 'dex.blocks.eth', 'dex.blocks.my_chain.g12'])
  expect([...topics, 'dex.blocks.eth.x', 'dex.updates.eth', 'dex.blocks.'].map(blocksOf)).toEqual([
    { chain: 'eth', generation: 1 },
    { chain: 'eth', generation: 1 },
    { chain: 'my_chain', generation: 12 },
    ...[undefined, undefined, undefined],
  ])
})
