/** `dextape up` on a rate-limited EVM node serves a pair's live candles within a minute. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BasePair, openBasePair } from '../rig/evm/base-pair.js'
import { type Limiter, startLimiter } from '../rig/evm/limiter.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { openMarket } from '../rig/evm/opening.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { startUp, type UpProcess } from '../rig/up/process.js'
import { connect } from '../serve/push-client.js'

const LIMITS = { requestsPerS: 10, maxBlocks: 10 }
const WITHIN_MS = 60_000
const TRADE_EVERY_MS = 1000

let node: EvmNode
let limiter: Limiter
let pair: BasePair

const nowS = () => Math.floor(Date.now() / 1000)

beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: nowS() - 60 })
  pair = await openBasePair(await openMarket(node))
  limiter = await startLimiter(node, LIMITS)
})
afterAll(async () => {
  await limiter?.stop()
  await node?.stop()
  removeScratchFolders()
})

const KEY = 'dx_evm'
const upOn = (dataDir: string): UpProcess =>
  startUp({
    dataDir,
    env: { DEXTAPE_API_KEY: KEY },
    args: ['--chain', 'base', '--rpc', limiter.url, '--pool', pair.address],
  })

type Point = { time: number; close: string; volume: string }

test('serves live candles over REST and WebSocket within a minute, and resumes after a kill', async () => {
  const dataDir = join(scratchFolder(), 'data')
  const startedMs = Date.now()
  let up = upOn(dataDir)
  const trading = keepTrading()
  try {
    const { rest, ws } = await up.serving
    const points = await firstPoints(rest)
    const id = await firstPush(ws)
    expect(Date.now() - startedMs).toBeLessThan(WITHIN_MS)
    expect(id).toBe(`${pair.address}-base`)
    expect(points.every(({ close }) => Number(close) > 1000 && Number(close) < 4000)).toBe(true)

    await up.kill()
    up = upOn(dataDir)
    await up.serving
  } finally {
    await trading.stop()
  }
  const { rest } = await up.serving
  const last = await pair.trade(-777, nowS())
  await up.until('the last trade', async () => (await pointsOf(rest)).at(-1)?.time === last.timeS)
  // Every second with a trade has its candle, even while the process was down.
  const expected = [...trading.trades, last].map(({ timeS, price }) => [timeS, price])
  const got = (await pointsOf(rest)).map(({ time, close }) => [time, Number(close)])
  expect(got.length).toBeGreaterThan(3)
  expect(got).toEqual(expected.slice(-got.length))
  expect(limiter.mostPerS).toBeLessThanOrEqual(LIMITS.requestsPerS)
  expect((await up.stop()).code).toBe(0)
})

async function pointsOf(rest: string): Promise<Point[]> {
  const path = `/v2/klines/pair/${pair.address}-base?interval=s1&category=r&limit=1000`
  const body = (await (await fetch(`${rest}${path}`, { headers: { 'x-api-key': KEY } })).json()) as {
    data?: { points?: Point[] }
  }
  return body.data?.points ?? []
}

async function firstPoints(rest: string): Promise<Point[]> {
  const deadline = Date.now() + WITHIN_MS
  for (;;) {
    const points = await pointsOf(rest)
    if (points.length > 0) return points
    if (Date.now() > deadline) throw new Error(`no candle: ${await (await fetch(`${rest}/status`)).text()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** The pair id of the first pushed candle. */
async function firstPush(ws: string): Promise<unknown> {
  const client = await connect(ws, { 'x-api-key': KEY })
  const { error } = await client.call('subscribe', ['kline', pair.address, 's1', 'base'])
  expect(error).toBeUndefined()
  for (const deadline = Date.now() + WITHIN_MS; ; ) {
    const frame = await client.topic('kline').catch((late: unknown) => {
      if (Date.now() > deadline) throw late
      return null
    })
    if (frame === null) continue
    client.close()
    return frame.result?.id
  }
}

function keepTrading() {
  const trades: { timeS: number; price: number }[] = []
  let going = true
  const running = (async () => {
    for (let turn = 0; going; turn++) {
      trades.push(await pair.trade(turn % 2 === 0 ? 500 : -400, nowS()))
      await new Promise((resolve) => setTimeout(resolve, TRADE_EVERY_MS))
    }
  })()
  return {
    trades,
    async stop() {
      going = false
      await running
    },
  }
}

test('rejects a stablecoin of another chain at the start, with the reason', async () => {
  const folder = scratchFolder()
  const config = join(folder, 'dextape.json')
  // Ethereum's USDT.
  const stables = ['0xdac17f958d2ee523a2206206994597c13d831ec7']
  writeFileSync(config, JSON.stringify({ http_port: 0, ws_port: 0, chains: { base: { stables } } }))
  const args = ['up', '--config', config, '--data-dir', join(folder, 'data'), '--chain', 'base', '--rpc', limiter.url]
  const { code, err } = await runCommand(args, { cwd: folder, withinMs: 60_000 })
  expect(err).toContain(`"stables" ${stables[0]} has no token contract on this chain, it is a token of eth`)
  expect(code).toBe(78)
})
