/** The clients against a real `up` on a simulated market that is killed and started again; in Node, Python and a browser. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { openBrowser } from '../rig/browser/chromium.js'
import { openPage } from '../rig/browser/watched-page.js'
import { COLLECTORS, type Collected, type Collector } from '../rig/clients/collectors.js'
import { isLongRun } from '../rig/counts.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { readUpdates } from '../rig/up/contents.js'
import { startUp, type UpProcess } from '../rig/up/process.js'

const KEY = 'dx_clients'
const CHAINS = ['solana', 'bsc'] as const
const PATIENCE = { timeout: 120_000, interval: 50 }
const root = repositoryRoot()

let dataDir: string
let config: Record<string, unknown>
let url: string
let up: UpProcess

const start = () => startUp({ dataDir, config, env: { DEXTAPE_API_KEY: KEY }, args: ['--rate', '40'] })

beforeAll(async () => {
  dataDir = join(scratchFolder(), 'data')
  const [http_port, ws_port] = [await steadyPort(), await steadyPort()]
  config = { http_port, ws_port, simulator: { history_h: 0 } }
  url = `http://127.0.0.1:${http_port}`
  up = start()
  await up.serving
})
afterAll(async () => {
  await up.kill()
  removeScratchFolders()
})

it('prints live swaps by examples/stream.mjs', async () => {
  const child = spawn(process.execPath, [join(root, 'examples/stream.mjs'), 'solana', url], {
    env: { PATH: process.env.PATH, DEXTAPE_API_KEY: KEY },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => {
    child.once('close', resolve)
  })
  const line = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).once('line', resolve)
  })
  child.kill('SIGINT')
  expect(line).toMatch(/^\d{4}-\d\d-\d\dT\S+Z (buy|sell) [\d.]+ \S+→\S+ \S+$/)
  expect(await ended).toBe(0)
})

it('works in a browser, on a page of another origin', async () => {
  const site = createServer((request, response) => {
    const isPage = request.url === '/'
    response.setHeader('content-type', isPage ? 'text/html' : 'text/javascript')
    response.end(
      isPage
        ? '<!doctype html><link rel="icon" href="data:,">'
        : readFileSync(join(root, 'clients/typescript/dist', request.url ?? '')),
    )
  })
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve)
  })
  const browser = await openBrowser()
  try {
    const { page, errors } = await openPage(browser.context)
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
    const seen = await page.evaluate<{ chains: string[]; topics: string[]; isDone: boolean }>(`(async () => {
      const { createClient } = await import('/index.js')
      const client = createClient({ url: '${url}', key: '${KEY}' })
      const chains = (await client.supportedChains()).map(({ chain }) => chain)
      const topics = []
      const subscription = client.subscribe(['tx', '*', 'solana'])
      for await (const { topic } of subscription) if (topics.push(topic) === 3) break
      return { chains, topics, isDone: (await subscription.next()).done }
    })()`)
    expect(seen).toEqual({ chains: expect.arrayContaining(['solana']), topics: expect.any(Array), isDone: true })
    expect(seen.topics.filter((topic) => topic === 'tx').length).toBeGreaterThan(0)
    expect(errors).toEqual([])
  } finally {
    await browser.close()
    site.close()
  }
})

// `serve.test.ts` has restarts in every run.
if (isLongRun())
  it('loses and repeats no swap when the server is killed and started again', async () => {
    const subscriptions = Object.fromEntries(CHAINS.map((chain) => [chain, { params: ['tx', '*', chain] as const }]))
    const collectors: Collector[] = []
    for (const kind of ['typescript', 'python'] as const)
      collectors.push(await COLLECTORS[kind]({ url, key: KEY, subscriptions }))
    /** Waits until every subscription has delivered this many more items. */
    const more = async (count: number) => {
      const before = collectors.map((collector) => CHAINS.map((chain) => collector.of(chain).items.length))
      await vi.waitFor(() => {
        for (const [at, collector] of collectors.entries())
          for (const [of, chain] of CHAINS.entries())
            if (collector.of(chain).items.length < (before[at]?.[of] ?? 0) + count) throw new Error(`${chain}: waiting`)
      }, PATIENCE)
    }
    await more(20)
    await up.kill()
    up = start()
    await up.serving
    await more(20)
    for (const collector of collectors) await collector.close()
    await up.stop()
    for (const chain of CHAINS) {
      const updates = await readUpdates(dataDir, chain)
      for (const collector of collectors) {
        const { started, items, cursor } = collector.of(chain)
        const [from, to] = [seqOf(started?.cursor[0]), seqOf(cursor?.[0])]
        const published = updates.flatMap(({ seq, pairs }) =>
          seq > from && seq <= to ? pairs.flatMap(({ trades }) => trades.map(({ id }) => `${seq} ${id}`)) : [],
        )
        const got = swapsOf(items)
        // The last update may have been cut by the close.
        const whole = published.filter((name) => !name.startsWith(`${to} `))
        expect(got.filter((name) => !name.startsWith(`${to} `)).sort()).toEqual(whole.sort())
        expect(new Set(got).size).toBe(got.length)
        expect(got.length).toBeGreaterThan(30)
      }
    }
  })

const seqOf = (cursor = ''): number => Number(cursor.split(':')[2])

const swapsOf = (items: Collected['items']): string[] =>
  items.flatMap((item) =>
    item.topic === 'tx' ? [`${seqOf(String(item.cursor))} ${(item.tx as { id: string }).id}`] : [],
  )
