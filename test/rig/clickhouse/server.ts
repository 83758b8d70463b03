/**
 * A ClickHouse for one test file that can be killed, paused and restarted on its data. With CLICKHOUSE_URL it is a database behind
 * a proxy, else a container if Docker is available, else the embedded engine in another process.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { repositoryRoot } from '../../../schemas/avro.js'
import { dockerAnswers, startContainer } from '../servers/container.js'
import { type KillableServer, startKillable } from '../servers/killable.js'
import { steadyPort } from '../servers/steady-port.js'
import { proxyTo } from '../store-proxy.js'

export type ClickHouse = KillableServer & {
  /** A value for CLICKHOUSE_URL, with a database for this test only. */
  readonly url: string
}

export const CLICKHOUSE_IMAGE = 'clickhouse/clickhouse-server:25.8.33.6'
const FRONT = join(repositoryRoot(), 'dist/test/rig/clickhouse/front.js')
const CONTAINER_PORT = 8123

export async function startClickHouse(): Promise<ClickHouse> {
  const shared = process.env.CLICKHOUSE_URL
  if (shared !== undefined) return behindProxy(new URL(shared))
  const port = await steadyPort()
  const server = (await dockerAnswers()) ? await inContainer(port) : await asProcess(port)
  return Object.assign(server, { url: `http://127.0.0.1:${port}/dextape` })
}

function asProcess(port: number): Promise<KillableServer> {
  const directory = mkdtempSync(join(tmpdir(), 'dextape-clickhouse-'))
  return startKillable({
    program: [process.execPath, FRONT, String(port), directory],
    ready: /serves \S+ \(pid (\d+)\)\n/,
    removeData: () => rmSync(directory, { recursive: true, force: true }),
  })
}

async function inContainer(port: number): Promise<KillableServer> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const described = new GenericContainer(CLICKHOUSE_IMAGE)
    .withExposedPorts({ container: CONTAINER_PORT, host: port })
    // Otherwise the user without a password can log in only from inside the container.
    .withEnvironment({ CLICKHOUSE_SKIP_USER_SETUP: '1' })
    .withUlimits({ nofile: { soft: 262_144, hard: 262_144 } })
    .withWaitStrategy(Wait.forHttp('/ping', CONTAINER_PORT))
  return startContainer(described)
}

/** A shared server must not be killed: its connections are closed or stalled instead. */
async function behindProxy(shared: URL): Promise<ClickHouse> {
  const proxy = await proxyTo(shared)
  const database = `rig_${randomBytes(6).toString('hex')}`
  let isAway = false
  const kill = async () => {
    isAway = true
    await proxy.away()
  }
  return {
    url: new URL(`/${database}`, proxy.url).href,
    // Not our process; a signal to it fails.
    pid: Number.NaN,
    kill,
    pause: async () => proxy.stall(),
    resume: async () => proxy.flow(),
    restart: async () => {
      if (!isAway) await proxy.away()
      isAway = false
      proxy.flow()
      await proxy.back()
    },
    stop: async () => {
      await kill()
      const client = createClient({ url: new URL('/', shared) })
      await client.command({ query: `DROP DATABASE IF EXISTS ${database}` })
      await client.close()
    },
  }
}
