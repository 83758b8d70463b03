/** The Model Context Protocol by the SDK's own client: over HTTP, and over stdio by the command, on the same server. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hashKey } from '../../services/core/keys/key-store.js'
import { compactText } from '../../services/serve/mcp/compact-text.js'
import { DEXTAPE, removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { playMarket } from './push/played-market.js'
import { KEY, keyRecord, type Rig, startRig } from './rig.js'

const CHAIN = 'eth'
const FREE_KEY = 'dx_free'
const SMALL_KEY = 'dx_small'
const SLOW_KEY = 'dx_slow'

let rig: Rig
let url: string
let pairId = ''
let tokenId = ''
let wallet = ''
const open: Client[] = []

beforeAll(async () => {
  let market: ReturnType<typeof playMarket> | undefined
  rig = await startRig({ flush: async () => market?.flush() })
  market = playMarket(rig, { seed: 19, chain: CHAIN, blocks: 60, options: { swapsPerBlock: 6 } })
  await market.play(market.remainingLines)
  await market.flush()
  rig.keys.set(hashKey(FREE_KEY), keyRecord({ id: 'free', plan: 'free' }))
  rig.keys.set(hashKey(SMALL_KEY), keyRecord({ id: 'small', quotaCu: 12 }))
  rig.keys.set(hashKey(SLOW_KEY), keyRecord({ id: 'slow', ratePerS: 2 }))
  await rig.start()
  url = `http://127.0.0.1:${rig.ports.httpPort}`
  const { seq } = market.last
  await vi.waitFor(async () => {
    if ((await rig.serve.status()).chains[0]?.seq !== seq) throw new Error('still behind')
  }, 10_000)
  const trades = new Map<string, number>()
  for (const { pairs } of market.updates)
    for (const one of pairs) trades.set(one.pair, (trades.get(one.pair) ?? 0) + one.trades.length)
  const [busiest = ''] = [...trades].sort(([, a], [, b]) => b - a).map(([address]) => address)
  pairId = `${busiest}-${CHAIN}`
  const traded = market.updates.flatMap(({ pairs }) => pairs.filter(({ pair }) => pair === busiest))
  wallet = traded.flatMap(({ trades: own }) => own).find((one) => one.wallet !== '')?.wallet ?? ''
  const detail = (await (await rig.get(`/v2/pairs/${pairId}`)).json()) as { data: { target_token: string } }
  tokenId = `${detail.data.target_token}-${CHAIN}`
}, 60_000)
afterAll(async () => {
  for (const client of open) await client.close()
  await rig.stop()
  removeScratchFolders()
})

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  open.push(client)
  return client
}

const overHttp = (headers: Record<string, string>) =>
  connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }))

const overStdio = (key: string, to = url) =>
  connect(
    new StdioClientTransport({
      ...{ command: process.execPath, args: [DEXTAPE, 'mcp', '--url', to], cwd: scratchFolder(), stderr: 'ignore' },
      env: { PATH: process.env.PATH ?? '', DEXTAPE_API_KEY: key },
    }),
  )

const EVENT = ['id', 'action_type', 'wallet_address', 'tx_hash', 'quote_token_volume', 'action_time']
type Signal = Record<string, unknown> & { actions: Record<string, unknown>[] }
type Called = { isError: boolean; text: string }

async function call(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Called> {
  const { content, isError } = await client.callTool({ name, arguments: given })
  const [{ text }] = content as [{ text: string }]
  return { isError: isError === true, text }
}

const CALLS = (): [string, Record<string, unknown>][] => [
  ['list_chains', {}],
  ['search_tokens', { keyword: tokenId.slice(0, 12) }],
  ['trending_tokens', { chain: CHAIN }],
  ['get_token', { token_id: tokenId }],
  ['get_pair', { pair_id: pairId }],
  ['get_candles', { pair_id: pairId, interval: '5' }],
  ['get_trades', { pair_id: pairId, limit: 5 }],
  ['get_holders', { token_id: tokenId }],
  ['get_risk', { token_id: tokenId }],
  ['list_holders', { token_id: tokenId }],
  ['list_rank_topics', {}],
  ['list_ranked_tokens', { topic: 'hot', chain: CHAIN }],
  ['list_signals', { chain: CHAIN }],
  ['get_wallet', { wallet_address: wallet, chain: CHAIN }],
  ['list_wallet_tokens', { wallet_address: wallet, chain: CHAIN }],
  ['get_wallet_profit', { wallet_address: wallet, chain: CHAIN, token_address: tokenId.replace(`-${CHAIN}`, '') }],
  ['get_wallet_trades', { wallet_address: wallet, chain: CHAIN }],
  ['list_smart_wallets', { chain: CHAIN, interval: '1D' }],
  ['sql_schema', {}],
  ['run_sql', { query: 'SELECT side, count() AS n FROM trades GROUP BY side ORDER BY side' }],
]

describe('the tools', () => {
  it('answer the same over HTTP and over stdio, every one of them', async () => {
    const [http, stdio] = [await overHttp({ authorization: `Bearer ${KEY}` }), await overStdio(KEY)]
    const { tools } = await http.listTools()
    expect(tools).toEqual((await stdio.listTools()).tools)
    expect(tools.map(({ name }) => name).sort()).toEqual(
      CALLS()
        .map(([name]) => name)
        .sort(),
    )
    for (const [name, given] of CALLS()) {
      const { isError, text } = await call(http, name, given)
      expect([name, isError, text.length > 20]).toEqual([name, false, true])
      expect([name, (await call(stdio, name, given)).text]).toEqual([name, text])
    }
  })

  it('answer what REST answers, as of the same time, with lists as columns and rows', async () => {
    const client = await overHttp({ 'x-api-key': KEY })
    const rest = await rig.get(`/v2/txs/swap/${pairId}?limit=5`)
    const { txs } = ((await rest.json()) as { data: { txs: Record<string, unknown>[] } }).data
    const { text } = await call(client, 'get_trades', { pair_id: pairId, limit: 5 })
    const { as_of_time: asOf, data } = JSON.parse(text)
    expect(asOf).toBe(rest.headers.get('x-as-of'))
    expect(data.txs).toEqual({ columns: Object.keys(txs[0] ?? {}), rows: txs.map((tx) => Object.values(tx)) })
    const sql = JSON.parse((await call(client, 'run_sql', { query: 'SELECT count() AS n FROM trades' })).text)
    expect(sql.as_of_seq).toMatch(/^eth=\d+$/)
    expect(Number(sql.data.data[0].n)).toBeGreaterThan(10)
  })

  it('name the token, the pair and the events of each signal', async () => {
    const client = await overHttp({ 'x-api-key': KEY })
    const rest = (await (await rig.get(`/v2/signals/public/list?chain=${CHAIN}`)).json()) as { data: Signal[] }
    const [first] = rest.data
    if (first === undefined) throw new Error('no signal in this market')
    const { data } = JSON.parse((await call(client, 'list_signals', { chain: CHAIN, pageSize: 1 })).text)
    expect(data).toEqual([
      {
        ...{ signal_type: first.signal_type, signal_time: first.signal_time, headline: first.headline },
        ...{ symbol: first.symbol, token_id: `${first.token}-${CHAIN}`, pair_id: `${first.pair_address}-${CHAIN}` },
        events: { columns: EVENT, rows: first.actions.map((action) => EVENT.map((name) => action[name])) },
      },
    ])
  })

  it('say what to do about an error', async () => {
    const client = await overHttp({ 'x-api-key': KEY })
    const texts = [
      await call(client, 'get_candles', { pair_id: pairId, interval: '7' }),
      await call(client, 'get_candles', { pair_id: pairId, interval: '5', form_time: 1 }),
      await call(client, 'get_token', { token_id: 'x' }),
      await call(client, 'run_sql', { query: 'DROP TABLE trades' }),
    ]
    expect(texts.map(({ isError }) => isError)).toEqual([true, true, true, true])
    expect(texts[0]?.text).toMatch(/interval/)
    expect(texts[1]?.text).toMatch(/Unknown argument "form_time" of get_candles\. It takes pair_id, interval,/)
    expect(texts[2]?.text).toMatch(/token-id/)
    await expect(client.callTool({ name: 'buy', arguments: {} })).rejects.toThrow(/Unknown tool "buy"/)
  })

  it('are answered by the command while no server runs, with what to do', async () => {
    const client = await overStdio(KEY, 'http://127.0.0.1:1')
    expect(await call(client, 'list_chains')).toEqual({
      isError: true,
      text: expect.stringMatching(/Cannot connect to http:\/\/127\.0\.0\.1:1.*dextape up/s),
    })
  })
})

describe('a key', () => {
  it('is required, before the body is read', async () => {
    for (const headers of [{}, { authorization: 'Bearer dx_unknown' }]) {
      const answer = await rig.post('/mcp', '{not json', headers)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([401, expect.stringMatching(/problem/)])
    }
    expect((await rig.get('/mcp')).status).toBe(405)
    const batch = await rig.post('/mcp', [{ jsonrpc: '2.0', id: 1, method: 'ping' }])
    expect([batch.status, await batch.json()]).toEqual([400, expect.objectContaining({ code: 'batch_unsupported' })])
  })

  it('has its plan, its quota and the cost of each operation', async () => {
    const free = await overHttp({ authorization: `Bearer ${FREE_KEY}` })
    expect((await call(free, 'run_sql', { query: 'SELECT 1' })).text).toMatch(/plan free has no SQL/)
    const client = await overHttp({ authorization: `Bearer ${SMALL_KEY}` })
    expect((await call(client, 'get_pair', { pair_id: pairId })).isError).toBe(false)
    expect((await call(client, 'get_token', { token_id: tokenId })).isError).toBe(false)
    expect(await call(client, 'get_pair', { pair_id: pairId })).toEqual({
      isError: true,
      text: expect.stringMatching(/allows 12 credit units per month.*\(cu_exhausted\)/),
    })
  })

  it('has its rate: a call counts once, by its operation', async () => {
    const headers = { 'x-api-key': SLOW_KEY, accept: 'application/json, text/event-stream' }
    const message = (method: string, params: object) =>
      rig.post('/mcp', { jsonrpc: '2.0', id: 1, method, params }, headers)
    // Ten times: some of these seconds are not cut in two.
    const seconds = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const answer = await message('tools/call', { name: 'list_chains', arguments: {} })
        return (await answer.text()).includes('rate_limited')
      }),
    )
    expect(seconds.filter((isLimited) => !isLimited).length).toBeGreaterThanOrEqual(2)
    expect(seconds.filter((isLimited) => isLimited).length).toBeGreaterThan(0)
  })
})

it('cuts a list that is too long for an assistant, and says so', () => {
  const rows = Array.from({ length: 1000 }, (_, at) => ({ at, text: 'x'.repeat(20) }))
  const text = compactText({ as_of_seq: 'eth=1' }, { data: rows }, 5_000)
  expect(text.length).toBeLessThan(5_300)
  const { truncated, data } = JSON.parse(text)
  expect(truncated).toBe(
    `First ${data.data.rows.length} of 1000 rows. Ask for fewer: aggregate, use a limit, or narrow the range.`,
  )
  expect(data.data.rows[0]).toEqual([0, 'x'.repeat(20)])
})
