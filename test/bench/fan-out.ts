/**
 * Pushes through the encoder and the hub, compared with a bare uWebSockets.js publish of the same texts to the same
 * sockets. Both ways take turns in one process, so that other load on the machine meets both. `fan-out.js serve IDS` runs
 * that process, where the sockets use IDS different request ids; without arguments it runs the reader.
 */

import uWS, { type WebSocket } from 'uWebSockets.js'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket as NetSocket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import { encodeUpdate } from '../../services/serve/push/encode-update.js'
import { type Broadcast, createHub, type Hub, type Subscription } from '../../services/serve/push/hub.js'
import type { UpdateSnapshot } from '../../services/serve/push/update-snapshot.js'
import { createServeMetrics } from '../../services/serve/serve-metrics.js'
import { PAIRS, SWAPS_PER_UPDATE, subscriptionOf, updateOfSwaps } from './fan-out-updates.js'
import { type Measured, measure, printTable } from './measure.js'

const SOCKETS = 500
const PAIRS_A_SOCKET = 20
/** Updates each way sends before the other takes its turn. */
const TURN = 10
const WARM_TURNS = 30
const TURNS = 120
/** Turns whose CPU is summed for one ratio; the median of these is judged. A whole round has its share of collected garbage. */
const ROUND = 10
const DELIVERIES = (TURNS * TURN * SWAPS_PER_UPDATE * SOCKETS * PAIRS_A_SOCKET) / PAIRS
/** By the number of request ids the subscribers of a pair use. */
const LIMITS = new Map([
  [1, 1.4],
  [10, 1.15],
])

type Ways = { bare: Measured; hub: Measured }
/** One for each round. */
type Rounds = Ways[]

export async function benchFanOut(): Promise<boolean> {
  const rows: (string | number)[][] = [['', 'CPU µs/push', '× bare', 'pushes/s']]
  const verdicts: string[] = []
  for (const [ids, limit] of LIMITS) {
    const rounds = await run(ids)
    const ratios = rounds.map(({ bare, hub }) => hub.cpuS / bare.cpuS).sort((a, b) => a - b)
    const ratio = quantile(ratios, 0.5)
    for (const way of ['bare', 'hub'] as const) {
      const cpuS = rounds.map((round) => round[way].cpuS).sort((a, b) => a - b)
      const wallS = rounds.reduce((sum, round) => sum + round[way].wallS, 0)
      rows.push([
        `${NAMES[way]}, ${ids} request id${ids === 1 ? '' : 's'}`,
        (quantile(cpuS, 0.5) / (DELIVERIES / rounds.length)) * 1e6,
        way === 'bare' ? 1 : ratio,
        DELIVERIES / wallS,
      ])
    }
    const spread = `half of the rounds ${quantile(ratios, 0.25).toFixed(2)} to ${quantile(ratios, 0.75).toFixed(2)}`
    verdicts.push(
      `  hub ÷ bare, ${ids} id(s) = ${ratio.toFixed(2)}, ${spread} (limit ${limit})${ratio > limit ? '  TOO MUCH' : ''}`,
    )
  }
  printTable(
    `Fan-out (${SOCKETS} sockets, ${PAIRS_A_SOCKET} subscriptions each, ${DELIVERIES.toLocaleString('en')} pushes)`,
    rows,
  )
  for (const verdict of verdicts) console.log(verdict)
  return verdicts.every((verdict) => !verdict.endsWith('TOO MUCH'))
}

const NAMES = { bare: 'bare publish', hub: 'encoder and hub' }

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN

/** Starts the serving process, opens the sockets and reads everything it sends. */
async function run(ids: number): Promise<Rounds> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', String(ids)], {
    execArgv: [...process.execArgv, '--expose-gc'],
  })
  const port = await message<number>(child)
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => open(port)))
  child.send('go')
  const measured = await message<Rounds>(child)
  for (const socket of sockets) socket.destroy()
  const ended = once(child, 'exit')
  child.send('stop')
  await ended
  return measured
}

export async function message<T>(child: ChildProcess): Promise<T> {
  const [value] = await once(child, 'message')
  return value as T
}

export async function open(port: number): Promise<NetSocket> {
  const socket = connect(port, '127.0.0.1')
  socket.write(
    'GET / HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  )
  await once(socket, 'data')
  socket.on('data', () => {})
  return socket
}

async function serve(ids: number): Promise<void> {
  const app = uWS.App()
  const sockets: WebSocket<unknown>[] = []
  const hub = newHub((group, text) => void app.publish(group, text, false))
  /** By pair and request id. */
  const groups = new Map<string, string>()
  app.ws<unknown>('/*', {
    maxBackpressure: 0,
    open: (socket) => {
      const id = (Math.floor((sockets.length * PAIRS_A_SOCKET) / PAIRS) % ids) + 1
      for (let n = 0; n < PAIRS_A_SOCKET; n++) join(socket, subscriptionOf(sockets.length * PAIRS_A_SOCKET + n, id))
      sockets.push(socket)
    },
  })
  function join(socket: WebSocket<unknown>, subscription: Subscription): void {
    const group = hub.add(subscription)
    groups.set(groupKey(subscription), group)
    socket.subscribe(group)
  }

  app.listen('127.0.0.1', 0, (listening) => {
    if (listening !== false) process.send?.(uWS.us_socket_local_port(listening))
  })
  await once(process, 'message')
  const textsOf = recordTexts(ids, groups)

  /** Sends each update, and waits until the kernel has taken everything. */
  async function sendAll(turn: readonly UpdateSnapshot[], send: (update: UpdateSnapshot, at: number) => void) {
    for (const [at, update] of turn.entries()) {
      send(update, at)
      await nextTurn()
      // Asleep: CPU spent waiting for the reader would count for both ways.
      while (sockets.some((socket) => socket.getBufferedAmount() > 0)) await sleep(1)
    }
  }

  const rounds: Rounds = []
  for (let turn = 1 - WARM_TURNS; turn <= TURNS; turn += 1) {
    const updates = Array.from({ length: TURN }, (_, n) => updateOfSwaps((turn + WARM_TURNS) * TURN + n))
    const texts = updates.map(textsOf)
    const ways = {
      bare: () =>
        sendAll(updates, (_, at) => {
          for (const { group, text } of texts[at] ?? []) app.publish(group, text)
        }),
      hub: () => sendAll(updates, (update) => encodeUpdate(update, hub)),
    }
    for (const way of turn % 2 === 0 ? (['bare', 'hub'] as const) : (['hub', 'bare'] as const)) {
      collectYoung()
      const { cpuS, wallS } = await measure(way, async () => {
        await ways[way]()
        collectYoung()
      })
      if (turn < 1) continue
      const round = Math.floor((turn - 1) / ROUND)
      rounds[round] ??= { bare: none('bare'), hub: none('hub') }
      rounds[round][way].cpuS += cpuS
      rounds[round][way].wallS += wallS
    }
  }
  process.send?.(rounds)
  await once(process, 'message')
  process.exit(0)
}

/** Before and within what is measured: each way pays for its own garbage, and for nothing else's. */
const collectYoung = () => globalThis.gc?.({ type: 'minor', execution: 'sync' })

const none = (name: string): Measured => ({ name, cpuS: 0, wallS: 0 })

export function newHub(broadcast: Broadcast): Hub {
  const metrics = createServeMetrics(createMetrics({ processMetrics: false }))
  return createHub({ metrics, nowMs: Date.now, broadcast })
}

const groupKey = ({ canonical, id }: Subscription): string => `${canonical} ${id}`

/** The texts the hub sends for an update, with the group of each. */
function recordTexts(
  ids: number,
  groups: ReadonlyMap<string, string>,
): (update: UpdateSnapshot) => { group: string; text: string }[] {
  let texts: { group: string; text: string }[] = []
  const names = new Map<string, string>()
  const hub = newHub((group, text) => texts.push({ group: names.get(group) ?? '', text: Buffer.from(text).toString() }))
  for (let index = 0; index < PAIRS; index++)
    for (let id = 1; id <= ids; id++) {
      const subscription = subscriptionOf(index, id)
      names.set(hub.add(subscription), groups.get(groupKey(subscription)) ?? '')
    }
  return (update) => {
    texts = []
    encodeUpdate(update, hub)
    return texts
  }
}

const [, , mode, ids] = process.argv
if (mode === 'serve') await serve(Number(ids))
