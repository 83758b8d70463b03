import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RECORD_NAMES, repositoryRoot, schemaVersions } from '../../schemas/avro.js'
import { recordFiles } from '../../schemas/generate.js'
import { incompatibility } from '../../services/core/log/avro-types.js'
import { createCodec } from '../../services/core/log/codec.js'
import { unpackUpdate } from '../../services/core/log/unpacked-update.js'
import { memoryRegistry } from '../core/log/memory-registry.js'

it.each([...recordFiles()])('%s has the types of the newest schemas (to update: npm run generate)', (path, text) => {
  expect(readFileSync(join(repositoryRoot(), path), 'utf8')).toBe(text)
})

describe.each(RECORD_NAMES)('%s', (name) => {
  const versions = schemaVersions(name)

  it('has versions that can all read each other (FULL_TRANSITIVE)', () => {
    const reasons = versions.flatMap((a) => versions.map((b) => incompatibility(a, b)))
    expect(reasons).toEqual(versions.flatMap(() => versions.map(() => undefined)))
  })

  it.each(versions.map((_, index) => index + 1))('still decodes a record of version %i', (version) => {
    const file = join(repositoryRoot(), `test/fixtures/avro/${name}.v${version}`)
    const expected = JSON.parse(readFileSync(`${file}.json`, 'utf8')) as unknown
    const decoded = createCodec(memoryRegistry(versions)).decodeLogRecord(readFileSync(`${file}.bin`))
    const record =
      decoded.kind === 'update'
        ? unpackUpdate(decoded.update)
        : (decoded as unknown as Record<string, unknown>)[decoded.kind]
    // Fields added by later versions have their defaults.
    expect(JSON.parse(JSON.stringify(record))).toMatchObject(expected as object)
  })
})
