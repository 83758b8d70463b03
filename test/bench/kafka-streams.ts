/**
 * `dextape aggregate` from Kafka to ClickHouse, compared with ten candle windows on Kafka Streams, exactly once, on the same broker:
 * swaps per second of each, one after the other. Ours also makes prices, windows, makers, undo data and rows.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Kafka, logLevel } from 'kafkajs'
import { blocksTopic } from '../../services/core/log/port.js'
import { type Cluster, startCluster } from '../rig/cluster/cluster.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { cpuSecondsOf } from '../rig/servers/figures.js'
import { fetchPeer, runPeer } from './kafka-streams/peer.js'
import { printTable } from './measure.js'
import { BENCH_CHAIN, benchBlocks, benchFacts } from './workload.js'

const PLAN = { pools: 400, wallets: 4000, blocks: 1000 }
const SWAPS = PLAN.blocks * 100
const BATCH = 5000
/** What holds today; 2.5 is the goal. */
const LIMIT = 0.3
const GOAL = 2.5

type Cost = { cpuS: number; wallS: number }

export async function benchKafkaStreams(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-bench-streams-'))
  let cluster: Cluster | undefined
  try {
    await fetchPeer()
    const lines = [...benchBlocks(PLAN)].map((block) => ({ kind: 'block' as const, ...block }))
    const events = writeRecording(folder, 'market.jsonl', lines)
    cluster = await startCluster({ ingest: ['--events', events, '--speed', 'max'], chains: [benchFacts] })
    const ours = await measureAggregate(cluster, lines.length)
    const peer = await measurePeer(cluster.broker.brokers)
    const row = (name: string, { cpuS, wallS }: Cost) => [name, (cpuS / SWAPS) * 1e6, SWAPS / wallS, peer.wallS / wallS]
    printTable(`Kafka to candles (${SWAPS.toLocaleString('en')} swaps, ${PLAN.pools} pools)`, [
      ['', 'CPU µs/swap', 'swaps/s', '× peer'],
      row('Kafka Streams, exactly once: candles alone', peer),
      row('aggregate, everything, stored in ClickHouse', ours),
    ])
    const ratio = peer.wallS / ours.wallS
    console.log(
      `  ours ÷ peer = ${ratio.toFixed(2)} (at least ${LIMIT}, goal ${GOAL})${ratio < LIMIT ? '  TOO LITTLE' : ''}`,
    )
    return ratio >= LIMIT
  } finally {
    await cluster?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The other processes do not run meanwhile: ingest has published everything, and serve is stopped. */
async function measureAggregate({ aggregates, ingest, serve, log }: Cluster, records: number): Promise<Cost> {
  const [aggregate] = aggregates
  if (aggregate === undefined) throw new Error('the cluster has no aggregate')
  await aggregate.kill()
  const topic = blocksTopic(BENCH_CHAIN)
  await ingest.until('everything published', async () => (await log.info(topic)).end >= records)
  await ingest.kill()
  await serve.kill()
  await aggregate.restart()
  const seq = async (name: string) => (await aggregate.metrics()).get(`${name}{chain="${BENCH_CHAIN}"}`) ?? 0
  await aggregate.until('its first block', async () => (await seq('dextape_fold_seq')) > 0)
  const startedMs = performance.now()
  await aggregate.until('everything stored', async () => (await seq('dextape_store_seq')) === records)
  return { wallS: (performance.now() - startedMs) / 1000, cpuS: cpuSecondsOf(aggregate.pid) }
}

async function measurePeer(brokers: string): Promise<Cost> {
  const kafka = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: ['peer.swaps', 'peer.candles'].map((topic) => ({ topic, numPartitions: 1 })) })
  await admin.disconnect()
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  let messages: { key: string; value: Buffer }[] = []
  for (const { time, events } of benchBlocks(PLAN)) {
    for (const event of events) {
      if (event.type === 'swap') messages.push({ key: event.pool, value: swapValue(time * 1000, event) })
    }
    if (messages.length < BATCH) continue
    await producer.send({ topic: 'peer.swaps', messages })
    messages = []
  }
  if (messages.length > 0) await producer.send({ topic: 'peer.swaps', messages })
  await producer.disconnect()
  return runPeer(brokers, 'peer.swaps', 'peer.candles', SWAPS)
}

/** Its price and volumes are in the record: the peer computes none. */
function swapValue(timeMs: number, { amount_in, amount_out }: { amount_in: string; amount_out: string }): Buffer {
  const value = Buffer.alloc(32)
  value.writeBigInt64BE(BigInt(timeMs))
  value.writeDoubleBE(Number(amount_in) / Number(amount_out), 8)
  value.writeDoubleBE(Number(amount_in) / 1e18, 16)
  value.writeDoubleBE(Number(amount_out) / 1e18, 24)
  return value
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await benchKafkaStreams()) ? 0 : 1
