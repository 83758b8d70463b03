/** Every view of the dashboard on a running `up` with its simulated market, which is stopped, killed and started again. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, openBrowser } from '../rig/browser/chromium.js'
import { openPage, type WatchedPage } from '../rig/browser/watched-page.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { startUp, type UpProcess } from '../rig/up/process.js'
import { runSamples } from './dashboard-sql.js'

const KEY = 'dx_running'
const LEAST_SAMPLES = 20
/** Within this time what is old must look old; the slack is for answers that are on their way, and a busy machine. */
const STALE_MS = 2000
const SLACK_MS = 250
const LATER = { timeout: 30_000 }

/** Notes when the page turned old: asking it takes a while. */
const NOTE_STALE = `new MutationObserver(() => {
  if (document.querySelector('.frame.is-stale') !== null) window.staleAtMs ??= Date.now()
}).observe(document.body, { subtree: true, attributes: true })`

type Token = { token: string; chain: string; main_pair: string }
type Swap = { id: string; wallet_address: string }

let up: UpProcess
let browser: Browser
let base: string
let ports: { http_port: number; ws_port: number }
let watched: WatchedPage | undefined
const dataDir = join(scratchFolder(), 'data')
const start = () => startUp({ dataDir, env: { DEXTAPE_API_KEY: KEY }, config: ports })

beforeAll(async () => {
  const first = await steadyPort(2)
  ports = { http_port: first, ws_port: first + 1 }
  up = start()
  base = (await up.serving).rest
  await up.until('the clock', async () => [...(await up.status()).values()].every(({ lag_s }) => lag_s < 20))
  browser = await openBrowser({ width: 1440, height: 900 })
}, 11 * 60_000)
afterEach(() => watched?.page.close())
afterAll(async () => {
  await browser?.close()
  await up?.kill()
  removeScratchFolders()
})

async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(`${base}${path}`, { headers: { 'X-API-KEY': KEY, 'X-Envelope': 'always' } })
  return ((await answer.json()) as { data: T }).data
}

async function busiest(chain = 'eth'): Promise<Token> {
  const [token] = await ask<Token[]>(`/v2/ranks?topic=hot&chain=${chain}&limit=1`)
  if (token === undefined) throw new Error(`no token of ${chain} is traded`)
  return token
}
const swapsOf = async ({ main_pair, chain }: Token, limit: number): Promise<Swap[]> =>
  (await ask<{ txs: Swap[] }>(`/v2/txs/swap/${main_pair}-${chain}?limit=${limit}&sort=desc`)).txs

async function open(path: string): Promise<WatchedPage> {
  watched = await openPage(browser.context)
  await watched.page.goto(`${base}${path}#key=${KEY}`)
  await watched.page.locator('.connection[data-state=live]').waitFor()
  return watched
}

const canvasOf = (page: Page) => page.locator('.chart-box .canvas')
const barsOf = async (page: Page) => Number(await canvasOf(page).getAttribute('data-bars'))
const pictureOf = async (page: Page) => (await canvasOf(page).screenshot()).toString('base64')
const staleOf = (page: Page) => page.locator('.frame.is-stale')

describe('the dashboard of a running market', () => {
  it('shows every view with its data, without a console error and without another host', async () => {
    const hot = await busiest()
    const [swap] = await swapsOf(hot, 1)
    const token = `/token/${hot.chain}/${hot.token}`
    const views: [path: string, content: string][] = [
      ['/', 'table.markets tbody a'],
      ['/markets?list=gainers&window=1h', 'table.markets tbody a'],
      ['/markets?list=losers&window=4h', 'table.markets tbody a'],
      ['/markets?list=new&chain=solana', 'table.markets .spark path'],
      ['/launchpad', '.board .progress'],
      [token, 'table.trades tbody tr'],
      [`${token}?tab=liquidity`, '.market-main .rows tbody tr'],
      [`${token}?tab=pairs`, '.market-main .rows tbody tr'],
      [`${token}?tab=holders`, '.market-main .rows tbody tr'],
      [`${token}?tab=risk`, '.checks li'],
      [`/pair/${hot.chain}/${hot.main_pair}?interval=k15&currency=m&style=area`, 'table.trades tbody tr'],
      [`/wallet/${hot.chain}/${swap?.wallet_address}`, '.days li:nth-child(30)'],
      [`/compare?ids=${hot.token}-${hot.chain}`, '.compared a'],
      ['/watchlist', '.market h1'],
      ['/system', '.histories .line'],
      ['/sql', '.schema summary'],
      ['/reference', 'article'],
    ]
    const { page, errors, hosts } = await open('/')
    for (const [path, content] of views) {
      await page.goto(`${base}${path}`)
      await page
        .locator(content)
        .first()
        .waitFor({ state: 'attached' })
        .catch(() => errors.push(`${path} never had ${content}`))
    }
    expect({ errors, hosts: [...hosts] }).toEqual({ errors: [], hosts: ['127.0.0.1'] })
  }, 120_000)

  it('moves: prices and trades of the markets, and the last candle', async () => {
    const { page } = await open('/markets')
    const tape = page.getByRole('region', { name: 'Tape' }).getByRole('listitem')
    await tape.first().waitFor()
    const before = await tape.allTextContents()
    await expect.poll(async () => (await tape.allTextContents()).join(), LATER).not.toBe(before.join())
    const hot = await busiest()
    await page.goto(`${base}/token/${hot.chain}/${hot.token}`)
    await expect.poll(() => barsOf(page)).toBeGreaterThan(10)
    const legend = page.locator('.legend')
    const was = await legend.textContent()
    await expect.poll(() => legend.textContent(), LATER).not.toBe(was)
  }, 90_000)

  it('zooms, shows values at the crosshair, and scrolls back into the history', async () => {
    const hot = await busiest('solana')
    const { page, errors } = await open(`/token/${hot.chain}/${hot.token}?interval=k15`)
    await expect.poll(() => barsOf(page)).toBeGreaterThan(100)
    const { x = 0, y = 0 } = (await canvasOf(page).boundingBox()) ?? {}
    const legend = page.locator('.legend')
    const last = await legend.textContent()
    await page.mouse.move(x + 500, y + 150)
    // The time at the crosshair, and its candle or that there is none.
    await expect.poll(async () => (await legend.textContent())?.slice(0, 16)).not.toBe(last?.slice(0, 16))
    const plain = await pictureOf(page)
    await page.mouse.wheel(0, -600)
    await expect.poll(async () => (await pictureOf(page)) === plain).toBe(false)
    await page.getByRole('group', { name: 'Interval' }).getByRole('button', { name: '1s' }).click()
    await page.mouse.move(x + 500, y + 150)
    const older: string[] = []
    page.on('request', (request) => older.push(...(/to_time=\d+/.exec(request.url()) ?? [])))
    await expect
      .poll(async () => {
        await page.mouse.wheel(-4000, 0)
        return older.length
      }, LATER)
      .toBeGreaterThan(0)
    const path = `/v2/klines/token/${hot.token}-${hot.chain}?interval=s1&limit=1000`
    const { points } = await ask<{ points: { time: number }[] }>(path)
    await expect.poll(() => canvasOf(page).getAttribute('data-first'), LATER).toBe(String(points[0]?.time))
    expect(errors).toEqual([])
  }, 90_000)

  it('runs every SQL sample with rows', async () => {
    const { page, errors } = await open('/sql')
    await page.locator('.schema summary').first().waitFor()
    const said = await runSamples(page)
    expect(said.size).toBeGreaterThanOrEqual(LEAST_SAMPLES)
    expect([...said].filter(([, text]) => !/^200 [1-9][\d,]* rows in/.test(text))).toEqual([])
    expect(errors).toEqual([])
  }, 180_000)

  it.each(['/markets', '/system', '/sql'])(
    `${STALE_MS} ms after the server fell silent, %s looks old; then it is live again`,
    async (path) => {
      const { page } = await open(path)
      await page.evaluate(NOTE_STALE)
      const stoppedAtMs = Date.now()
      process.kill(up.pid, 'SIGSTOP')
      try {
        await staleOf(page).waitFor()
        expect((await page.evaluate<number>('window.staleAtMs')) - stoppedAtMs).toBeLessThan(STALE_MS + SLACK_MS)
        await page.getByText(/^No answer from the server for \d+s\. What you see is old\.$/).waitFor()
        await page.getByText(/^(Next attempt in \d+ s|Trying now…)$/).waitFor()
        expect(await page.locator('.connection').textContent()).toBe('Reconnecting')
      } finally {
        process.kill(up.pid, 'SIGCONT')
      }
      await page
        .getByRole('button', { name: 'Retry now' })
        .click({ timeout: 2000 })
        .catch(() => {})
      await expect.poll(() => staleOf(page).count(), LATER).toBe(0)
      await page.locator('.connection[data-state=live]').waitFor()
    },
    60_000,
  )

  it('after kill -9 and a restart the trades of the page are those of REST, each once', async () => {
    const hot = await busiest()
    const { page } = await open(`/pair/${hot.chain}/${hot.main_pair}`)
    const rows = page.locator('table.trades tbody tr:not(.is-removed)')
    await rows.first().waitFor()
    await up.kill()
    await staleOf(page).waitFor()
    up = start()
    await up.serving
    await page.locator('.connection[data-state=live]').waitFor({ timeout: 120_000 })
    const newest = (await swapsOf(hot, 1))[0]?.id
    await expect.poll(async () => (await swapsOf(hot, 1))[0]?.id, { timeout: 60_000 }).not.toBe(newest)
    const idsOf = () =>
      page.evaluate<string[]>(
        "[...document.querySelectorAll('table.trades tbody tr:not(.is-removed)')].map((row) => row.dataset.id)",
      )
    // A trade may come between the two readings: both are repeated until they meet.
    await expect
      .poll(async () => {
        const stored = (await swapsOf(hot, 60)).map(({ id }) => id)
        const shown = await idsOf()
        const from = shown.indexOf(stored[0] ?? '')
        return from < 0 ? ['behind'] : shown.slice(from, from + 60).filter((id, at) => id !== stored[at])
      }, LATER)
      .toEqual([])
    const shown = await idsOf()
    expect(new Set(shown).size).toBe(shown.length)
  }, 240_000)
})
