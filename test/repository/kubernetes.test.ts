/** The manifests in infra/kubernetes agree with each other, with the program's ports and with the configuration it takes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { repositoryRoot } from '../../schemas/avro.js'
import { ENVIRONMENT } from '../../services/core/config/environment.js'
import { HTTP_PORTS, loadConfig } from '../../services/core/config/load-config.js'

type Labels = Record<string, string>
type Probe = { httpGet: { path: string; port: string } }
type Container = {
  args: string[]
  env: { name: string; value: string }[]
  ports: { name: string; containerPort: number }[]
  resources: { requests: Labels; limits: Labels }
  securityContext: object
  volumeMounts: { name: string }[]
} & Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', Probe>
type Pod = { containers: Container[]; volumes: { name: string }[]; securityContext: object }
type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Labels }
  spec: {
    replicas?: number
    strategy?: { type?: string }
    maxUnavailable?: number
    selector: Labels & { matchLabels?: Labels }
    ports?: { targetPort: string }[]
    template?: { metadata: { labels: Labels; annotations: Labels }; spec: Pod }
  }
}

const folder = join(repositoryRoot(), 'infra/kubernetes')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const kustomization = parse(read('kustomization.yaml')) as { resources: string[]; images: { newTag: string }[] }
const manifests = kustomization.resources.flatMap((name) =>
  parseAllDocuments(read(name)).map((document) => document.toJS() as Manifest),
)
const ofKind = (kind: string) => manifests.filter((one) => one.kind === kind)
const deployments = ofKind('Deployment').map((one) => [one.metadata.name, one] as const)

const API_VERSIONS: Record<string, string> = {
  ...{ Namespace: 'v1', Service: 'v1', Deployment: 'apps/v1', PodDisruptionBudget: 'policy/v1' },
}

describe('the Kubernetes manifests', () => {
  it('are of known kinds and versions, and of the version of the package', () => {
    const wrong = manifests.filter(({ kind, apiVersion }) => API_VERSIONS[kind] !== apiVersion)
    expect(wrong).toEqual([])
    const { version } = JSON.parse(readFileSync(join(repositoryRoot(), 'package.json'), 'utf8')) as { version: string }
    expect(kustomization.images.map(({ newTag }) => newTag)).toEqual([version])
    expect(deployments.map(([name]) => name)).toEqual(['ingest', 'aggregate', 'serve'])
  })

  it.each(deployments)('%s runs its command with probes on its port, limits and no privileges', (name, { spec }) => {
    const { template, selector, strategy, replicas } = spec
    const pod = template?.spec
    const [container] = pod?.containers ?? []
    const port = HTTP_PORTS[name as keyof typeof HTTP_PORTS]
    expect(template?.metadata.labels).toEqual(selector.matchLabels)
    expect(template?.metadata.annotations['prometheus.io/port']).toBe(String(port))
    expect(container?.args).toEqual([name])
    expect(container?.ports.find((one) => one.name === 'http')?.containerPort).toBe(port)
    const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe]
    expect(probes.map((probe) => probe?.httpGet)).toEqual([
      { path: '/health', port: 'http' },
      { path: '/health', port: 'http' },
      { path: '/ready', port: 'http' },
    ])
    expect(container?.resources).toMatchObject({
      requests: { memory: expect.any(String) },
      limits: { memory: expect.any(String) },
    })
    expect(container?.env.filter((one) => !(one.name in ENVIRONMENT))).toEqual([])
    expect(container?.securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true })
    expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true })
    const volumes = pod?.volumes.map((one) => one.name)
    expect(container?.volumeMounts.map((one) => one.name)).toEqual(volumes)
    // A source has one writer; of the others one is always there.
    expect([replicas, strategy?.type]).toEqual(name === 'ingest' ? [1, 'Recreate'] : [2, undefined])
  })

  it('keep one of each pair through a drain, and reach serve', () => {
    const budgets = ofKind('PodDisruptionBudget').map(({ spec }) => [spec.selector.matchLabels, spec.maxUnavailable])
    const pairs = deployments.filter(([name]) => name !== 'ingest')
    expect(budgets).toEqual(pairs.map(([, { spec }]) => [spec.selector.matchLabels, 1]))
    const [service] = ofKind('Service')
    const serve = deployments.find(([name]) => name === 'serve')?.[1].spec
    expect(service?.spec.selector).toEqual(serve?.selector.matchLabels)
    const ports = serve?.template?.spec.containers[0]?.ports.map(({ name }) => name)
    expect(service?.spec.ports?.map(({ targetPort }) => targetPort)).toEqual(ports)
  })

  it('have a configuration that the program takes, with the secrets of the Secret', () => {
    const env = { KAFKA_SASL_PASSWORD: 'p', CLICKHOUSE_PASSWORD: 'q', DEXTAPE_HOST: '0.0.0.0' }
    const { log, store } = loadConfig({ env, cwd: folder, file: 'dextape.yaml' })
    expect(log).toMatchObject({ kind: 'kafka', ssl: true, sasl: { username: 'dextape', password: 'p' } })
    expect(store).toMatchObject({ kind: 'clickhouse', url: expect.stringContaining('dextape:q@') })
  })
})
