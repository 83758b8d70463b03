/** Reads REST like a client: history paged forward, tokens in batches. */
import { readNumber } from './decimals.js'
import type { Up } from './up.js'

export type Point = {
  time: number
  open: unknown
  high: unknown
  low: unknown
  close: unknown
  volume: unknown
  filled?: true
}

type Enveloped<Data> = { status: number; msg: string; data_type: number; data: Data }

export function dataOf<Data>(answer: { status: number; body: unknown }): Data {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
  const { status, data_type, data } = answer.body as Enveloped<Data>
  if (status !== 1 || data_type !== 1) throw new Error(`no envelope: ${JSON.stringify(answer.body)}`)
  return data
}

type KlineData = { points: (Omit<Point, 'open'> & { open: unknown })[]; total_count: number }

export async function klines(up: Up, pairId: string, query: Record<string, string | number>): Promise<Point[]> {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const data = dataOf<KlineData>(await up.get(`/v2/klines/pair/${pairId}?${search}`))
  if (data.total_count !== data.points.length)
    throw new Error(`total_count ${data.total_count} is not the number of points`)
  return data.points.map(({ open, high, low, close, volume, ...rest }) => ({
    ...rest,
    ...{ open: readNumber(open), high: readNumber(high), low: readNumber(low) },
    ...{ close: readNumber(close), volume: readNumber(volume) },
  }))
}

export async function allKlines(up: Up, pairId: string, query: Record<string, string | number>): Promise<Point[]> {
  const all: Point[] = []
  for (let from = 0; ; ) {
    const page = await klines(up, pairId, { limit: 1000, ...query, from_time: from })
    all.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < 1000) return all
    from = last.time + 1
  }
}

export async function tokenAnswers(up: Up, ids: readonly string[]): Promise<Map<string, object>> {
  const found = new Map<string, object>()
  for (let at = 0; at < ids.length; at += 50) {
    const answer = await up.post('/v2/tokens/search', { token_ids: ids.slice(at, at + 50) })
    for (const token of dataOf<{ token: string }[]>(answer)) found.set(token.token, token)
  }
  return found
}

export async function priceAnswers(up: Up, ids: readonly string[]): Promise<Map<string, object>> {
  const found = new Map<string, object>()
  for (let at = 0; at < ids.length; at += 200) {
    const answer = await up.post('/v2/tokens/price', { token_ids: ids.slice(at, at + 200), tvl_min: 0 })
    for (const [id, price] of Object.entries(dataOf<Record<string, object>>(answer))) found.set(id, price)
  }
  return found
}
