/** Checkpoints in a topic: what one process wrote, the next one reads, whatever a value's size. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { padded, type StateChange, type StateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { openTopicStateStore } from '../../services/aggregate/checkpoint/topic-state-store.js'
import { openFencedTopic } from '../../services/core/log/kafka/fenced-topic.js'
import type { KafkaLog } from '../../services/core/log/kafka/kafka-log.js'
import { freshPrefix, openTestLog } from '../rig/kafka/open-log.js'
import { sharedBroker } from '../rig/servers/shared.js'

let brokers: string
let log: KafkaLog
let scratch: string
beforeAll(async () => {
  brokers = await sharedBroker()
  scratch = mkdtempSync(join(tmpdir(), 'dextape-scratch-'))
})
afterAll(async () => {
  await log?.close()
  rmSync(scratch, { recursive: true, force: true })
})

function fresh(): void {
  log = openTestLog(brokers, freshPrefix())
}

const open = (name: string): Promise<StateStore> =>
  openTopicStateStore(openFencedTopic(log, 'dex.state.eth'), join(scratch, name))

const byKey = ([a]: [string, string], [b]: [string, string]) => (a < b ? -1 : 1)

const contents = (store: StateStore): [string, string][] =>
  [...store.entries('')]
    .map(({ key, value }): [string, string] => [key, Buffer.from(value).toString('base64')])
    .sort(byKey)

const owner = fc.integer({ min: 0, max: 4 }).map((n) => `${'pt'[n % 2]}/${padded(n)}`)
const key = fc
  .tuple(owner, fc.constantFrom('', 'b', 'w'), fc.integer({ min: 0, max: 1 }))
  .map(([of, kind, time]) => (kind === '' ? of : `${kind}/${of}/${kind === 'b' ? 'minutes/' : ''}${padded(time)}`))
// Sizes around the edges of what one record takes.
const size = fc.constantFrom(0, 1, 100, 899_999, 900_000, 900_001, 1_800_000, 1_800_001)
const value = fc.option(fc.record({ size, fill: fc.nat(255) }), { nil: null })
const change = fc.record({ key, value }).map(
  ({ key: name, value: made }): StateChange => ({
    key: name,
    value: made === null ? null : Buffer.alloc(made.size, made.fill),
  }),
)

it('has what was committed, here and in the next process', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uniqueArray(change, { selector: (one) => one.key, maxLength: 5 }), { maxLength: 4 }),
      async (sets) => {
        fresh()
        const expected = new Map<string, string>()
        const first = await open('first')
        for (const set of sets) {
          await first.commit(set)
          for (const { key: name, value: given } of set) {
            if (given === null) expected.delete(name)
            else expected.set(name, Buffer.from(given).toString('base64'))
          }
          expect(contents(first)).toEqual([...expected].sort(byKey))
        }
        const next = await open('next')
        expect(contents(next)).toEqual(contents(first))
        await expect(first.commit([{ key: 'p/0', value: Buffer.from('late') }])).rejects.toMatchObject({
          code: 'fenced',
        })
        await next.clear()
        expect(contents(next)).toEqual([])
        const last = await open('last')
        expect(contents(last)).toEqual([])
        for (const store of [first, next, last]) await store.close()
        await log.close()
      },
    ),
    { numRuns: 12 },
  )
})
