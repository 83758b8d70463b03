/** Every list has the rates of first buyers that the contract has, from memory and from the store alone, through reorgs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../../services/core/store/port.js'
import { createRandom } from '../../rig/market/random.js'
import { playMarket } from '../push/played-market.js'
import { KEY, openTestStore, type Rig, startRig } from '../rig.js'
import { withFirstBuys } from './first-buys.js'

const CHAIN = 'eth'
const SEED = 23
const ROUNDS = 4
const CONTRACTS = 5
const WAIT_MS = 60_000
const KEPT = { hotHistoryBytes: 10_000_000, answerBytes: 1_000_000 }
const RATES = ['bundle_wallet_rate', 'cluster_wallet_rate', 'insider_wallet_rate']

type Row = Record<string, unknown> & { token: string }
type Node = { name: string; get(path: string): Promise<Response>; post(path: string, body: unknown): Promise<Response> }

/** The rig's node keeps nothing; the other one keeps what it read. */
let rig: Rig
let kept: ReturnType<Rig['open']>
let nodes: Node[] = []
let market: ReturnType<typeof playMarket>
const directory = mkdtempSync(join(tmpdir(), 'dextape-first-buyers-'))
const asked = { isFailing: false, statements: [] as string[] }

const watched = (store: Store): Store => ({
  ...store,
  query: (sql, params, limits) => {
    const isAboutLaunches = sql.includes('is_launch') || sql.includes('wallet_trade_rows')
    if (isAboutLaunches) asked.statements.push(sql)
    if (isAboutLaunches && asked.isFailing) return Promise.reject(new Error('the store does not answer'))
    return store.query(sql, params, limits)
  },
})

beforeAll(async () => {
  const flush = async () => market.flush()
  const store = await openTestStore(directory)
  rig = await startRig({ hotHistoryBytes: 0, answerBytes: 0, launchWaitMs: WAIT_MS, flush, store })
  const options = { retracts: { probability: 0.1, maxDepth: 6 }, swapsPerBlock: 12 }
  market = playMarket(rig, { seed: SEED, chain: CHAIN, blocks: 160, options }, withFirstBuys)
  await market.play(12)
  await rig.start()
  kept = rig.open({ ...KEPT, flush, store: watched(store) })
  const { httpPort } = await kept.start()
  const send = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${httpPort}${path}`, {
      ...init,
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    })
  const post = (path: string, body: unknown) => send(path, { method: 'POST', body: JSON.stringify(body) })
  nodes = [
    { name: 'kept', get: send, post },
    { name: 'store alone', get: rig.get, post: rig.post },
  ]
}, 60_000)
afterAll(async () => {
  await kept?.stop()
  await rig?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const LISTS = [
  `/v2/ranks?topic=traded&chain=${CHAIN}`,
  `/v2/ranks?topic=new`,
  `/v2/tokens/trending?chain=${CHAIN}&page_size=100`,
  `/v2/tokens/trending?chain=${CHAIN}&cursor=start`,
  `/v2/tokens/platform?tag=new&chain=${CHAIN}`,
  `/v2/tokens/main?chain=${CHAIN}`,
  '/v2/tokens?keyword=e&limit=300',
]

async function dataOf(answer: Response): Promise<unknown> {
  const body = (await answer.json()) as { data?: unknown }
  return Array.isArray(body) ? body : (body.data ?? body)
}

const rowsIn = (data: unknown): Row[] => (Array.isArray(data) ? data : (data as { tokens: Row[] }).tokens)
const ratesOf = (row: Record<string, unknown>) => RATES.map((name) => row[name])

/** Lists first: a contract has the store flushed. */
async function readNode({ get, post }: Node): Promise<Map<string, Row[]>> {
  const found = new Map<string, Row[]>()
  for (const path of LISTS) found.set(path, rowsIn(await dataOf(await get(path))))
  const tokens = [...new Set([...found.values()].flat().map(({ token }) => token))]
  for (const token of tokens.slice(0, CONTRACTS)) {
    const { token: detail } = (await dataOf(await get(`/v2/tokens/${token}-${CHAIN}`))) as { token: Row }
    found.set('detail', [...(found.get('detail') ?? []), detail])
  }
  const token_ids = tokens.slice(0, 50).map((token) => `${token}-${CHAIN}`)
  found.set('search', rowsIn(await dataOf(await post('/v2/tokens/search', { token_ids }))))
  return found
}

async function allServe(): Promise<void> {
  for (const node of [rig.serve, kept]) {
    await expect
      .poll(async () => (await node.status()).chains.find(({ chain }) => chain === CHAIN)?.seq, { interval: 2 })
      .toBe(market.last.seq)
  }
}

it('has the same rates in lists, details and contracts', async () => {
  const random = createRandom(SEED)
  const known = new Set<string>()
  for (let round = 0; round < ROUNDS; round += 1) {
    // What these make the node read is still being read when the next updates arrive.
    const early = LISTS.map((path) => nodes[0]?.get(path).then((answer) => answer.text()))
    await market.play(random.int(5, 30))
    if (random.chance(0.3)) await market.flush()
    await Promise.all(early)
    await allServe()
    const read = await Promise.all(nodes.map(async (node) => ({ node, found: await readNode(node) })))
    const expected = new Map<string, unknown[]>()
    const [{ found: lists } = { found: new Map<string, Row[]>() }] = read
    for (const { token } of lists.get('detail') ?? []) expected.set(token, ratesOf(await contractOf(token)))
    for (const { node, found } of read) {
      for (const [list, rows] of found) {
        expect(rows.length, list).toBeGreaterThan(0)
        for (const row of rows) {
          const rates = expected.get(row.token) ?? ratesOf(row)
          expected.set(row.token, rates)
          expect([node.name, list, row.token, ratesOf(row)]).toEqual([node.name, list, row.token, rates])
          if (rates.some((rate) => Number(rate) > 0)) known.add(JSON.stringify([row.token, rates]))
        }
      }
    }
  }
  expect(known.size).toBeGreaterThan(ROUNDS)
  expect(market.updates.some(({ kind }) => kind === 'retract')).toBe(true)
}, 120_000)

async function contractOf(token: string): Promise<Row> {
  return (await dataOf(await rig.get(`/v2/contracts/${token}-${CHAIN}`))) as Row
}

it('reads all tokens of a page with two queries, and none of them again', async () => {
  const fresh = rig.open({ ...KEPT, flush: async () => market.flush(), store: watched(rig.store) })
  const { httpPort } = await fresh.start()
  const list = async () => {
    asked.statements = []
    const headers = { 'x-api-key': KEY }
    const answer = await fetch(`http://127.0.0.1:${httpPort}${LISTS[0]}`, { headers })
    return { rows: rowsIn(await dataOf(answer)), queries: asked.statements.length }
  }
  try {
    asked.isFailing = true
    const without = await list()
    expect(without.rows.every((row) => ratesOf(row).every((rate) => rate === null))).toBe(true)
    asked.isFailing = false
    const first = await list()
    expect(first.rows.length).toBeGreaterThan(5)
    expect(first.queries).toBe(2)
    expect(first.rows.some((row) => ratesOf(row).some((rate) => Number(rate) > 0))).toBe(true)
    await market.play(1)
    await expect.poll(async () => (await fresh.status()).chains[0]?.seq, { interval: 2 }).toBe(market.last.seq)
    expect((await list()).queries).toBe(0)
  } finally {
    await fresh.stop()
  }
}, 60_000)
