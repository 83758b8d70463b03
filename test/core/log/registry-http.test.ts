import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type AvroRecord, schemaVersions } from '../../../schemas/avro.js'
import { createCodec } from '../../../services/core/log/codec.js'
import { httpRegistry } from '../../../services/core/log/registry-http.js'
import { unpackUpdate } from '../../../services/core/log/unpacked-update.js'
import { sharedRegistry } from '../../rig/servers/shared.js'
import { newestSchema } from './arbitraries.js'

const thing = (...fields: AvroRecord['fields']): AvroRecord => ({
  type: 'record',
  name: 'Thing',
  namespace: 'dextape',
  fields: [{ name: 'id', type: 'long' }, ...fields],
})
const RETRACT = { chain: 'eth', from_number: 2, from_hash: 'b', to_number: 1, to_hash: 'a' }

describe('against a registry', () => {
  let running: { url: string }
  beforeAll(async () => {
    running = { url: await sharedRegistry() }
  })

  it('registers once, under FULL_TRANSITIVE, and returns the schema', async () => {
    const [one, other] = [httpRegistry(running), httpRegistry(running)]
    const ids = await Promise.all([one, one, other].map((registry) => registry.idFor('a-dextape.Thing', thing())))
    expect(new Set(ids).size).toBe(1)
    const [id] = ids as [number, number, number]
    expect(await other.idFor('b-dextape.Thing', thing())).toBe(id)
    expect(one.idFor('a-dextape.Thing', thing())).toBe(id)
    expect(await other.schemaFor(id)).toEqual(thing())
    expect(other.schemaFor(id)).toEqual(thing())
    expect(await other.schemaFor(987_654)).toBeUndefined()
    const config = await fetch(`${running.url}/config/a-dextape.Thing`)
    expect(await config.json()).toEqual({ compatibilityLevel: 'FULL_TRANSITIVE' })
  })

  it('accepts the versions of our schemas, and rejects one that is incompatible with any', async () => {
    const registry = httpRegistry(running)
    const subject = 'c-dextape.Thing'
    const first = await registry.idFor(subject, thing())
    expect(await registry.idFor(subject, thing({ name: 'note', type: 'string', default: '' }))).not.toBe(first)
    await expect(registry.idFor(subject, thing({ name: 'note', type: 'long', default: 0 }))).rejects.toMatchObject({
      code: 'incompatible_schema',
      retry: false,
      message: expect.stringMatching(/c-dextape\.Thing.*FULL_TRANSITIVE/),
    })
    await expect(registry.idFor(subject, { ...thing(), name: 'not a name' })).rejects.toMatchObject({
      code: 'schema_refused',
      message: expect.stringContaining(subject),
    })
  })

  it('gives concurrent registrations of one schema the same id', async () => {
    for (let round = 0; round < 10; round++) {
      const schema = thing({ name: `round${round}`, type: 'int', default: 0 })
      const ids = await Promise.all(
        Array.from({ length: 6 }, () => httpRegistry(running).idFor(`r${round}-dextape.Thing`, schema)),
      )
      expect(new Set(ids).size).toBe(1)
    }
  })

  it('carries records from one process to another', async () => {
    const [writer, reader] = [createCodec(httpRegistry(running)), createCodec(httpRegistry(running))]
    await writer.prepare('dex.blocks.eth', ['block', 'retract'])
    const bytes = writer.encodeRetract('dex.blocks.eth', RETRACT)
    await reader.learn([bytes])
    expect(reader.decodeLogRecord(bytes)).toEqual({ kind: 'retract', retract: RETRACT })
  })
})

describe('against a server with prepared responses', () => {
  let server: Server | undefined
  afterEach(() => server?.close())

  type Answer = { status: number; body: string }
  async function answering(answer: (request: IncomingMessage) => Answer | 'nothing'): Promise<string> {
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      const prepared = answer(request)
      if (prepared !== 'nothing') response.writeHead(prepared.status).end(prepared.body)
    }
    const opened = createServer(listener)
    server = opened
    await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve))
    return `127.0.0.1:${(opened.address() as AddressInfo).port}`
  }

  it('sends user and password as basic authentication, and never reports them', async () => {
    const heard: (string | undefined)[] = []
    const host = await answering((request) => {
      heard.push(request.headers.authorization)
      return { status: 401, body: '{"error_code":40101,"message":"who are you?"}' }
    })
    const registry = httpRegistry({ url: `http://user:p%40ss@${host}/registry/` })
    const error = await Promise.resolve(registry.idFor('s', thing())).catch((cause: unknown) => cause as Error)
    expect(error).toMatchObject({ name: 'ConfigError', code: 'registry_no_access', retry: false })
    expect(String((error as Error).message)).toContain(`http://${host}/registry denied access; got 401: who are you?`)
    expect(String((error as Error).message)).not.toMatch(/p@ss|p%40ss/)
    expect(heard).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`])
  })

  it.each([
    ['the server fails', { status: 503, body: 'away' }, /got 503/],
    ['the server throttles', { status: 429, body: '{"message":"slowly"}' }, /got 429: slowly/],
    ['the server never responds', 'nothing' as const, /aborted due to timeout/],
  ])('allows a retry when %s, and accepts the later response', async (_what, answer, message) => {
    let broken = true
    const host = await answering(() => (broken ? answer : { status: 200, body: '{"id":7}' }))
    const registry = httpRegistry({ url: `http://${host}`, timeoutMs: 200 })
    await expect(registry.idFor('s', thing())).rejects.toMatchObject({
      code: 'registry_unavailable',
      retry: true,
      message: expect.stringMatching(message),
    })
    broken = false
    expect(await registry.idFor('s', thing())).toBe(7)
  })

  it('allows a retry when the connection is refused', async () => {
    const registry = httpRegistry({ url: 'http://127.0.0.1:1' })
    await expect(registry.schemaFor(1)).rejects.toMatchObject({ code: 'registry_unavailable', retry: true })
  })

  it('reports a server that is not a registry', async () => {
    const host = await answering(() => ({ status: 200, body: '<html>' }))
    const registry = httpRegistry({ url: `http://${host}` })
    await expect(registry.idFor('s', thing())).rejects.toMatchObject({ code: 'registry_answer', retry: false })
    await expect(registry.schemaFor(1)).rejects.toMatchObject({ code: 'registry_answer', retry: false })
  })

  it.each(['syntax = "proto3";', '"string"', 'null'])('ignores the foreign schema %s', async (schema) => {
    const host = await answering(() => ({ status: 200, body: JSON.stringify({ schema }) }))
    expect(await httpRegistry({ url: `http://${host}` }).schemaFor(1)).toBeUndefined()
  })

  it.each(['block', 'block_update'] as const)('reads a %s whose schema is in canonical form', async (name) => {
    const canonical = canonicalForm(newestSchema(name))
    const host = await answering(() => ({ status: 200, body: JSON.stringify({ schema: JSON.stringify(canonical) }) }))
    const codec = createCodec({
      idFor: () => 5,
      schemaFor: httpRegistry({ url: `http://${host}` }).schemaFor,
    })
    const file = new URL(`../../fixtures/avro/${name}.v${schemaVersions(name).length}`, import.meta.url)
    const bytes = readFileSync(`${file.pathname}.bin`)
    await codec.learn([bytes])
    const decoded = codec.decodeLogRecord(bytes)
    const expected = JSON.parse(readFileSync(`${file.pathname}.json`, 'utf8')) as object
    const record = decoded.kind === 'update' ? unpackUpdate(decoded.update) : (decoded as { block?: unknown }).block
    expect(JSON.parse(JSON.stringify(record))).toMatchObject(expected)
  })
})

/** Like Avro's parsing canonical form: full names, no docs, no defaults. */
function canonicalForm(part: unknown, namespace = ''): unknown {
  if (Array.isArray(part)) return part.map((one) => canonicalForm(one, namespace))
  if (typeof part !== 'object' || part === null) return part
  const { doc: _doc, default: _default, namespace: own, ...rest } = part as Record<string, unknown>
  const inside = typeof own === 'string' ? own : namespace
  const named = typeof rest.type === 'string' && (rest.type === 'record' || rest.type === 'enum')
  const entries = Object.entries(rest).map(([key, value]) => {
    if (key === 'name') return [key, named ? `${inside}.${String(value)}` : value]
    return [key, key === 'symbols' ? value : canonicalForm(value, inside)]
  })
  return Object.fromEntries(entries)
}
