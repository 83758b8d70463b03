/** `status` and `watch` on a running server, piped and on a real pseudo-terminal; progress on one. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Candle, drawChart } from '../../services/cli/watch/candle-chart.js'
import { formatPrice } from '../../services/cli/watch/format.js'
import { drawScreen, type View } from '../../services/cli/watch/screen.js'
import { createPaint, PLAIN, widthOf } from '../../services/core/runtime/terminal.js'
import type { Serve } from '../../services/serve/main.js'
import { KEEP_ALL, type MarketNode, openMarketNode, PATIENCE } from '../clients/market-node.js'
import { startCommand } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { runOnTerminal } from '../rig/terminal/terminal.js'
import { KEY } from '../serve/rig.js'

const folder = mkdtempSync(join(tmpdir(), 'dextape-live-'))
let place: MarketNode
let node: Serve
let pairId: string

beforeAll(async () => {
  place = await openMarketNode()
  node = await place.start(KEEP_ALL)
  pairId = `${place.pairs[0]}-eth`
}, 120_000)
afterAll(async () => {
  await node.stop()
  await place.rig.stop()
  rmSync(folder, { recursive: true, force: true })
})

const settings = () => ({ cwd: folder, env: { DEXTAPE_API_KEY: KEY } })
const subscriptions = async () => (await node.status()).budgets.in_use.subscriptions ?? 0
const untilSubscribed = (count: number) =>
  vi.waitFor(async () => {
    if ((await subscriptions()) !== count) throw new Error(`${await subscriptions()} subscriptions`)
  }, PATIENCE)

describe('status', () => {
  it('shows a server that is ready, and exits with 0', async () => {
    const { code, out } = await runHere(['status', '--url', place.url], settings())
    const { head, seq } = (await node.status()).chains[0] ?? { head: 0, seq: 0 }
    expect({ code, head, seq }).toEqual({ code: 0, head: expect.any(Number), seq: place.market.last.seq })
    expect(out).toContain(`at ${place.url}: ready\n`)
    expect(out).toMatch(new RegExp(`^eth +${head} `, 'm'))
    expect(out).toMatch(/^budgets +sockets 0 of 20,000, /m)
  })

  it('prints JSON with what /status has, rates included', async () => {
    const { out } = await runHere(['status', '--json', '--url', place.url], settings())
    expect(JSON.parse(out)).toMatchObject({
      ...{ ready: true, not_ready: null, rates: { eth: { blocks_per_s: 0 } } },
      chains: [{ chain: 'eth', seq: place.market.last.seq }],
    })
  })

  it('exits with 1 and the reason if the server is not ready, or if none runs', async () => {
    const httpPort = await steadyPort()
    const config = { ...place.rig.config, httpPort }
    const starting = place.rig.open({ config, prepare: () => new Promise<void>(() => {}) })
    const started = starting.start()
    const url = `http://127.0.0.1:${httpPort}`
    await vi.waitFor(() => fetch(`${url}/health`), PATIENCE)
    const waiting = await runHere(['status', '--url', url], settings())
    expect([waiting.code, waiting.out]).toEqual([1, expect.stringMatching(/: not ready\n {2}\{/)])
    await starting.stop()
    await started.catch(() => {})
    expect(await runHere(['status', '--url', url], settings())).toEqual({
      ...{ code: 1, out: '' },
      err: `dextape: Cannot connect to ${url}. Check that \`dextape up\` is running, or name its REST port with --url.\n`,
    })
  })

  it('repeats on a terminal until Ctrl-C', async () => {
    const terminal = runOnTerminal(['status', '--watch', '0.2', '--url', place.url], settings())
    await terminal.until(/␛\[H␛\[J.*ready.*␛\[H␛\[J.*ready/s)
    terminal.type('\\x03')
    expect(await terminal.ended).toEqual({ code: 0, echo: 'on' })
  })
})

/** The trades that the printed lines leave, and ids printed twice without a retract between. */
function replay(out: string): { kept: Set<string>; repeated: string[]; retracts: number } {
  const kept = new Set<string>()
  const repeated: string[] = []
  let retracts = 0
  for (const line of out.split('\n').slice(0, -1)) {
    const cells = line.split('\t')
    const [side = '', id = ''] = [cells[1], cells[7]]
    if (side === 'retract') {
      retracts += 1
      kept.delete(id)
    } else if (kept.has(id)) repeated.push(line)
    else kept.add(id)
  }
  return { kept, repeated, retracts }
}

async function tradeIds(): Promise<string[]> {
  const headers = { 'x-api-key': KEY }
  const answer = await fetch(`${place.url}/v2/txs/swap/${pairId}?limit=300&sort=desc`, { headers })
  return ((await answer.json()) as { data: { txs: { id: string }[] } }).data.txs.map(({ id }) => id)
}

describe('watch', () => {
  it('draws header, candles and tape on a terminal, follows its size, and restores it with q', async () => {
    const terminal = runOnTerminal(['watch', pairId, '--url', place.url, '--interval', 's1'], settings())
    await terminal.until(/USD.*volume .*TVL .*[┃╻╹].*s1 candles to .*(buy|sell)/s)
    expect(terminal.shown).toContain('␛[?1049h␛[?25l')
    expect(terminal.shown).toContain('␛[32m')
    await untilSubscribed(2)
    const before = terminal.shown.length
    terminal.resize(60, 20)
    await terminal.until(/␛\[2J/)
    await vi.waitFor(() => {
      const frame = terminal.shown.slice(before).split('␛[H').at(-1) ?? ''
      const lines = frame.split('\n').map((line) => line.replace(/␛\[[?\d;]*[A-Za-z]|\r/g, ''))
      expect([lines.length, Math.max(...lines.map(widthOf)) <= 60]).toEqual([20, true])
    }, PATIENCE)
    terminal.type('q')
    expect(await terminal.ended).toEqual({ code: 0, echo: 'on' })
    expect(terminal.shown).toContain('␛[?25h␛[?1049l')
    await untilSubscribed(0)
  })

  it('prints every trade and every retract once when piped, also over a restart of the server', async () => {
    const { child, ended } = startCommand(['watch', pairId, '--url', place.url], settings())
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    await untilSubscribed(1)
    const before = await tradeIds()
    await place.market.play(20)
    await place.caughtUp(node)
    await node.stop()
    await place.playToReorg()
    node = await place.start(KEEP_ALL)
    await untilSubscribed(1)
    await place.market.play(1)
    await place.caughtUp(node)
    const after = await tradeIds()
    const added = after.filter((id) => !before.includes(id))
    expect(added.length).toBeGreaterThan(5)
    await vi.waitFor(() => {
      const { kept, repeated, retracts } = replay(out)
      expect({ repeated, retracts }).toEqual({ repeated: [], retracts: expect.any(Number) })
      expect(retracts).toBeGreaterThan(0)
      expect(added.filter((id) => !kept.has(id))).toEqual([])
      expect([...kept].filter((id) => !after.includes(id))).toEqual([])
    }, PATIENCE)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 0, err: '' })
  })

  it('says what is wrong with a pair', async () => {
    const url = ['--url', place.url]
    expect(await runHere(['watch', 'x', ...url], settings())).toMatchObject({
      ...{ code: 78, err: expect.stringContaining('<pair_address>-<chain>') },
    })
    const unknown = await runHere(['watch', `0x${'1'.repeat(40)}-eth`, ...url], settings())
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringMatching(/Unknown pair 0x1111.*\/v2\/tokens/)])
  })
})

describe('a screen', () => {
  const candles: Candle[] = [
    { timeS: 0, open: 1, high: 4, low: 0, close: 3 },
    { timeS: 60, open: 3, high: 3, low: 1, close: 1 },
  ]
  const trade = {
    id: '1-1',
    side: 'buy',
    amount: 2,
    symbol: 'ABC',
    priceUsd: 3,
    amountUsd: 6,
    wallet: '0xabc',
  } as const
  const view: View = {
    ...{ title: 'ABC/WETH', place: 'eth uniswapv2', interval: 'k1', priceUsd: 3, change24h: -2, notice: '' },
    ...{ volume5m: 1, volume1h: 2, volume24h: 3_000_000, tvl: Number.NaN, trades24h: 7, candles },
    trades: [{ ...trade, timeS: 59 }],
  }

  it('has candles with bodies and wicks to half a row', () => {
    expect(drawChart(candles, 20, 4, PLAIN)).toEqual(['    │  4.0000', '    ┃┃ ', '    ┃┃ ', '    ╿╹ 0.0000'])
  })

  it('fills its rows and never exceeds its columns, however small', () => {
    const paint = createPaint(true)
    for (const [columns, rows] of [
      [100, 30],
      [40, 12],
      [20, 6],
      [10, 3],
      [5, 1],
    ] as const) {
      const lines = drawScreen(view, columns, rows, paint)
      expect([columns, lines.length, lines.every((line) => widthOf(line) <= columns)]).toEqual([columns, rows, true])
    }
  })

  it('writes prices of any size without an exponent', () => {
    expect([1234.5, 15.1716, 0.00000123456, 0, Number.NaN].map(formatPrice)).toEqual([
      ...['1,234.50', '15.172', '0.0000012346', '0.0000', '–'],
    ])
  })
})

describe('progress', () => {
  const simulate = ['simulate', '--hours', '24', '--swaps', '6000', '--seed', '3', '--out', 'market.jsonl']

  it('is a bar on a terminal, gone when the result is printed', async () => {
    const terminal = runOnTerminal(simulate, { cwd: folder, env: { NO_COLOR: '1' } })
    await terminal.ended
    expect(terminal.shown).toMatch(/\r␛\[2Ksimulating {2}[█░]{24} +\d+ % {2}[\d,]+ of 86,400 {2}/)
    expect(terminal.shown).toMatch(/\r␛\[2Kmarket\.jsonl: \d+ blocks/)
    expect(terminal.shown).not.toMatch(/␛\[3\dm/)
  })

  it('is nothing but JSON lines on stderr when piped', async () => {
    const { code, err } = await runHere(simulate, { cwd: folder })
    expect(code).toBe(0)
    for (const line of err.split('\n').slice(0, -1)) expect(JSON.parse(line)).toMatchObject({ message: 'simulating' })
  })
})
