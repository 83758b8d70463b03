/**
 * Subscriptions that resume with `since`, compared with bare sends of the same texts to the same sockets. Both ways take
 * turns in one process. `restore.js serve-restore` runs that process; without arguments it runs the reader.
 */

import uWS, { type WebSocket } from 'uWebSockets.js'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createCatchUps } from '../../services/serve/push/catch-up.js'
import type { Place } from '../../services/serve/push/cursor.js'
import { encodeUpdate } from '../../services/serve/push/encode-update.js'
import type { Subscription } from '../../services/serve/push/hub.js'
import { createReplayRing } from '../../services/serve/push/replay-ring.js'
import type { CatchUp } from '../../services/serve/push/session.js'
import type { UpdateSnapshot } from '../../services/serve/push/update-snapshot.js'
import { message, newHub, open } from './fan-out.js'
import { PAIRS, SWAPS_PER_UPDATE, subscriptionOf, updateOfSwaps } from './fan-out-updates.js'
import { type Measured, measure, printTable } from './measure.js'

const SOCKETS = 500
const SUBSCRIPTIONS_A_SOCKET = 100
const SUBSCRIPTIONS = SOCKETS * SUBSCRIPTIONS_A_SOCKET
const UPDATES = 20
const ROUNDS = 3
const PUSHES = (UPDATES * SWAPS_PER_UPDATE * SUBSCRIPTIONS) / PAIRS
/** Bare sends choose nothing and make no subscription live. */
const LIMIT = 5
const PAUSE_BYTES = 524_288

type Ways = { bare: Measured; restore: Measured }

export async function benchRestore(): Promise<boolean> {
  const child = fork(fileURLToPath(import.meta.url), ['serve-restore'])
  const port = await message<number>(child)
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => open(port)))
  child.send('go')
  const { bare, restore } = await message<Ways>(child)
  for (const socket of sockets) socket.destroy()
  const ended = once(child, 'exit')
  child.send('stop')
  await ended
  const ratio = restore.cpuS / bare.cpuS
  printTable(
    `Restore (${SOCKETS} sockets × ${SUBSCRIPTIONS_A_SOCKET} subscriptions with since, ${PUSHES.toLocaleString('en')} missed pushes)`,
    [
      ['', 's', 'CPU µs/push', '× bare'],
      ...[bare, restore].map(({ name, cpuS, wallS }) => [
        ...[name, wallS / ROUNDS, (cpuS / ROUNDS / PUSHES) * 1e6, cpuS / bare.cpuS],
      ]),
    ],
  )
  console.log(`  restore ÷ bare = ${ratio.toFixed(2)} (limit ${LIMIT})${ratio > LIMIT ? '  TOO MUCH' : ''}`)
  return ratio <= LIMIT
}

async function serve(): Promise<void> {
  const app = uWS.App()
  const sockets: WebSocket<unknown>[] = []
  const restored = new Map<WebSocket<unknown>, () => void>()
  app.ws<unknown>('/*', {
    maxBackpressure: 0,
    open: (socket) => void sockets.push(socket),
    drain: (socket) => restored.get(socket)?.(),
  })
  app.listen('127.0.0.1', 0, (listening) => {
    if (listening !== false) process.send?.(uWS.us_socket_local_port(listening))
  })
  await once(process, 'message')

  const hub = newHub(() => {})
  const ring = createReplayRing({ ringSeconds: 1e9, ringBytes: 1e12 })
  const updates = Array.from({ length: UPDATES + 1 }, (_, n) => updateOfSwaps(n))
  for (const update of updates) ring.push(update)
  const [oldest] = updates
  if (oldest === undefined) throw new Error('there are no updates')
  const since: Place = { epoch: oldest.epoch, chain: oldest.chain, seq: oldest.seq, n: oldest.lastN }
  const feed = { ringOf: () => ring, headOf: () => ring.head() ?? since }
  const subscriptions = sockets.map((_, at) =>
    Array.from({ length: SUBSCRIPTIONS_A_SOCKET }, (_, n) => subscriptionOf(at * SUBSCRIPTIONS_A_SOCKET + n, n)),
  )

  async function isSent(): Promise<void> {
    while (sockets.some((socket) => socket.getBufferedAmount() > 0)) await nextTurn()
  }

  async function restore(): Promise<void> {
    const catchUps = createCatchUps({ hub, feed, nowMs: Date.now, pauseBytes: PAUSE_BYTES })
    const sessions = sockets.map((socket, at) => {
      const catchingUp = new Map<Subscription, CatchUp>(
        (subscriptions[at] ?? []).map((subscription) => [
          subscription,
          { subscription, places: [since], snapshot: false, isReplaying: false, isEnded: false },
        ]),
      )
      const session = { catchingUp, isSlow: false, isClosed: false }
      restored.set(socket, () => catchUps.start(socket, session))
      catchUps.start(socket, session)
      return session
    })
    while (sessions.some(({ catchingUp }) => catchingUp.size > 0)) await nextTurn()
    await isSent()
    restored.clear()
    for (const [at, ofSocket] of subscriptions.entries())
      for (const subscription of ofSocket) sockets[at]?.unsubscribe(hub.remove(subscription))
  }

  async function sendBare(texts: readonly (readonly string[])[]): Promise<void> {
    for (const [at, socket] of sockets.entries()) {
      socket.cork(() => {
        for (const text of texts[at] ?? []) socket.send(text)
      })
      if (at % 10 === 0) await nextTurn()
    }
    await isSent()
  }

  const sum: Ways = {
    bare: { name: 'bare sends', cpuS: 0, wallS: 0 },
    restore: { name: 'resumed with since', cpuS: 0, wallS: 0 },
  }
  const texts = textsOf(updates.slice(1), subscriptions)
  for (let round = 0; round <= ROUNDS; round += 1) {
    const ways = { bare: () => sendBare(texts), restore }
    for (const way of ['bare', 'restore'] as const) {
      const { cpuS, wallS } = await measure(way, ways[way])
      // The first round warms up.
      if (round === 0) continue
      sum[way].cpuS += cpuS
      sum[way].wallS += wallS
    }
  }
  process.send?.(sum)
  await once(process, 'message')
  process.exit(0)
}

/** What each socket is sent. */
function textsOf(updates: readonly UpdateSnapshot[], subscriptions: readonly (readonly Subscription[])[]): string[][] {
  const results = new Map<string, string[]>()
  for (const update of updates) {
    encodeUpdate(update, {
      ...{ isWanted: (channel) => channel.startsWith('tx|'), concerns: () => true },
      publish: (channels, { result }) => {
        for (const channel of channels) results.set(channel, [...(results.get(channel) ?? []), result])
      },
    })
  }
  const sentTime = Date.now()
  return subscriptions.map((ofSocket) =>
    ofSocket.flatMap(({ id, spec }) =>
      (results.get(spec.channels[0] ?? '') ?? []).map((result) =>
        Buffer.from(`{"id":${id},"jsonrpc":"2.0","result":${result},"sent_time":${sentTime}}`).toString(),
      ),
    ),
  )
}

// Not `restore`: that is what `npm run bench -- restore` has as its argument.
if (process.argv[2] === 'serve-restore') await serve()
