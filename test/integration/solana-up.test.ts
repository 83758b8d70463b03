/** `dextape up` on a rate-limited Solana node serves a pair's live candles within a minute. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Limiter, startLimiter } from '../rig/evm/limiter.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { generatedTransaction, SOL_USDC_SWAP } from '../rig/solana/generated/transactions.js'
import { createLedger, type Ledger, SLOT_MS } from '../rig/solana/ledger.js'
import { keepGoing, type LiveLedger } from '../rig/solana/live.js'
import { MOVING_POOL } from '../rig/solana/moving-pool.js'
import { type RpcServer, startRpcServer } from '../rig/solana/rpc-server.js'
import { startUp, type UpProcess } from '../rig/up/process.js'

const KEY = 'dx_solana'
const WITHIN_MS = 60_000
const REQUESTS_PER_S = 10
const HISTORY_SLOTS = 50
/** SOL/USDC on Raydium CLMM: without it nothing has a USD price. */
const SOL_USDC_POOL = generatedTransaction(SOL_USDC_SWAP).expected.flatMap((event) =>
  event.type === 'swap' && event.pool !== undefined ? [event.pool] : [],
)

let ledger: Ledger
let live: LiveLedger
let server: RpcServer
let limiter: Limiter

describe('up on a Solana node', () => {
  beforeAll(async () => {
    ledger = createLedger({
      ...{ seed: 1, skipChance: 0.05, transactions: [3, 8] as const },
      firstTimeS: Math.floor((Date.now() - HISTORY_SLOTS * SLOT_MS) / 1000),
      weights: { trade: 3, pool: 3, garbled: 0 },
      isRepeated: (name) => name === SOL_USDC_SWAP,
    })
    ledger.advance({ slots: HISTORY_SLOTS })
    server = await startRpcServer(ledger)
    limiter = await startLimiter(server, { requestsPerS: REQUESTS_PER_S })
    live = keepGoing(ledger, SLOT_MS)
  })
  afterAll(async () => {
    live?.stop()
    await limiter?.stop()
    await server?.stop()
    removeScratchFolders()
  })

  test('serves live candles within a minute, for every second with a trade, even while the process was down', async () => {
    const dataDir = join(scratchFolder(), 'data')
    const startedMs = Date.now()
    let up = upOn(dataDir)
    await untilPoints(up, 3)
    expect(Date.now() - startedMs).toBeLessThan(WITHIN_MS)
    await up.kill()
    up = upOn(dataDir)
    await up.serving
    live.stop()
    const last = secondsOf(ledger).at(-1)
    // A second has several slots; the last of them must have arrived.
    await up.until('the last trade', async () => String((await pointsOf(up)).at(-1)) === String(last))
    const got = await pointsOf(up)
    expect(got.length).toBeGreaterThan(3)
    expect(got).toEqual(secondsOf(ledger).slice(-got.length))
    expect(limiter.mostPerS).toBeLessThanOrEqual(REQUESTS_PER_S)
    const [chain] = (await up.status()).values()
    expect(chain).toMatchObject({ chain: 'solana', dead_letters: 0, stopped: null })
    expect((await up.stop()).code).toBe(0)
  })
})

function upOn(dataDir: string): UpProcess {
  const args = ['--chain', 'solana', '--rpc', limiter.url, '--pool', MOVING_POOL, '--pool', ...SOL_USDC_POOL]
  return startUp({ dataDir, env: { DEXTAPE_API_KEY: KEY }, args })
}

type Second = readonly [timeS: number, closeSol: number]

/** The last price of each second with a trade, from the chain. */
function secondsOf({ blocks }: Ledger): Second[] {
  const closes = new Map<number, number>()
  for (const { blockTimeS, trades } of blocks) for (const { price } of trades) closes.set(blockTimeS, price)
  return [...closes]
}

async function pointsOf(up: UpProcess): Promise<Second[]> {
  const { rest } = await up.serving
  const path = `/v2/klines/pair/${MOVING_POOL}-solana?interval=s1&category=r&limit=1000`
  const body = (await (await fetch(`${rest}${path}`, { headers: { 'x-api-key': KEY } })).json()) as {
    data?: { points?: { time: number; close: string }[] }
  }
  return (body.data?.points ?? []).map(({ time, close }) => [time, Number(close)])
}

async function untilPoints(up: UpProcess, count: number): Promise<void> {
  await up.until(`${count} candles`, async () => (await pointsOf(up)).length >= count)
}
