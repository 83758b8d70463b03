import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AvroRecord } from '../../../schemas/avro.js'
import { createCodec } from '../../../services/core/log/codec.js'
import type { EventLog } from '../../../services/core/log/port.js'
import { inLogRegistry, SCHEMAS_TOPIC } from '../../../services/core/log/registry-in-log.js'
import { freshPrefix, openTestLog } from '../../rig/kafka/open-log.js'
import { sharedBroker } from '../../rig/servers/shared.js'
import { sharedLog } from '../../rig/shared-log.js'
import { newestSchema } from './arbitraries.js'
import { entry } from './contract.js'

/** Opens one log several times, as several processes would. */
type Shared = { open(): EventLog; close(): Promise<void> }

function onKafka(brokers: string): Shared {
  const prefix = freshPrefix()
  const logs: EventLog[] = []
  return {
    open() {
      const log = openTestLog(brokers, prefix)
      logs.push(log)
      return log
    },
    async close() {
      for (const log of logs) await log.close()
    },
  }
}

const thing = (...fields: AvroRecord['fields']): AvroRecord => ({
  type: 'record',
  name: 'Thing',
  namespace: 'dextape',
  fields: [{ name: 'id', type: 'long' }, ...fields],
})
const texts = async (log: EventLog): Promise<unknown[]> =>
  (await log.read(SCHEMAS_TOPIC, { from: 0 })).map(({ value }) => JSON.parse(Buffer.from(value).toString()))

describe.each(['embedded', 'kafka'] as const)('on the %s log', (kind) => {
  let brokers: string | undefined
  let shared: Shared
  const open = (): EventLog => shared.open()
  beforeAll(async () => {
    if (kind === 'kafka') brokers = await sharedBroker()
  })
  beforeEach(() => {
    shared = brokers === undefined ? sharedLog() : onKafka(brokers)
  })
  afterEach(() => shared.close())

  it('numbers a schema by the offset of its first record, with one id per text', async () => {
    const log = open()
    const registry = inLogRegistry(log)
    expect(await registry.idFor('a-dextape.Thing', thing())).toBe(1)
    expect(await registry.idFor('b-dextape.Thing', thing())).toBe(1)
    expect(await registry.idFor('b-dextape.Retract', newestSchema('retract'))).toBe(3)
    expect(await texts(log)).toEqual([
      { subject: 'a-dextape.Thing', schema: thing() },
      { subject: 'b-dextape.Thing', schema: thing() },
      { subject: 'b-dextape.Retract', schema: newestSchema('retract') },
    ])
    const another = inLogRegistry(open())
    expect(await another.schemaFor(3)).toEqual(newestSchema('retract'))
    expect(await another.schemaFor(9)).toBeUndefined()
    // Known by now, so it returns without a promise, as the hot path needs.
    expect(another.schemaFor(1)).toEqual(thing())
    expect(another.idFor('b-dextape.Retract', newestSchema('retract'))).toBe(3)
    expect((await log.info(SCHEMAS_TOPIC)).end).toBe(3)
  })

  it('gives two concurrent registrations the same ids', async () => {
    const [one, other] = [inLogRegistry(open()), inLogRegistry(open())]
    const subjects = Array.from({ length: 20 }, (_, index) => `t${index % 5}-dextape.Thing`)
    const schemas = subjects.map((_, index) => thing({ name: `f${index % 10}`, type: 'int', default: 0 }))
    const register = (registry: typeof one) =>
      Promise.all(subjects.map((subject, index) => registry.idFor(subject, schemas[index] as AvroRecord)))
    const [left, right] = await Promise.all([register(one), register(other)])
    expect(left).toEqual(right)
    expect(new Set(left).size).toBe(10)
    for (const [index, id] of left.entries()) expect(await other.schemaFor(id)).toEqual(schemas[index])
  })

  it('rejects a version that is incompatible with an older one, and stores nothing', async () => {
    const log = open()
    const registry = inLogRegistry(log)
    await registry.idFor('t-dextape.Thing', thing())
    await registry.idFor('t-dextape.Thing', thing({ name: 'note', type: 'string', default: '' }))
    const clash = thing({ name: 'note', type: 'long', default: 0 })
    await expect(registry.idFor('t-dextape.Thing', clash)).rejects.toThrow(
      /t-dextape\.Thing.*version 2.*FULL_TRANSITIVE/,
    )
    expect((await log.info(SCHEMAS_TOPIC)).end).toBe(2)
  })

  it('keeps the first in the log of two incompatible schemas registered at once', async () => {
    const [one, other] = [inLogRegistry(open()), inLogRegistry(open())]
    const registered = await Promise.allSettled([
      one.idFor('t-dextape.Thing', thing({ name: 'note', type: 'string', default: '' })),
      other.idFor('t-dextape.Thing', thing({ name: 'note', type: 'long', default: 0 })),
    ])
    expect(registered.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const [standing] = registered.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    const third = inLogRegistry(open())
    const schema = (await third.schemaFor(standing ?? 0)) as AvroRecord
    expect(await third.idFor('t-dextape.Thing', schema)).toBe(standing)
  })

  it('ignores a record that is not a registration, and skips its offset', async () => {
    const log = open()
    await log.append(SCHEMAS_TOPIC, [entry('not JSON'), entry('null'), entry('{"subject":"x"}')])
    expect(await inLogRegistry(log).idFor('t-dextape.Thing', thing())).toBe(4)
  })

  it('lets one process read what another wrote, and reports an unregistered schema', async () => {
    const [writer, reader] = [createCodec(inLogRegistry(open())), createCodec(inLogRegistry(open()))]
    const retract = { chain: 'eth', from_number: 2, from_hash: 'b', to_number: 1, to_hash: 'a' }
    await writer.prepare('dex.blocks.eth', ['block', 'retract'])
    const bytes = writer.encodeRetract('dex.blocks.eth', retract)
    const strange = Buffer.from(bytes)
    strange.writeUInt32BE(77, 1)
    await reader.learn([strange, bytes])
    expect(reader.decodeLogRecord(bytes)).toEqual({ kind: 'retract', retract })
    expect(() => reader.decodeLogRecord(strange)).toThrow(expect.objectContaining({ code: 'undecodable' }))
  })
})
