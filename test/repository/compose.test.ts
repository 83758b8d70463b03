/** Checks docker-compose.yml and its image without a Docker engine. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../../schemas/avro.js'
import { ENVIRONMENT } from '../../services/core/config/environment.js'
import { HTTP_PORTS } from '../../services/core/config/load-config.js'
import { CLICKHOUSE_IMAGE } from '../rig/clickhouse/server.js'
import { KAFKA_IMAGE } from '../rig/kafka/broker.js'

type Service = {
  image: string
  build?: { context: string; dockerfile: string }
  command?: string[]
  restart: string
  environment: Record<string, string | number>
  depends_on?: Record<string, { condition: string }>
  ports?: string[]
  volumes?: string[]
  healthcheck: { test: string[]; interval: string; timeout: string; retries: number; start_period: string }
  deploy: { resources: { limits: { memory: string; cpus: string } } }
  container_name?: string
  profiles?: string[]
}
type Compose = { services: Record<string, Service>; volumes: Record<string, null> }

const root = repositoryRoot()
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const { services, volumes } = parse(read('docker-compose.yml'), { merge: true }) as Compose
const all = Object.entries(services)
const ours = all.filter(([, { build }]) => build !== undefined)
const serviceOf = (name: string): Service => {
  const service = services[name]
  if (service === undefined) throw new Error(`no service ${name} in docker-compose.yml`)
  return service
}

describe('docker-compose.yml', () => {
  it('has the log, its registry, the store and the three services, and Grafana on demand', () => {
    const always = all.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name)
    expect(always.sort()).toEqual(['aggregate', 'clickhouse', 'ingest', 'kafka', 'registry', 'serve'])
    expect(serviceOf('grafana').profiles).toEqual(['grafana'])
    expect(ours.map(([name, { command }]) => [name, command])).toEqual([
      ['ingest', ['ingest', '--simulate']],
      ['aggregate', ['aggregate']],
      ['serve', ['serve']],
    ])
  })

  it('pins the versions the tests run', () => {
    const version = (JSON.parse(read('package.json')) as { version: string }).version
    for (const [, { image }] of all) expect(image).toMatch(/^[a-z/-]+:\d+\.\d+\.\d+(\.\d+)?$/)
    for (const [, { image }] of ours) expect(image).toBe(`dextape:${version}`)
    expect(serviceOf('kafka').image).toBe(KAFKA_IMAGE)
    expect(KAFKA_IMAGE).toBe(`apache/kafka:${/<kafka\.version>(.+)</.exec(read('infra/kafka/pom.xml'))?.[1]}`)
    expect(serviceOf('clickhouse').image).toBe(CLICKHOUSE_IMAGE)
    const registry = /VERSION = '(.+)'/.exec(read('test/rig/registry/apicurio.ts'))?.[1]
    expect(serviceOf('registry').image).toBe(`apicurio/apicurio-registry:${registry}`)
  })

  it.each(all)('%s has a health check, limits and a restart policy', (_, { healthcheck, deploy, restart }) => {
    expect(healthcheck).toEqual({
      test: expect.arrayContaining(['CMD']),
      interval: expect.stringMatching(/^\d+s$/),
      timeout: expect.stringMatching(/^\d+s$/),
      retries: expect.any(Number),
      start_period: expect.stringMatching(/^\d+s$/),
    })
    expect(deploy.resources.limits).toEqual({
      memory: expect.stringMatching(/^\d+g$/),
      cpus: expect.stringMatching(/^\d+$/),
    })
    expect(restart).toBe('unless-stopped')
  })

  it('waits only for existing services, until they are healthy', () => {
    const waits = all.flatMap(([, { depends_on }]) => Object.entries(depends_on ?? {}))
    expect(waits.length).toBeGreaterThan(5)
    for (const [name, { condition }] of waits) {
      expect(serviceOf(name).healthcheck).toBeDefined()
      expect(condition).toBe('service_healthy')
    }
  })

  it.each(ours)('%s gets the addresses of the others in known variables', (_, { environment, depends_on }) => {
    expect(Object.keys(environment).filter((name) => !(name in ENVIRONMENT))).toEqual([])
    expect(environment.KAFKA_BROKERS).toBe('kafka:9092')
    const hosts = ['CLICKHOUSE_URL', 'SCHEMA_REGISTRY_URL'].map((name) => new URL(String(environment[name])).host)
    expect(hosts).toEqual(['clickhouse:8123', 'registry:8080'])
    expect(Object.keys(depends_on ?? {})).toEqual(expect.arrayContaining(['kafka', 'registry']))
  })

  it.each(ours)('%s listens on all addresses of its container', (_, { environment }) => {
    expect(environment.DEXTAPE_HOST).toBe('0.0.0.0')
  })

  it('checks each service at its HTTP port', () => {
    const checked = ours.map(([name, { healthcheck }]) => [name, healthcheck.test.at(-1)])
    const listening = Object.entries(HTTP_PORTS).map(([name, port]) => [name, `http://127.0.0.1:${port}/ready`])
    expect(checked.sort()).toEqual(listening.sort())
    for (const [, { healthcheck }] of ours) expect(existsSync(join(root, healthcheck.test[2] ?? ''))).toBe(true)
  })

  it('exposes only REST and WebSocket to other machines, and keeps aggregate scalable', () => {
    const open = all.flatMap(([name, { ports }]) => (ports ?? []).map((port) => `${name} ${port}`))
    expect(open).toEqual([
      'kafka 127.0.0.1:29092:29092',
      'registry 127.0.0.1:8085:8080',
      'clickhouse 127.0.0.1:8123:8123',
      'serve 8080:8080',
      'serve 8081:8081',
      'grafana 127.0.0.1:3000:3000',
    ])
    const { ports, volumes: kept, container_name } = serviceOf('aggregate')
    expect({ ports, kept, container_name }).toEqual({})
  })

  it('mounts declared volumes and existing files', () => {
    const mounts = all.flatMap(([, { volumes: mounted }]) => mounted ?? []).map((mount) => mount.split(':')[0] ?? '')
    const [files, named] = [
      mounts.filter((from) => from.startsWith('.')),
      mounts.filter((from) => !from.startsWith('.')),
    ]
    expect(named.sort()).toEqual(Object.keys(volumes).sort())
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  it('contains no secret', () => {
    const secrets = all.flatMap(([, { environment }]) =>
      Object.entries(environment).filter(([name]) => /PASSWORD|SECRET|TOKEN|_KEY$/.test(name)),
    )
    expect(secrets).toEqual([
      ['DEXTAPE_API_KEY', expect.stringMatching(/^\$\{DEXTAPE_API_KEY:-\}$/)],
      ['DEXTAPE_WS_TOKEN_SECRET', expect.stringMatching(/^\$\{DEXTAPE_WS_TOKEN_SECRET:-\}$/)],
      ['DEXTAPE_API_KEY', expect.stringMatching(/^\$\{DEXTAPE_API_KEY:-\}$/)],
    ])
    for (const [, { environment }] of ours) expect(String(environment.CLICKHOUSE_URL)).not.toContain('@')
  })
})

describe('the image', () => {
  const dockerfile = read(serviceOf('serve').build?.dockerfile ?? '')
  const lines = dockerfile.split('\n')
  const taken = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' '),
  )

  it('listens on all addresses of its container', () => {
    expect(dockerfile).toMatch(/^ENV .*\bDEXTAPE_HOST=0\.0\.0\.0\b/m)
  })

  it('is built on one pinned Node 24 with a glibc that supports the push server', () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    expect(new Set(bases)).toEqual(new Set(['node:24.21.0-trixie-slim']))
  })

  it('copies existing files, exactly those that .dockerignore allows', () => {
    expect(taken.filter((source) => !existsSync(join(root, source)))).toEqual([])
    const allowed = read('.dockerignore').matchAll(/^!(.+)$/gm)
    expect([...allowed].map(([, name]) => name).sort()).toEqual([...taken].sort())
    expect(read('.dockerignore')).toMatch(/^\*$/m)
  })

  it('does not run as root', () => {
    const user = lines.indexOf('USER node')
    expect(user).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith('RUN ')))
    expect(lines.findLastIndex((line) => line.startsWith('USER '))).toBe(user)
  })
})
