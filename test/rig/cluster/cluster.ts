/** A whole installation on a real broker and a ClickHouse of its own: ingest, aggregators and serve as separate processes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChainFacts } from '../../../services/core/domain/chains.js'
import type { KafkaOptions } from '../../../services/core/log/kafka/internals.js'
import type { KafkaLog } from '../../../services/core/log/kafka/kafka-log.js'
import type { StatusReport } from '../../../services/serve/status-report.js'
import { type ClickHouse, startClickHouse } from '../clickhouse/server.js'
import { type Ended, runCommand } from '../http/command.js'
import { type Broker, startBroker } from '../kafka/broker.js'
import { freshPrefix, openTestLog } from '../kafka/open-log.js'
import { moneySections } from '../market/money.js'
import { sharedBroker } from '../servers/shared.js'
import { steadyPort } from '../servers/steady-port.js'
import { type Service, startService } from './service.js'

export const KEY = 'dx_cluster'

export type ClusterPlan = {
  /** Arguments of `dextape ingest`. */
  ingest: readonly string[]
  aggregates?: number
  serves?: number
  /** All of `serves` listen on one WebSocket port. */
  sharesWsPort?: boolean
  /** `shared`: of all test files, under a prefix of this cluster's own, for tests that do not kill it. */
  broker?: 'shared' | BrokersInUse
  /** Run by the services in place of this checkout's command. */
  program?: string
  /** Money of chains that are not built in. */
  chains?: readonly ChainFacts[]
  /** More of the configuration file. */
  settings?: Record<string, unknown>
}

/** One or several that the test started itself, and stops. */
export type BrokersInUse = {
  brokers: string
  /** The section `kafka` of the configuration file. */
  settings: Record<string, unknown>
  /** How the test itself opens the log. */
  options: Partial<KafkaOptions>
}

export type Cluster = {
  readonly broker: Broker
  readonly store: ClickHouse
  readonly ingest: Service
  readonly aggregates: readonly Service[]
  /** The first of `serves`. */
  readonly serve: Service
  readonly serves: readonly Service[]
  /** All three kinds, in the order of the pipe. */
  readonly services: readonly Service[]
  readonly folder: string
  readonly wsUrl: string
  /** Of each of `serves`. */
  readonly wsUrls: readonly string[]
  /** As another process would open it. */
  readonly log: KafkaLog
  status(): Promise<StatusReport>
  /** A command of this installation that ends by itself. */
  run(...args: string[]): Promise<Ended>
  /** Until every chain's updates are folded, stored and served up to this seq. */
  untilSeqs(seqs: ReadonlyMap<string, number>, withinMs?: number): Promise<void>
  /** The end of what each process wrote. */
  tails(lines?: number): string
  /** Ends everything in whatever state it is, and removes what it kept. */
  stop(): Promise<void>
}

export async function startCluster(plan: ClusterPlan): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'dx-cluster-'))
  const closing: (() => Promise<unknown> | unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close()
  }
  try {
    return await start(plan, folder, closing, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(
  plan: ClusterPlan,
  folder: string,
  closing: (() => Promise<unknown> | unknown)[],
  stop: () => Promise<void>,
): Promise<Cluster> {
  const isShared = plan.broker === 'shared'
  const inUse = typeof plan.broker === 'object' ? plan.broker : undefined
  const others = isShared ? await sharedBroker() : inUse?.brokers
  const broker = others === undefined ? await startBroker() : notToBeKilled(others)
  closing.push(() => broker.stop())
  const prefix = isShared ? freshPrefix() : ''
  const store = await startClickHouse()
  closing.push(() => store.stop())
  const log = openTestLog(broker.brokers, prefix, inUse?.options)
  closing.push(() => log.close())
  const env = environmentOf(plan, folder, { broker, prefix, store })

  async function service(
    name: string,
    command: 'ingest' | 'aggregate' | 'serve',
    more: { args?: readonly string[]; env?: Record<string, string> } = {},
  ): Promise<Service> {
    const dataDir = join(folder, name)
    mkdirSync(dataDir)
    const started = startService({
      ...{ name, command, folder, httpPort: await steadyPort(), args: more.args ?? [] },
      ...(plan.program === undefined ? {} : { program: plan.program }),
      env: { ...env, DEXTAPE_DATA_DIR: dataDir, ...more.env },
    })
    closing.push(() => started.kill())
    return started
  }

  const aggregates: Service[] = []
  for (let at = 1; at <= (plan.aggregates ?? 1); at += 1) aggregates.push(await service(`aggregate-${at}`, 'aggregate'))
  const wsUrls: string[] = []
  const sharedPort = plan.sharesWsPort === true ? await steadyPort() : undefined
  const startServe = async (name: string) => {
    const wsPort = sharedPort ?? (await steadyPort())
    wsUrls.push(`ws://127.0.0.1:${wsPort}`)
    return service(name, 'serve', { env: { DEXTAPE_WS_PORT: String(wsPort) } })
  }
  const serve = await startServe('serve')
  const serves = [serve]
  for (let at = 2; at <= (plan.serves ?? 1); at += 1) serves.push(await startServe(`serve-${at}`))
  const ingest = await service('ingest', 'ingest', { args: plan.ingest })
  const services = [ingest, ...aggregates, ...serves]

  /** Of the fold that is furthest: after a failover the one that lost a chain may still tell what it had. */
  async function storedSeqs(): Promise<(chain: string) => number> {
    const all = await Promise.all(aggregates.map((one) => one.metrics()))
    return (chain) => Math.max(0, ...all.map((metrics) => metrics.get(`dextape_store_seq{chain="${chain}"}`) ?? 0))
  }

  const status = async () => (await (await serve.get('/status')).json()) as StatusReport

  return {
    ...{ broker, store, ingest, aggregates, serve, serves, services, folder, log, status, stop },
    ...{ wsUrl: wsUrls[0] ?? '', wsUrls },
    run: (...args) =>
      runCommand(args, {
        cwd: folder,
        env: { ...env, DEXTAPE_DATA_DIR: join(folder, 'command') },
        withinMs: 120_000,
      }),
    async untilSeqs(seqs, withinMs = 300_000) {
      const wanted = [...seqs].map(([chain, seq]) => `${chain} ${seq}`).join(', ')
      await serve.until(
        `seq ${wanted}`,
        async () => {
          const [{ chains }, stored] = await Promise.all([status(), storedSeqs()])
          const served = new Map(chains.map(({ chain, seq }) => [chain, seq]))
          return [...seqs].every(([chain, seq]) => served.get(chain) === seq && stored(chain) === seq)
        },
        withinMs,
      )
    },
    tails: (lines = 40) => services.map((one) => `=== ${one.name}\n${one.tail(lines)}`).join('\n'),
  }
}

function notToBeKilled(brokers: string): Broker {
  const refuse = () => Promise.reject(new Error('this broker is not the cluster’s own'))
  const failures = { kill: refuse, pause: refuse, resume: refuse, restart: refuse }
  return { brokers, pid: Number.NaN, ...failures, stop: async () => {} }
}

function environmentOf(
  { chains = [], settings = {}, broker: given, sharesWsPort }: ClusterPlan,
  folder: string,
  { broker, prefix, store }: { broker: Broker; prefix: string; store: ClickHouse },
): Record<string, string> {
  const config = join(folder, 'dextape.json')
  writeFileSync(
    config,
    JSON.stringify({
      host: '127.0.0.1',
      kafka: {
        ...{ brokers: broker.brokers.split(','), topic_prefix: prefix },
        ...(typeof given === 'object' ? given.settings : {}),
      },
      ...settings,
      ...(sharesWsPort === true ? { ws_port_shared: true } : {}),
      chains: moneySections(chains),
    }),
  )
  return {
    DEXTAPE_CONFIG: config,
    DEXTAPE_API_KEY: KEY,
    CLICKHOUSE_URL: store.url,
  }
}
