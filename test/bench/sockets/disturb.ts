/** What else clients do to a server while others listen. Each runs until the signal aborts. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Random } from '../../rig/market/random.js'
import { KEY, type Market } from './market.js'

export type Disturbance = { answered: number; refused: number }

/** Connections that repeat keyword searches, each as soon as it has the answer. */
export async function repeatSearches(market: Market, connections: number, random: Random, signal: AbortSignal) {
  const done: Disturbance = { answered: 0, refused: 0 }
  const { rest } = await market.up().serving
  const search = async () => {
    while (!signal.aborted) {
      const keyword = String.fromCharCode(97 + Math.floor(random.next() * 26), 97 + Math.floor(random.next() * 26))
      await count(done, `${rest}/v2/tokens?keyword=${keyword}&limit=100`, KEY, signal)
    }
  }
  await Promise.all(Array.from({ length: connections }, search))
  return done
}

/** A free key that subscribes to ids that do not exist, as fast as it may, and asks for them by REST. */
export async function subscribeToNothing(market: Market, random: Random, signal: AbortSignal): Promise<Disturbance> {
  const done: Disturbance = { answered: 0, refused: 0 }
  const key = await market.createKey('free')
  const { rest, ws } = await market.up().serving
  const madeUp = () => `0x${Array.from({ length: 40 }, () => Math.floor(random.next() * 16).toString(16)).join('')}`
  const socket = async () => {
    const opened = new WebSocket(ws, { headers: { 'x-api-key': key } })
    opened.on('error', () => {})
    opened.on('message', (data) => {
      const isRefused = String(data).includes('"error"')
      done[isRefused ? 'refused' : 'answered'] += 1
    })
    await once(opened, 'open')
    while (!signal.aborted && opened.readyState === WebSocket.OPEN) {
      const ids = Array.from({ length: HOSTILE_IDS }, () => `${madeUp()}-eth`)
      opened.send(JSON.stringify({ jsonrpc: '2.0', method: 'subscribe', params: ['price', ids], id: madeUp() }))
      if (random.next() < 0.1) opened.send('{"jsonrpc":"2.0","method":"unsubscribe","params":[],"id":1}')
      await sleep(HOSTILE_PAUSE_MS)
    }
    opened.terminate()
  }
  const requests = async () => {
    while (!signal.aborted) {
      await count(done, `${rest}/v2/tokens/${madeUp()}-eth`, key, signal)
      await sleep(HOSTILE_PAUSE_MS)
    }
  }
  await Promise.all([...Array.from({ length: HOSTILE_SOCKETS }, socket), requests()])
  return done
}

/** The most a free key may open. */
const HOSTILE_SOCKETS = 5
const HOSTILE_IDS = 100
const HOSTILE_PAUSE_MS = 10

async function count(done: Disturbance, url: string, key: string, signal: AbortSignal): Promise<void> {
  try {
    const response = await fetch(url, { headers: { 'x-api-key': key }, signal })
    await response.arrayBuffer()
    done[response.ok ? 'answered' : 'refused'] += 1
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
