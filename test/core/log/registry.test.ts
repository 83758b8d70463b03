import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AvroRecord } from '../../../schemas/avro.js'
import { openEmbedded } from '../../../services/core/log/embedded-log.js'
import { subjectOf } from '../../../services/core/log/registry.js'
import { newestSchema } from './arbitraries.js'
import { entry } from './contract.js'

let path: string
let opened: ReturnType<typeof openEmbedded>[]
const open = () => {
  const embedded = openEmbedded({ path })
  opened.push(embedded)
  return embedded
}

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'dextape-registry-'))
  opened = []
})
afterEach(async () => {
  for (const { log } of opened) await log.close()
  rmSync(path, { recursive: true, force: true })
})

const record = (...fields: AvroRecord['fields']): AvroRecord => ({
  type: 'record',
  name: 'Thing',
  namespace: 'dextape',
  fields: [{ name: 'id', type: 'long' }, ...fields],
})

it('names subjects by topic and record', () => {
  expect(subjectOf('dex.blocks.eth', newestSchema('block'))).toBe('dex.blocks.eth-dextape.Block')
})

it('numbers schemas from 1, with one lasting id per text', async () => {
  const { log, registry } = open()
  expect(registry.idFor('a-dextape.Block', newestSchema('block'))).toBe(1)
  expect(registry.idFor('a-dextape.Retract', newestSchema('retract'))).toBe(2)
  expect(registry.idFor('b-dextape.Block', newestSchema('block'))).toBe(1)
  await log.close()
  const again = open().registry
  expect(again.schemaFor(1)).toEqual(newestSchema('block'))
  expect(again.schemaFor(3)).toBeUndefined()
  expect(again.idFor('c-dextape.Update', newestSchema('update'))).toBe(3)
  expect(again.idFor('a-dextape.Retract', newestSchema('retract'))).toBe(2)
})

it('agrees with another registry on the same data while records are appended', async () => {
  const [one, other] = [open(), open()]
  const appended = one.log.append('t', [entry('a')])
  expect(one.registry.idFor('a-dextape.Block', newestSchema('block'))).toBe(1)
  expect(other.registry.idFor('a-dextape.Update', newestSchema('update'))).toBe(2)
  expect(other.registry.schemaFor(1)).toEqual(newestSchema('block'))
  expect(one.registry.schemaFor(2)).toEqual(newestSchema('update'))
  expect(await appended).toBe(0)
})

it('accepts a version compatible with every other, and rejects one that is not, storing nothing', () => {
  const { registry } = open()
  const subject = 't-dextape.Thing'
  expect(registry.idFor(subject, record())).toBe(1)
  expect(registry.idFor(subject, record({ name: 'note', type: 'string', default: '' }))).toBe(2)
  expect(() => registry.idFor(subject, record({ name: 'note', type: 'string' }))).toThrow(/version 1.*FULL_TRANSITIVE/)
  // Compatible with version 1 but not with version 2: transitive means all of them.
  expect(() => registry.idFor(subject, record({ name: 'note', type: 'long', default: 0 }))).toThrow(/version 2/)
  expect(registry.schemaFor(3)).toBeUndefined()
  expect(registry.idFor('other-dextape.Thing', record({ name: 'note', type: 'long', default: 0 }))).toBe(3)
})
