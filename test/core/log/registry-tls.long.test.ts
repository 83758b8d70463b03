/** A registry that demands TLS, and one behind a front that demands a user: as the configuration names them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AvroRecord, repositoryRoot } from '../../../schemas/avro.js'
import { loadConfig } from '../../../services/core/config/load-config.js'
import type { KafkaLog } from '../../../services/core/log/kafka/kafka-log.js'
import { registryOf } from '../../../services/processes/platform/kafka.js'
import { STORE_AUTHORITY, STORE_USER, startSecureFront } from '../../rig/clickhouse/secure-front.js'
import { type RunningRegistry, startSecureRegistry } from '../../rig/registry/apicurio.js'
import { sharedRegistry } from '../../rig/servers/shared.js'

const fixture = (name: string) => join(repositoryRoot(), 'test/fixtures/tls', name)
const SCHEMA: AvroRecord = {
  type: 'record',
  name: 'Thing',
  namespace: 'dextape',
  fields: [{ name: 'id', type: 'long' }],
}
const ca = fixture('first.crt')

const folder = mkdtempSync(join(tmpdir(), 'dextape-registry-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** As a process opens it from these settings. */
function open(settings: Record<string, unknown>) {
  const file = join(folder, 'dextape.json')
  writeFileSync(file, JSON.stringify({ kafka: { brokers: ['127.0.0.1:1'], ...settings } }))
  const { log } = loadConfig({ env: {}, cwd: folder, file })
  if (log.kind !== 'kafka') throw new Error('no Kafka')
  return registryOf(log, {} as KafkaLog)
}

describe('a registry with TLS', () => {
  let registry: RunningRegistry
  beforeAll(async () => {
    registry = await startSecureRegistry({ cert: ca, key: fixture('first.key') })
  }, 120_000)
  afterAll(() => registry?.stop())

  it('lets in a client that has its authority', async () => {
    const trusted = open({ schema_registry_url: registry.url, schema_registry_tls: { ca } })
    const id = await trusted.idFor('tls-dextape.Thing', SCHEMA)
    expect(await trusted.schemaFor(id)).toEqual(SCHEMA)
    const other = open({ schema_registry_url: registry.url, schema_registry_tls: { ca } })
    expect([await other.idFor('tls-dextape.Thing', SCHEMA), await other.schemaFor(id)]).toEqual([id, SCHEMA])
  })

  it.each([
    ['no authority of its own', {}],
    ['an authority that did not sign it', { schema_registry_tls: { ca: fixture('second.crt') } }],
  ])('does not talk to a client with %s', async (_, tls) => {
    const registryOfOthers = open({ schema_registry_url: registry.url, ...tls })
    await expect((async () => registryOfOthers.idFor('x-dextape.Thing', SCHEMA))()).rejects.toMatchObject({
      ...{ code: 'registry_unavailable', retry: true },
    })
  })
})

describe('a registry with TLS and users', () => {
  it('lets in the user of the settings and nobody else, and no message has the password', async () => {
    const behind = new URL(await sharedRegistry())
    const front = await startSecureFront(Number(behind.port))
    const url = new URL(behind.pathname, front.url).href
    const tls = { schema_registry_tls: { ca: STORE_AUTHORITY } }
    const known = { schema_registry_user: STORE_USER.user, schema_registry_password: STORE_USER.password }
    const id = await open({ schema_registry_url: url, ...tls, ...known }).idFor('user-dextape.Thing', SCHEMA)
    expect(id).toEqual(expect.any(Number))
    const unknown = { ...known, schema_registry_password: 'a-wrong-one' }
    const refused = open({ schema_registry_url: url, ...tls, ...unknown })
    const error = (await (async () => refused.idFor('user-dextape.Thing', SCHEMA))().catch((thrown) => thrown)) as Error
    expect(error).toMatchObject({ code: 'registry_no_access' })
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('a-wrong-one')
    await front.close()
  })
})
