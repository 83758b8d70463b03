/** Figures of the dashboard on a running `up`, as Chromium measures them: times and bytes of the first view, heap after ten minutes. */
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, openBrowser } from '../rig/browser/chromium.js'
import { openPage } from '../rig/browser/watched-page.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { startUp, type UpProcess } from '../rig/up/process.js'

const KEY = 'dx_figures'
const LOADS = 5
/** Long tasks are counted from the first paint on, for this long. */
const COUNTED_MS = 5000
const LIVE_MINUTES = 10
const MOST_BYTES = 200_000
const MOST_ROW_MS = 1000
const MOST_BLOCKING_MS = 200
const MOST_GROWTH_MB = 10

const OBSERVE = `
  localStorage.setItem('dextape-key', '${KEY}')
  window.longTasks = []
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries())).observe({ type: 'longtask', buffered: true })
  const look = () => {
    if (document.querySelector('table.markets tbody a')) window.firstRowMs ??= performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)`
const READ = `(() => {
  const paintMs = performance.getEntriesByName('first-contentful-paint')[0].startTime
  const counted = window.longTasks.filter(({ startTime }) => startTime >= paintMs && startTime < paintMs + ${COUNTED_MS})
  return {
    paintMs: Math.round(paintMs),
    rowMs: Math.round(window.firstRowMs),
    blockingMs: Math.round(counted.reduce((sum, { duration }) => sum + duration - 50, 0)),
  }
})()`

type Load = { paintMs: number; rowMs: number; blockingMs: number; bytes: number }

let up: UpProcess
let browser: Browser
let base: string
beforeAll(async () => {
  up = startUp({ dataDir: join(scratchFolder(), 'data'), env: { DEXTAPE_API_KEY: KEY } })
  base = (await up.serving).rest
  await up.until('the clock', async () => [...(await up.status()).values()].every(({ lag_s }) => lag_s < 20))
  browser = await openBrowser({ width: 1440, height: 900 })
}, 11 * 60_000)
afterAll(async () => {
  await browser?.close()
  await up?.kill()
  removeScratchFolders()
})

/** A visitor without a cache. */
async function loadMarkets(): Promise<Load> {
  const { page } = await openPage(browser.context)
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await page.addInitScript(OBSERVE)
  let bytes = 0
  let bytesToRow = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.goto(`${base}/markets`)
  await page.locator('table.markets tbody a').first().waitFor()
  bytesToRow = bytes
  await sleep(COUNTED_MS)
  const figures = await page.evaluate<Omit<Load, 'bytes'>>(READ)
  await page.close()
  return { ...figures, bytes: bytesToRow }
}

async function openLive(path: string): Promise<{ page: Page; session: CDPSession; errors: string[] }> {
  const { page, errors } = await openPage(browser.context)
  const session = await page.context().newCDPSession(page)
  await page.goto(`${base}${path}#key=${KEY}`)
  return { page, session, errors }
}

async function heapMb(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return Math.round(usedSize / 1e5) / 10
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const loadText = () =>
  `load ${loadavg()
    .map((one) => one.toFixed(1))
    .join(' ')}`

describe('the dashboard of a simulated market', () => {
  it(`shows its first rows within ${MOST_ROW_MS} ms, blocks less than ${MOST_BLOCKING_MS} ms and sends less than ${MOST_BYTES} bytes`, async () => {
    await loadMarkets()
    const loads: Load[] = []
    for (let count = 0; count < LOADS; count += 1) loads.push(await loadMarkets())
    const of = (name: keyof Load) => loads.map((load) => load[name])
    for (const name of ['paintMs', 'rowMs', 'blockingMs', 'bytes'] as const)
      console.log(`first view: ${name} median ${median(of(name))}, of ${of(name).join(' ')} (${loadText()})`)
    // The best of them: the machine may have been busy with something else.
    expect(Math.min(...of('rowMs'))).toBeLessThan(MOST_ROW_MS)
    expect(Math.min(...of('blockingMs'))).toBeLessThan(MOST_BLOCKING_MS)
    expect(Math.max(...of('bytes'))).toBeLessThan(MOST_BYTES)
  })

  it(
    `needs about as much memory after ${LIVE_MINUTES} minutes as at the start`,
    async () => {
      const answer = await fetch(`${base}/v2/ranks?topic=hot&limit=1`, { headers: { 'X-API-KEY': KEY } })
      const { data } = (await answer.json()) as { data: { token: string; chain: string }[] }
      const paths = ['/markets', `/token/${data[0]?.chain}/${data[0]?.token}`, '/system']
      const views = await Promise.all(paths.map(openLive))
      await sleep(15_000)
      const read = () => Promise.all(views.map(({ session }) => heapMb(session)))
      const heaps = [await read()]
      for (let minute = 0; minute < LIVE_MINUTES; minute += 1) {
        await sleep(60_000)
        heaps.push(await read())
      }
      const names = ['markets', 'token', 'system']
      for (const [at, name] of names.entries())
        console.log(`heap of ${name}, MB by minute: ${heaps.map((one) => one[at]).join(' ')} (${loadText()})`)
      for (const [at] of names.entries())
        expect((heaps.at(-1)?.[at] ?? Number.NaN) - (heaps[0]?.[at] ?? 0)).toBeLessThan(MOST_GROWTH_MB)
      expect(views.flatMap(({ errors }) => errors).filter((text) => !text.includes('403'))).toEqual([])
    },
    (LIVE_MINUTES + 5) * 60_000,
  )
})
