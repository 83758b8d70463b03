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

/** Connections that repeat the dearest SQL that is allowed, each as soon as it has the answer. */
export async function repeatQueries(market: Market, connections: number, signal: AbortSignal) {
  const done: Disturbance = { answered: 0, refused: 0 }
  const { rest } = await market.up().serving
  const ask = async (_: unknown, first: number) => {
    for (let n = first; !signal.aborted; n += 1) {
      const body = JSON.stringify({ query: DEAR_QUERIES[n % DEAR_QUERIES.length] })
      await count(done, `${rest}/v2/sql`, KEY, signal, { method: 'POST', body })
    }
  }
  await Promise.all(Array.from({ length: connections }, ask))
  return done
}

/** They join, sort, group and number all trades, or count until their time is up. */
const DEAR_QUERIES = [
  'SELECT a.pair, count() FROM trades AS a JOIN trades AS b ON a.wallet = b.wallet GROUP BY a.pair ORDER BY 2 DESC LIMIT 10',
  'SELECT tx_hash, row_number() OVER (PARTITION BY wallet ORDER BY time, id) AS n FROM trades ORDER BY n DESC LIMIT 100',
  'SELECT wallet, uniqExact(tx_hash), quantileExact(0.5)(amount_usd) FROM trades GROUP BY wallet ORDER BY 2 DESC LIMIT 100',
  'SELECT sum(cityHash64(number)) FROM (SELECT arrayJoin(range(10000)) AS number FROM trades)',
  'SELECT * FROM trades ORDER BY amount_usd DESC, tx_hash, id LIMIT 1000',
  'SELECT pair, groupUniqArray(wallet) FROM trades GROUP BY pair ORDER BY length(groupUniqArray(wallet)) DESC LIMIT 10',
  "SELECT count() FROM trades WHERE match(tx_hash, '.*(a|b)+.*(c|d)+.*e.*f.*0.*1.*2.*3$')",
  'SELECT pair, interval, max(high_usd), avg(volume_usd) FROM candles GROUP BY pair, interval ORDER BY 3 DESC LIMIT 100',
  'SELECT p.pair, t.symbol, count() FROM trades AS x JOIN pairs AS p USING (chain, pair) JOIN tokens AS t ON t.token = p.token0 GROUP BY ALL ORDER BY 3 DESC LIMIT 10',
  'SELECT toStartOfMinute(time) AS m, pair, argMax(price_usd, time), sum(amount_usd) FROM trades GROUP BY ALL ORDER BY m, pair LIMIT 1000',
]

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

async function count(
  done: Disturbance,
  url: string,
  key: string,
  signal: AbortSignal,
  request: RequestInit = {},
): Promise<void> {
  try {
    const headers = { 'x-api-key': key, ...(request.body ? { 'content-type': 'application/json' } : {}) }
    const response = await fetch(url, { ...request, headers, signal })
    await response.arrayBuffer()
    done[response.ok ? 'answered' : 'refused'] += 1
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
