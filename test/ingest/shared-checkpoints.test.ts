import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type EventLog, SOURCES_TOPIC } from '../../services/core/log/port.js'
import type { Checkpoint } from '../../services/ingest/checkpoints.js'
import { claimCheckpoints } from '../../services/ingest/shared-checkpoints.js'
import { type SharedLog, sharedLog } from '../rig/shared-log.js'

let shared: SharedLog
beforeEach(() => {
  shared = sharedLog()
})
afterEach(() => shared.close())

const ID = 'simulator:1'
const at = (line: number): Checkpoint => ({ position: { line }, ends: { 'dex.blocks.eth': line }, chains: {} })
const claim = (writer: string, log: EventLog = shared.open(), sourceId = ID) =>
  claimCheckpoints(log, { sourceId, writer })

describe('shared checkpoints of a cluster', () => {
  it('start empty, and can be read on another machine', async () => {
    const first = await claim('a')
    expect(first.get(ID)).toBeUndefined()
    await first.put(ID, at(1))
    await first.put(ID, at(2))
    expect(first.get(ID)).toEqual(at(2))
    expect((await claim('b')).get(ID)).toEqual(at(2))
  })

  it('are separate for each source', async () => {
    await (await claim('a')).put(ID, at(1))
    const other = await claim('b', shared.open(), 'simulator:11')
    expect(other.get('simulator:11')).toBeUndefined()
    await other.put('simulator:11', at(5))
    expect((await claim('c')).get(ID)).toEqual(at(1))
    expect(() => other.get(ID)).toThrow(expect.objectContaining({ code: 'source_unclaimed' }))
  })

  it('belong to the latest claim: writes of an earlier claimant are rejected', async () => {
    const old = await claim('old')
    await old.put(ID, at(1))
    const young = await claim('young')
    await young.put(ID, at(10))
    await expect(old.put(ID, at(2))).rejects.toMatchObject({ code: 'source_taken', retry: false })
    await expect(old.put(ID, at(3))).rejects.toMatchObject({ code: 'source_taken' })
    await young.put(ID, at(11))
    expect((await claim('late')).get(ID)).toEqual(at(11))
  })

  it('resume from the last writer if a claimant ended before it wrote', async () => {
    await (await claim('a')).put(ID, at(4))
    await claim('b')
    expect((await claim('c')).get(ID)).toEqual(at(4))
  })

  it('have one holder when many claim at once', async () => {
    const claimed = await Promise.all(['a', 'b', 'c', 'd'].map((writer) => claim(writer)))
    const outcomes = await Promise.allSettled(claimed.map((checkpoints, n) => checkpoints.put(ID, at(n))))
    const holders = outcomes.flatMap(({ status }, n) => (status === 'fulfilled' ? [at(n)] : []))
    expect(holders).toHaveLength(1)
    expect((await claim('e')).get(ID)).toEqual(holders[0])
  })

  it('keep the newest holder’s checkpoint after log compaction', async () => {
    const log = shared.open()
    const old = await claim('old')
    await old.put(ID, at(1))
    const young = await claim('young')
    await young.put(ID, at(10))
    await old.put(ID, at(2)).catch(() => {})
    const records = await log.read(SOURCES_TOPIC, { from: 0 })
    const last = new Map(records.map((record) => [record.key, record.offset]))
    const compacted: EventLog = {
      ...log,
      read: async (topic, options) =>
        (await log.read(topic, options)).filter(({ key, offset }) => offset >= (last.get(key) ?? 0)),
    }
    expect((await claim('late', compacted)).get(ID)).toEqual(at(10))
  })
})
