/**
 * A Kafka broker of a test file's own, in a container where a Docker engine answers, else as a Java process (infra/kafka): for
 * tests that kill it or use topics without a prefix. All others share one (rig/servers/shared.ts); one costs 3 s and 150 MB.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import { dockerAnswers, startContainer } from '../servers/container.js'
import { type KillableServer, startKillable } from '../servers/killable.js'
import { steadyPort } from '../servers/steady-port.js'

export type Broker = KillableServer & {
  /** For KAFKA_BROKERS. */
  readonly brokers: string
}

const HERE = join(repositoryRoot(), 'infra/kafka')
export const KAFKA_IMAGE = 'apache/kafka:4.1.0'
const CONTAINER_PORT = 9092
const CONTROLLER_PORT = 9093

export async function startBroker(): Promise<Broker> {
  // The controller has the next one.
  const port = await steadyPort(2)
  const server = (await dockerAnswers()) ? await inContainer(port) : await asProcess(port)
  return Object.assign(server, { brokers: `127.0.0.1:${port}` })
}

const asProcess = (port: number): Promise<KillableServer> =>
  startBrokerProcess(port, mkdtempSync(join(tmpdir(), 'dextape-kafka-')))

/** A Java process with its data in a folder, which goes with it. `more`: further options of infra/kafka/broker.mjs. */
export function startBrokerProcess(
  port: number,
  folder: string,
  more: readonly string[] = [],
): Promise<KillableServer> {
  const place = ['--port', String(port), '--dir', join(folder, 'node')]
  return startKillable({
    program: [process.execPath, join(HERE, 'broker.mjs'), 'start', ...place, ...more, '--until-stdin-ends'],
    ready: /serves \S+ \(pid (\d+)\)\n/,
    removeData: () => rmSync(folder, { recursive: true, force: true }),
  })
}

async function inContainer(port: number): Promise<KillableServer> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const described = new GenericContainer(KAFKA_IMAGE)
    .withExposedPorts({ container: CONTAINER_PORT, host: port })
    .withEnvironment({ ...settingsAsEnvironment(), ...placeInContainer(port) })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
  return startContainer(described)
}

/** The image takes `a.b` as `KAFKA_A_B`. */
function settingsAsEnvironment(): Record<string, string> {
  const lines = readFileSync(join(HERE, 'server.properties'), 'utf8').matchAll(/^([a-z.]+)=(.*)$/gm)
  return Object.fromEntries(
    [...lines].map(([, name = '', value = '']) => [`KAFKA_${name.replaceAll('.', '_').toUpperCase()}`, value]),
  )
}

function placeInContainer(port: number): Record<string, string> {
  return {
    KAFKA_LISTENERS: `PLAINTEXT://:${CONTAINER_PORT},CONTROLLER://:${CONTROLLER_PORT}`,
    KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
    KAFKA_CONTROLLER_QUORUM_VOTERS: `1@localhost:${CONTROLLER_PORT}`,
  }
}
