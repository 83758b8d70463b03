/** A broker that demands TLS and a user, and a ClickHouse that does too: each mechanism, and a whole cluster on both. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KafkaChoice, SaslChoice } from '../../services/core/config/index.js'
import { openFencedTopic } from '../../services/core/log/kafka/fenced-topic.js'
import { openKafka } from '../../services/processes/platform/kafka.js'
import { STORE_AUTHORITY, STORE_USER, startSecureFront } from '../rig/clickhouse/secure-front.js'
import { startClickHouse } from '../rig/clickhouse/server.js'
import { startService } from '../rig/cluster/service.js'
import { runCommand } from '../rig/http/command.js'
import type { Broker } from '../rig/kafka/broker.js'
import { freshPrefix } from '../rig/kafka/open-log.js'
import { AUTHORITY, startSecureBroker, USER, unsignedToken } from '../rig/kafka/secure-broker.js'
import { steadyPort } from '../rig/servers/steady-port.js'

const folder = mkdtempSync(join(tmpdir(), 'dextape-sasl-'))
const tokenFile = join(folder, 'token')
let broker: Broker

beforeAll(async () => {
  broker = await startSecureBroker()
}, 120_000)
afterAll(async () => {
  await broker?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const NOTHING = { onUnreachable: () => {}, onReachable: () => {} }

function open(sasl: SaslChoice | undefined, more: Partial<KafkaChoice> = {}) {
  return openKafka(
    {
      ...{ kind: 'kafka', brokers: [broker.brokers], registry: { kind: 'in_log' }, prefix: freshPrefix(), ssl: true },
      ...{ tls: { ca: AUTHORITY }, ...(sasl === undefined ? {} : { sasl }), ...more },
    },
    NOTHING,
    5_000,
  )
}

describe('a broker with SASL_SSL', () => {
  const mechanisms: SaslChoice[] = [
    { mechanism: 'plain', ...USER },
    { mechanism: 'scram-sha-256', ...USER },
    { mechanism: 'scram-sha-512', ...USER },
    { mechanism: 'oauthbearer', tokenFile },
  ]

  it.each(mechanisms)(
    'lets in $mechanism: appends, reads and transactions work',
    async (sasl) => {
      writeFileSync(tokenFile, `${unsignedToken('dextape')}\n`)
      const log = open(sasl)
      const entry = { key: 'k', value: Buffer.from('v'), timestampMs: 1 }
      expect(await log.append('dex.blocks.eth', [entry])).toBe(0)
      expect((await log.read('dex.blocks.eth', { from: 0 })).map(({ value }) => String(value))).toEqual(['v'])
      const state = openFencedTopic(log, 'dex.state.eth')
      await state.claim(() => {})
      await state.commit([{ key: 'a', value: Buffer.from('1') }])
      await state.close()
      await log.close()
    },
    60_000,
  )

  it('waits while its token has expired: the file is read again for each connection', async () => {
    writeFileSync(tokenFile, unsignedToken('dextape', -3600))
    const log = open({ mechanism: 'oauthbearer', tokenFile })
    await expect(log.topicNames()).rejects.toThrow(/unreachable/)
    writeFileSync(tokenFile, unsignedToken('dextape'))
    expect(await log.topicNames()).toEqual([])
    await log.close()
  }, 60_000)

  it.each([
    ['a wrong password', { mechanism: 'scram-sha-512', username: 'dextape', password: 'wrong' }, /denied access/],
    ['an unknown user', { mechanism: 'plain', username: 'nobody', password: 'wrong' }, /denied access/],
  ] as const)(
    'refuses %s at once, without the password in the message',
    async (_, sasl, message) => {
      const log = open(sasl)
      const error = (await log.topicNames().catch((thrown: unknown) => thrown)) as Error
      expect(error.message).toMatch(message)
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('wrong')
      await log.close()
    },
    60_000,
  )

  it.each([
    ['without TLS', { ssl: false }],
    ['with an authority that did not sign its certificate', { tls: { ca: STORE_AUTHORITY } }],
  ])(
    'is unreachable %s',
    async (_, more) => {
      const log = open({ mechanism: 'plain', ...USER }, more)
      await expect(log.topicNames()).rejects.toThrow(/unreachable/)
      await log.close()
    },
    60_000,
  )
})

it('a cluster runs on both, and doctor prints no secret', async () => {
  const store = await startClickHouse()
  const front = await startSecureFront(Number(new URL(store.url).port))
  const password = join(folder, 'password')
  writeFileSync(password, `${USER.password}\n`)
  const env = {
    ...{ KAFKA_BROKERS: broker.brokers, KAFKA_SSL_CA: AUTHORITY, KAFKA_SASL_MECHANISM: 'scram-sha-512' },
    ...{ KAFKA_SASL_USERNAME: USER.username, KAFKA_SASL_PASSWORD_FILE: password },
    ...{ CLICKHOUSE_URL: front.url, CLICKHOUSE_USER: STORE_USER.user, CLICKHOUSE_PASSWORD: STORE_USER.password },
    ...{ CLICKHOUSE_CA: STORE_AUTHORITY, DEXTAPE_API_KEY: 'dx_cluster' },
  }
  const config = join(folder, 'dextape.json')
  writeFileSync(config, JSON.stringify({ simulator: { history_h: 0 } }))
  const start = async (name: 'ingest' | 'aggregate' | 'serve', args: string[] = []) =>
    startService({
      ...{ name, command: name, folder, httpPort: await steadyPort(), args },
      env: {
        ...env,
        ...{
          DEXTAPE_CONFIG: config,
          DEXTAPE_DATA_DIR: join(folder, name),
          DEXTAPE_WS_PORT: String(await steadyPort()),
        },
      },
    })
  const services = [await start('aggregate'), await start('serve'), await start('ingest', ['--simulate'])]
  try {
    const serve = services[1]
    await serve?.until(
      'a block of each chain',
      async () => {
        const { chains } = (await (await serve.get('/status')).json()) as { chains: { seq: number }[] }
        return chains.length === 3 && chains.every(({ seq }) => seq > 3)
      },
      120_000,
    )
    const doctor = await runCommand(['doctor'], {
      cwd: folder,
      env: { ...env, DEXTAPE_HTTP_PORT: '0' },
      withinMs: 60_000,
    })
    expect(doctor.out).toMatch(/ok .*Kafka at \S+ responds/)
    expect(doctor.out).toMatch(/ok .*ClickHouse at \S+ responds/)
    const all = [doctor.out, doctor.err, ...services.map((one) => one.tail(1000))].join('\n')
    for (const secret of [USER.password, STORE_USER.password, encodeURIComponent(STORE_USER.password)])
      expect(all).not.toContain(secret)
  } catch (error) {
    throw new Error(services.map((one) => `${one.name}\n${one.tail(20)}`).join('\n'), { cause: error })
  } finally {
    for (const one of services) await one.kill()
    await front.close()
    await store.stop()
  }
}, 300_000)
