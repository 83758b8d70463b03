/** Alerts about the parts of a cluster, each fired in a real Prometheus by its cause on a real broker and a real store. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest'
import { updatesTopic } from '../../services/core/log/port.js'
import { type ClickHouse, startClickHouse } from '../rig/clickhouse/server.js'
import { type Service, startService } from '../rig/cluster/service.js'
import { type StallableBroker, startStallableBroker } from '../rig/kafka/stallable-broker.js'
import { marketMoney, moneySections } from '../rig/market/money.js'
import { type AlertWatch, type Target, watchAlerts } from '../rig/prometheus/server.js'
import { whilePulsing } from '../rig/servers/pulse.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { proxyTo, type StoreProxy } from '../rig/store-proxy.js'
import { generateTape, writeTape } from '../rig/up/recording.js'

const CHAINS = ['bsc', 'eth']
const KEY = 'dx_alerts_of_tests'
/** Ten blocks a second of each chain, for a quarter of an hour. */
const LOAD = { speed: '20', blocks: 9000 }
const folder = mkdtempSync(join(tmpdir(), 'dx-alerts-'))
let watch: AlertWatch
let broker: StallableBroker
let server: ClickHouse
/** Between the services and the store. */
let store: StoreProxy
let aggregate: Service
let serve: Service
const services: Service[] = []

beforeAll(async () => {
  const options = { secondsPerBlock: 2, swapsPerBlock: 2, quietHour: 0, quietDay: 0, maxTimeBackS: 0, nastiness: 0 }
  const lines = generateTape({ seed: 23, chains: CHAINS, blocksPerChain: LOAD.blocks, options })
  const tape = writeTape(join(folder, 'tape.jsonl'), lines)
  watch = await watchAlerts()
  broker = await startStallableBroker()
  server = await startClickHouse()
  store = await proxyTo(new URL(server.url))
  const chains = moneySections(CHAINS.map(marketMoney))
  const config = join(folder, 'dextape.json')
  writeFileSync(config, JSON.stringify({ intervals: { flush_ms: 500 }, chains }))

  async function start(command: 'ingest' | 'aggregate' | 'serve', brokers: string, args: string[] = []) {
    const dataDir = join(folder, command)
    mkdirSync(dataDir)
    const service = startService({
      ...{ name: command, command, folder, args, httpPort: await steadyPort() },
      env: {
        ...{ DEXTAPE_CONFIG: config, DEXTAPE_DATA_DIR: dataDir, DEXTAPE_API_KEY: KEY, KAFKA_BROKERS: brokers },
        ...{ CLICKHOUSE_URL: store.url, DEXTAPE_WS_PORT: String(await steadyPort()) },
      },
    })
    services.push(service)
    return service
  }
  aggregate = await start('aggregate', broker.brokers)
  serve = await start('serve', broker.stallable)
  await start('ingest', broker.brokers, ['--events', tape, '--speed', LOAD.speed])
  await serve.until('both chains', async () => {
    const { chains: served } = (await (await serve.get('/status')).json()) as { chains: { seq: number }[] }
    return served.length === CHAINS.length && served.every(({ seq }) => seq > 50)
  })
  for (const service of [aggregate, serve]) await watch.scrape(targetOf(service))
}, 300_000)

afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(services.map((one) => `${one.name}\n${one.tail(15)}`).join('\n'))
})

afterAll(async () => {
  for (const one of services) await one.kill()
  await store?.close()
  await server?.stop()
  await broker?.stop()
  await watch?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The same object for the same service, by its address. */
const targets = new Map<string, Target>()
function targetOf({ rest }: Service): Target {
  const target = targets.get(rest) ?? { url: rest }
  targets.set(rest, target)
  return target
}

/** Requests that only the store can answer, each another one, until the signal. */
async function askStore(signal: AbortSignal, atOnce: number): Promise<void> {
  const ask = async (at: number) => {
    const id = `${Date.now()}${at}`.padStart(64, '0')
    const path = `/v2/txs/detail?chain=eth&account_address=0x${id.slice(-40)}&tx_hash=0x${id}`
    await fetch(`${serve.rest}${path}`, { headers: { 'x-api-key': KEY }, signal }).then(
      (response) => response.arrayBuffer(),
      () => {},
    )
  }
  const askers = Array.from({ length: atOnce }, async (_, at) => {
    while (!signal.aborted) {
      await ask(at)
      await sleep(100)
    }
  })
  await Promise.all(askers)
}

async function whileAsking(atOnce: number, work: () => Promise<void>): Promise<void> {
  const asking = new AbortController()
  const asked = askStore(asking.signal, atOnce)
  try {
    await work()
  } finally {
    asking.abort()
    await asked
  }
}

async function untilCaughtUp(): Promise<void> {
  await serve.until('ready', serve.isReady)
  await aggregate.until('everything is stored', async () => {
    const metrics = await aggregate.metrics()
    return CHAINS.every((chain) => (metrics.get(`dextape_fold_backlog_records{chain="${chain}"}`) ?? 999) < 20)
  })
}

describe('a store that misbehaves', () => {
  /** Bytes pass for a moment after each pause. */
  const whilePausing = (pauseMs: number, work: () => Promise<void>) =>
    whilePulsing({ stop: store.stall, stopMs: pauseMs, go: store.flow, goMs: pauseMs / 30 }, work)

  it('DextapeRequestsSlow: it answers every two or three seconds', async () => {
    const fires = () => whileAsking(4, () => watch.fires('DextapeRequestsSlow', targetOf(serve)))
    await whilePausing(2_600, fires)
    await untilCaughtUp()
  })

  it('DextapeStoreSlow: each insert takes half a second and more', async () => {
    await whilePausing(500, () => watch.fires('DextapeStoreSlow', targetOf(aggregate)))
    await untilCaughtUp()
  })

  it('DextapeQueriesWaiting, DextapeStoreStalled: it does not answer', async () => {
    await whileAsking(60, async () => {
      await watch.fires('DextapeQueriesWaiting', targetOf(serve), () => store.stall())
      await watch.fires('DextapeStoreStalled', targetOf(aggregate))
    })
    store.flow()
    await untilCaughtUp()
  })

  it('DextapePartAway, DextapeRequestsFailing, DextapeFoldBehind: it is gone', async () => {
    await whileAsking(2, async () => {
      await watch.fires('DextapePartAway', targetOf(aggregate), () => store.away())
      await watch.fires('DextapeRequestsFailing', targetOf(serve))
      await watch.fires('DextapeFoldBehind', targetOf(aggregate))
    })
    await store.back()
    await untilCaughtUp()
  })
})

describe('a log that misbehaves', () => {
  it('DextapeServeBehind: serve cannot read it; DextapeUpdatesMissing: then updates are deleted', async () => {
    await watch.fires('DextapeServeBehind', targetOf(serve), () => broker.door.stall())
    await watch.fires('DextapeUpdatesMissing', targetOf(serve), async () => {
      await deleteUpdates()
      broker.door.flow()
    })
    await untilCaughtUp()
  })

  it('DextapeNotReady: serve starts and cannot read it', async () => {
    await watch.fires('DextapeNotReady', targetOf(serve), async () => {
      broker.door.stall()
      await serve.restart()
    })
    broker.door.flow()
    await untilCaughtUp()
  })
})

/** As a retention that is too short does. */
async function deleteUpdates(): Promise<void> {
  const admin = new Kafka({ brokers: [broker.brokers], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  // The request needs to know who leads each topic.
  await admin.fetchTopicMetadata()
  for (const chain of CHAINS) {
    const topic = updatesTopic(chain)
    const [{ high } = { high: '0' }] = await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: high }] })
  }
  await admin.disconnect()
}
