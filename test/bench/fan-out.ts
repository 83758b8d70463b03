/**
 * Pushes through the encoder and the hub, compared with a bare uWebSockets.js publish of the same texts to the same
 * sockets, in CPU-seconds of the serving process. `fan-out.js serve bare|hub` runs that process; without arguments it
 * runs the reader.
 */

import uWS, { type WebSocket } from 'uWebSockets.js'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket as NetSocket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import { pairStateOf, UNKNOWN_TOKEN } from '../../services/serve/memory/served-chain.js'
import { encodeUpdate } from '../../services/serve/push/encode-update.js'
import { createHub, type Subscription } from '../../services/serve/push/hub.js'
import { txChannel } from '../../services/serve/push/topics/tx.js'
import { snapshotUpdate, type UpdateSnapshot } from '../../services/serve/push/update-snapshot.js'
import { createServeMetrics } from '../../services/serve/serve-metrics.js'
import { pairInfo, pairUpdate, trade, update } from '../serve/updates.js'
import { type Measured, measure, printTable } from './measure.js'

const SOCKETS = 500
const PAIRS = 200
const PAIRS_A_SOCKET = 20
const MOMENTS = 200
const TRADES_A_MOMENT = 50
const DELIVERIES = (MOMENTS * TRADES_A_MOMENT * SOCKETS * PAIRS_A_SOCKET) / PAIRS
const LIMIT = 1.5
const CHAIN = 'eth'

type Way = 'bare' | 'hub'
const pairName = (index: number): string => `0x${(index % PAIRS).toString(16).padStart(40, '0')}`

export async function benchFanOut(): Promise<boolean> {
  const bare = await run('bare')
  const hub = await run('hub')
  const ratio = hub.cpuS / bare.cpuS
  const row = ({ name, cpuS, wallS }: Measured) => [
    name,
    (cpuS / DELIVERIES) * 1e6,
    cpuS / bare.cpuS,
    DELIVERIES / wallS,
  ]
  printTable(
    `Fan-out (${SOCKETS} sockets, ${PAIRS_A_SOCKET} subscriptions each, ${DELIVERIES.toLocaleString('en')} pushes)`,
    [['', 'CPU µs/push', '× bare', 'pushes/s'], row(bare), row(hub)],
  )
  console.log(`  hub ÷ bare = ${ratio.toFixed(2)} (limit ${LIMIT})${ratio > LIMIT ? '  TOO MUCH' : ''}`)
  return ratio <= LIMIT
}

/** Opens the sockets, starts the other process and reads everything it sends. */
async function run(way: Way): Promise<Measured> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', way])
  const port = await message<number>(child)
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => open(port)))
  child.send('go')
  const measured = await message<Measured>(child)
  for (const socket of sockets) socket.destroy()
  const ended = once(child, 'exit')
  child.send('stop')
  await ended
  return measured
}

async function message<T>(child: ChildProcess): Promise<T> {
  const [value] = await once(child, 'message')
  return value as T
}

async function open(port: number): Promise<NetSocket> {
  const socket = connect(port, '127.0.0.1')
  socket.write(
    'GET / HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  )
  await once(socket, 'data')
  socket.on('data', () => {})
  return socket
}

async function serve(way: Way): Promise<void> {
  const app = uWS.App()
  const sockets: WebSocket<unknown>[] = []
  const metrics = createServeMetrics(createMetrics({ processMetrics: false }))
  const hub = createHub({ metrics, nowMs: Date.now, broadcast: (group, text) => void app.publish(group, text) })
  app.ws<unknown>('/*', {
    maxBackpressure: 0,
    open: (socket) => {
      for (let n = 0; n < PAIRS_A_SOCKET; n++) {
        const index = (sockets.length * PAIRS_A_SOCKET + n) % PAIRS
        socket.subscribe(hub.add(subscriptionOf(index)))
      }
      sockets.push(socket)
    },
  })
  app.listen('127.0.0.1', 0, (listening) => {
    if (listening !== false) process.send?.(uWS.us_socket_local_port(listening))
  })
  await once(process, 'message')
  const moments = Array.from({ length: MOMENTS }, (_, n) => momentOf(n + 1))
  const texts = moments.map(textsOf)
  const sent = async () => {
    for (const [at, moment] of moments.entries()) {
      if (way === 'hub') encodeUpdate(moment, hub)
      else for (const { group, text } of texts[at] ?? []) app.publish(group, text)
      await nextTurn()
      while (sockets.some((socket) => socket.getBufferedAmount() > 0)) await nextTurn()
    }
  }
  process.send?.(await measure(way === 'hub' ? 'encoder and hub' : 'bare publish', sent))
  await once(process, 'message')
  process.exit(0)
}

function subscriptionOf(index: number): Subscription {
  const channel = txChannel(pairName(index), CHAIN)
  const asked = { canonical: channel, channels: [channel], chains: [CHAIN], refills: () => [], snapshot: () => [] }
  return {
    topic: 'tx',
    canonical: channel,
    id: 1,
    spec: asked,
    onSlow: 'disconnect',
    backlog: undefined,
    budget: { takeMemory: () => true, releaseMemory: () => {} },
  }
}

function momentOf(seq: number): UpdateSnapshot {
  const pairs = Array.from({ length: TRADES_A_MOMENT }, (_, n) =>
    pairUpdate({ pair: pairName(seq * TRADES_A_MOMENT + n), trades: [trade({ id: `${seq}-${n}` })] }),
  )
  const states = new Map(pairs.map((pair) => [pair.pair, pairStateOf(pair, pairInfo(), 0)]))
  const view = { pair: (name: string) => states.get(name), info: () => UNKNOWN_TOKEN, mainPair: () => null }
  return snapshotUpdate({
    update: update({ seq, pairs }),
    removedPairs: new Map(),
    closedCandles: [],
    removedCandles: [],
    view,
  })
}

/** The texts the hub sends for an update, with the group of each. */
function textsOf(moment: UpdateSnapshot): { group: string; text: string }[] {
  const texts: { group: string; text: string }[] = []
  const metrics = createServeMetrics(createMetrics({ processMetrics: false }))
  const hub = createHub({ metrics, nowMs: Date.now, broadcast: (group, text) => texts.push({ group, text }) })
  for (let index = 0; index < PAIRS; index++) hub.add(subscriptionOf(index))
  encodeUpdate(moment, hub)
  return texts
}

const [, , mode, way] = process.argv
if (mode === 'serve' && (way === 'bare' || way === 'hub')) await serve(way)
