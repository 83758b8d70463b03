/** The consumer group of aggregators, and topics with one owner. */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { openFencedTopic } from '../../../services/core/log/kafka/fenced-topic.js'
import { assignTopics, runMembership } from '../../../services/core/log/kafka/group.js'
import type { KafkaLog } from '../../../services/core/log/kafka/kafka-log.js'
import { logsForTests } from '../../rig/kafka/logs.js'

const logs = logsForTests()
const open = (): KafkaLog => logs.open()

describe('topic assignment', () => {
  const topic = fc.integer({ min: 0, max: 12 }).map((n) => `t${n}`)
  const member = fc.record({ id: fc.uuid(), owned: fc.uniqueArray(topic) })

  it('gives every topic one member, balanced and stable', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(topic),
        fc.uniqueArray(member, { selector: ({ id }) => id, minLength: 1, maxLength: 5 }),
        (topics, members) => {
          const assigned = assignTopics(topics, members)
          expect([...assigned.values()].flat().sort()).toEqual([...topics].sort())
          const sizes = [...assigned.values()].map((held) => held.length)
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
          const again = assignTopics(
            topics,
            members.map(({ id }) => ({ id, owned: assigned.get(id) ?? [] })),
          )
          expect(again).toEqual(assigned)
        },
      ),
    )
  })
})

describe('a group', () => {
  type Running = { mine(): readonly string[]; stop(): Promise<void> }

  function start(topics: () => readonly string[]): Running {
    const abort = new AbortController()
    let mine: readonly string[] = []
    const done = runMembership(
      open(),
      {
        group: 'aggregate',
        topics: async () => topics(),
        onAssigned: (given) => {
          mine = given
        },
        onTrouble: () => {},
      },
      abort.signal,
    )
    return {
      mine: () => mine,
      async stop() {
        abort.abort()
        await done
      },
    }
  }

  const all = ['dex.blocks.a', 'dex.blocks.b', 'dex.blocks.c', 'dex.blocks.d']
  const eventually = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 50 })

  it('shares topics, reassigns them when a member leaves, and adds new ones', async () => {
    let topics = all.slice(0, 3)
    const log = open()
    for (const topic of all) await log.append(topic, [{ key: 'k', value: Buffer.from('x'), timestampMs: 1 }])
    const one = start(() => topics)
    await eventually(() => expect(one.mine()).toEqual(topics))
    const two = start(() => topics)
    await eventually(() => expect([...one.mine(), ...two.mine()].sort()).toEqual(topics))
    await eventually(() => expect(one.mine().length).toBeLessThan(3))
    topics = all
    await eventually(() => expect([one.mine().length, two.mine().length]).toEqual([2, 2]))
    await one.stop()
    await eventually(() => expect(two.mine()).toEqual(all))
    await two.stop()
  })
})

describe('a topic with one owner', () => {
  const topic = 'dex.state.eth'
  const bytes = (text: string) => Buffer.from(text)

  async function claimed(log: KafkaLog) {
    const values = new Map<string, string>()
    const owned = openFencedTopic(log, topic)
    await owned.claim(({ key, value }) => {
      if (value === null) values.delete(key)
      else values.set(key, Buffer.from(value).toString())
    })
    return { owned, values }
  }

  it('gives the next owner the committed values, and fences the previous owner', async () => {
    const first = await claimed(open())
    expect(first.values.size).toBe(0)
    await first.owned.commit([
      { key: 'a', value: bytes('1') },
      { key: 'b', value: bytes('2') },
    ])
    await first.owned.commit([
      { key: 'a', value: null },
      { key: 'c', value: bytes('x'.repeat(950_000)) },
      { key: 'd', value: bytes('y'.repeat(950_000)) },
    ])
    const second = await claimed(open())
    expect([...second.values].map(([key, value]) => [key, value.length])).toEqual([
      ['b', 1],
      ['c', 950_000],
      ['d', 950_000],
    ])
    await expect(first.owned.commit([{ key: 'b', value: bytes('zombie') }])).rejects.toMatchObject({ code: 'fenced' })
    await second.owned.commit([{ key: 'b', value: bytes('3') }])
    expect((await claimed(open())).values.get('b')).toBe('3')
  })

  it('reports why a commit failed, each time, if no other process took over the topic', async () => {
    const { owned } = await claimed(open())
    const tooLarge = [{ key: 'a', value: bytes('x'.repeat(2_000_000)) }]
    await expect(owned.commit(tooLarge)).rejects.toMatchObject({ code: 'log_failed' })
    await expect(owned.commit([{ key: 'a', value: bytes('1') }])).rejects.toMatchObject({ code: 'log_failed' })
  })

  it('is deleted by its owner; the previous one is fenced and does not bring it back', async () => {
    const log = open()
    const first = await claimed(log)
    await first.owned.commit([{ key: 'a', value: bytes('1') }])
    const second = await claimed(open())
    await second.owned.drop()
    await expect(first.owned.commit([{ key: 'b', value: bytes('zombie') }])).rejects.toMatchObject({ code: 'fenced' })
    await vi.waitFor(async () => expect(await log.topicNames()).not.toContain(topic), { timeout: 10_000 })
    await second.owned.drop()
    expect(await log.topicNames()).not.toContain(topic)
  })

  it('discards a transaction that was never committed', async () => {
    const first = await claimed(open())
    await first.owned.commit([{ key: 'a', value: bytes('whole') }])
    // Several batches, with the connection closed early, as in a crash.
    const large = Array.from({ length: 8 }, (_, n) => ({ key: `k${n}`, value: bytes('z'.repeat(900_000)) }))
    const writing = first.owned.commit([{ key: 'a', value: bytes('torn') }, ...large]).catch((error: unknown) => error)
    await new Promise((resolve) => setTimeout(resolve, 15))
    await first.owned.close()
    await writing
    const { values } = await claimed(open())
    expect([[...values.keys()], [...values.values()].slice(0, 1)]).toEqual(
      values.size === 1 ? [['a'], ['whole']] : [['a', ...large.map(({ key }) => key)], ['torn']],
    )
  })
})
