/** Brokers that let nobody in without TLS and a user: SASL_SSL with PLAIN, SCRAM and OAUTHBEARER. Java processes. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import { steadyPort } from '../servers/steady-port.js'
import { type Broker, startBrokerProcess } from './broker.js'

export const USER = { username: 'dextape', password: 'a-password-of-tests' }

const ROOT = repositoryRoot()
const fixture = (name: string) => join(ROOT, 'test/fixtures/tls', name)
/** Of the broker's certificate. */
export const AUTHORITY = fixture('first.crt')

export const startSecureBroker = async (): Promise<Broker> => startNode(await steadyPort(2), '')

/** Each is broker and controller; topics without a setting of their own, and Kafka's own, have three copies. */
export async function startSecureBrokers(): Promise<readonly Broker[]> {
  const ports = [await steadyPort(2), await steadyPort(2), await steadyPort(2)]
  const voters = ports.map((port, at) => `${at + 1}@127.0.0.1:${port + 1}`).join()
  const copies = ['default', 'offsets.topic', 'transaction.state.log'].map((topic) => `${topic}.replication.factor=3`)
  const inSync = ['min.insync.replicas=2', 'transaction.state.log.min.isr=2']
  const common = [`controller.quorum.voters=${voters}`, ...copies, ...inSync]
  // One alone waits for the others.
  return Promise.all(ports.map((port, at) => startNode(port, [...common, `node.id=${at + 1}`, ''].join('\n'), '256m')))
}

async function startNode(port: number, more: string, heap = '512m'): Promise<Broker> {
  const directory = mkdtempSync(join(tmpdir(), 'dextape-sasl-'))
  const [keys, settings] = [join(directory, 'keys.pem'), join(directory, 'secure.properties')]
  writeFileSync(keys, readFileSync(fixture('first.key'), 'utf8') + readFileSync(AUTHORITY, 'utf8'), { mode: 0o600 })
  writeFileSync(settings, securedBy(port, keys) + more, { mode: 0o600 })
  const options = ['--settings', settings, '--heap', heap, '--scram', `${USER.username}:${USER.password}`]
  const server = await startBrokerProcess(port, directory, options)
  return Object.assign(server, { brokers: `127.0.0.1:${port}` })
}

/** https://kafka.apache.org/documentation/#security: the broker also talks to itself, as `admin`. */
function securedBy(port: number, keys: string): string {
  const modules = 'org.apache.kafka.common.security'
  const plain = `username="admin" password="admin-of-tests" user_admin="admin-of-tests" user_${USER.username}="${USER.password}"`
  return [
    '',
    `listeners=SASL_SSL://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1}`,
    `advertised.listeners=SASL_SSL://127.0.0.1:${port}`,
    'listener.security.protocol.map=SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name=SASL_SSL',
    'sasl.mechanism.inter.broker.protocol=PLAIN',
    'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${keys}`,
    'ssl.truststore.type=PEM',
    `ssl.truststore.location=${AUTHORITY}`,
    `listener.name.sasl_ssl.plain.sasl.jaas.config=${modules}.plain.PlainLoginModule required ${plain};`,
    `listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=${modules}.scram.ScramLoginModule required;`,
    `listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=${modules}.scram.ScramLoginModule required;`,
    // Accepts unsigned tokens: what is tested is that a token is sent, not who signed it.
    `listener.name.sasl_ssl.oauthbearer.sasl.jaas.config=${modules}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";`,
    '',
  ].join('\n')
}

/** An unsigned token, as the broker of these tests takes it. */
export function unsignedToken(subject: string, lifeS = 3600): string {
  const nowS = Math.floor(Date.now() / 1000)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part({ sub: subject, iat: nowS, exp: nowS + lifeS })}.`
}
