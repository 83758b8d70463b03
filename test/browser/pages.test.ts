import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { BUILT_IN_CHAINS } from '../../services/core/config/built-in-chains.js'
import type { ServeConfig } from '../../services/serve/serve-deps.js'
import { type Browser, chromiumPath, openBrowser } from '../rig/browser/chromium.js'
import { freePort } from '../rig/browser/free-port.js'
import {
  anchorsIn,
  hasNoSidewaysScroll,
  openPage,
  paintedPixels,
  type WatchedPage,
} from '../rig/browser/watched-page.js'
import { KEY, type Rig, startRig } from '../serve/rig.js'
import { CHAIN, PAIR } from '../serve/updates.js'
import { addLiquidity, buy, nextUpdate, openingUpdate } from './market.js'

const BROWSER_MS = 11 * 60_000
const PAIR_ID = `${PAIR}-${CHAIN}`
const PHONE = { width: 390, height: 844 }

let rig: Rig
let browser: Browser
let base: string
let seq = 1
let watched: WatchedPage

beforeAll(async () => {
  browser = await openBrowser()
  rig = await startRig()
  await rig.append(openingUpdate())
  await rig.start()
  base = new URL('/', (await rig.get('/health')).url).origin
}, BROWSER_MS)
afterAll(async () => {
  await browser?.close()
  await rig?.stop()
})
afterEach(() => watched.page.close())

async function open(path: string): Promise<WatchedPage> {
  watched = await openPage(browser.context)
  // Each test starts as a new visitor.
  await watched.page.goto(`${base}/pages/icon.svg`)
  await watched.page.evaluate('localStorage.clear()')
  await watched.page.goto(`${base}${path}`)
  return watched
}

const feedNext = (priceUsd: number, given: Parameters<typeof nextUpdate>[2]) => {
  seq += 1
  return rig.feed(nextUpdate(seq, priceUsd, given))
}

describe('the page at /', () => {
  it('shows live trades and liquidity, without requests to other hosts', async () => {
    const { page, errors, hosts } = await open(`/#key=${KEY}`)
    await page.locator('#connection[data-state=live]').waitFor()
    await page.getByRole('button', { name: /TKN/ }).waitFor()
    expect(page.url()).toBe(`${base}/`)
    expect(await page.locator('#pair-title').textContent()).toBe('TKN')
    const before = await page.locator('#tape tr').count()

    await feedNext(2.5, { trades: [buy('102-1', '0x00000000000000000000000000000000000000b1', 2.5)] })
    const swap = page.locator('#tape tr').filter({ hasText: '0x0000…00b1' })
    await swap.waitFor()
    expect(await swap.locator('td').allTextContents()).toEqual([
      ...['0s', 'TKN / WETH', 'Buy', '2.5000', '500', '$1,235', '0x0000…00b1', 'eth'],
    ])
    await expect.poll(() => page.locator('#pair-price').textContent()).toBe('$2.5000')

    await feedNext(2.5, { liquidity: [addLiquidity('103-9')] })
    const liquidity = page.locator('#tape tr[data-kind=liquidity]')
    await liquidity.waitFor()
    expect(await liquidity.locator('.side').textContent()).toBe('Add')
    expect(await page.locator('#tape tr').count()).toBe(before + 2)
    await expect
      .poll(() => page.locator('#chains li').allTextContents(), { timeout: 10_000 })
      .toEqual(['eth103at 2023-11-15'])
    expect({ errors, hosts: [...hosts] }).toEqual({ errors: [], hosts: ['127.0.0.1'] })
  })

  it('draws candles and updates them', async () => {
    const { page, errors } = await open(`/#key=${KEY}`)
    await expect.poll(() => paintedPixels(page, '#chart')).toBeGreaterThan(2000)
    await feedNext(3.75, { trades: [buy(`${seq}-1`, '0xc1', 3.75)] })
    await expect.poll(() => page.locator('#legend').textContent()).toContain('C 3.7500')
    await page.locator('#chart').focus()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => page.locator('#legend').textContent()).not.toContain('C 3.7500')
    expect(errors).toEqual([])
  })

  it('marks trades removed by a reorg', async () => {
    const { page } = await open(`/#key=${KEY}`)
    await page.locator('#connection[data-state=live]').waitFor()
    await feedNext(2.25, { trades: [buy('777-1', '0x00000000000000000000000000000000000000d1', 2.25)] })
    const row = page.locator('#tape tr').filter({ hasText: '0x0000…00d1' })
    await row.waitFor()
    seq += 1
    const gone = { pair: PAIR, ids: ['777-1'], gone: false }
    await rig.feed({ ...nextUpdate(seq, 2, { trades: [] }), kind: 'retract', retracted: [gone] })
    await expect.poll(() => row.getAttribute('title')).toBe('Removed by a reorg')
  })

  it('asks for a key, explains how to create one, and accepts it', async () => {
    const { page, errors } = await open('/')
    const panel = page.getByRole('region', { name: 'Enter an API key' })
    await panel.waitFor()
    expect(await panel.textContent()).toContain('npx dextape keys create --name me')
    await page.getByRole('textbox', { name: 'API key' }).fill(KEY)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.locator('#connection[data-state=live]').waitFor()
    expect(await panel.isVisible()).toBe(false)
    expect(errors).toEqual([])
  })

  it('reports a wrong key', async () => {
    const { page } = await open('/#key=dx_wrong')
    const words = page.locator('#key-wrong')
    await words.waitFor()
    expect(await words.textContent()).toBe('API key unknown or revoked. Enter another key.')
    expect(await page.locator('#connection').textContent()).toBe('Not connected')
  })

  it('shows the simulation notice only when the server reports it', async () => {
    const real = await open(`/#key=${KEY}`)
    await real.page.locator('#chains li').first().waitFor()
    expect(await real.page.locator('#simulated').isVisible()).toBe(false)
    await real.page.route('**/status', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...((await response.json()) as object), simulated: true } })
    })
    for (const path of ['/', '/reference']) {
      await real.page.goto(`${base}${path}`)
      await real.page.getByText('Simulated market.').waitFor()
    }
  })
})

describe('when the server restarts', () => {
  const config: ServeConfig = {
    ...{ host: '127.0.0.1', httpPort: 0, wsPort: 0 },
    ...{ apiKey: { kind: 'none' }, envelope: 'spec' },
    chains: new Map(BUILT_IN_CHAINS.map((facts) => [facts.chain, facts])),
    contracts: new Map(),
  }

  it('shows the outage, reconnects and shows missed trades', async () => {
    const ports = { httpPort: await freePort(), wsPort: await freePort() }
    const first = rig.open({ config: { ...config, ...ports } })
    await first.start()
    watched = await openPage(browser.context)
    const { page } = watched
    await page.goto(`http://127.0.0.1:${ports.httpPort}/#key=${KEY}`)
    await page.locator('#connection[data-state=live]').waitFor()
    await feedNext(2.1, { trades: [buy(`${seq}-1`, '0x00000000000000000000000000000000000000e1', 2.1)] })
    await page.locator('#tape tr').filter({ hasText: '0x0000…00e1' }).waitFor()
    await first.stop()
    await page.locator('#connection[data-state=waiting]').waitFor()
    expect(await page.locator('#notice').textContent()).toMatch(/The tape is paused; reconnecting in \d+ s\.$/)

    await feedNext(2.2, { trades: [buy(`${seq}-1`, '0x00000000000000000000000000000000000000e2', 2.2)] })
    const second = rig.open({ config: { ...config, ...ports } })
    await second.start()
    try {
      await page.locator('#tape tr').filter({ hasText: '0x0000…00e2' }).waitFor()
      expect(await page.locator('#connection').textContent()).toBe('Live')
      expect(await page.locator('#notice').isVisible()).toBe(false)
    } finally {
      await second.stop()
    }
  })
})

describe('the page at /reference', () => {
  it('shows a call with working example values and sends it', async () => {
    const { page, errors, hosts } = await open(`/reference#pairDetail&key=${KEY}`)
    await page.getByRole('heading', { name: 'Pair details: tokens, prices, reserves and rolling statistics' }).waitFor()
    await expect.poll(() => page.getByLabel('pair-id').inputValue()).toBe(PAIR_ID)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('#answer .status').getByText('200 OK').waitFor()
    expect(await page.locator('#answer dl').textContent()).toContain('x-cu-cost5')
    expect(JSON.parse((await page.locator('#answer pre').textContent()) ?? '')).toMatchObject({ data: { pair: PAIR } })
    expect(await page.locator('.curl pre').textContent()).toBe(
      `curl -H "X-API-KEY: $KEY" \\\n  '${base}/v2/pairs/${encodeURIComponent(PAIR_ID)}'`,
    )
    expect({ errors, hosts: [...hosts] }).toEqual({ errors: [], hosts: ['127.0.0.1'] })
  })

  it('shows the error of a bad request', async () => {
    const { page } = await open(`/reference#pairDetail&key=${KEY}`)
    await expect.poll(() => page.getByLabel('pair-id').inputValue()).toBe(PAIR_ID)
    await page.getByLabel('pair-id').fill('nonsense')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('#answer .status').getByText('400').waitFor()
    expect(await page.locator('#answer pre').textContent()).toContain('"code": "id_malformed"')
  })

  it('subscribes, shows acknowledgement and pushes, and unsubscribes', async () => {
    const { page, errors } = await open(`/reference#ws-tx&key=${KEY}`)
    await expect.poll(() => page.getByLabel('params').inputValue()).toContain(PAIR)
    const frames = page.locator('#frames li')
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    await frames.filter({ hasText: '"status":"ok","cursor"' }).waitFor()
    await feedNext(2.3, { trades: [buy(`${seq}-1`, `0x${'f1'.repeat(20)}`, 2.3)] })
    await frames.filter({ hasText: '"topic":"tx"' }).waitFor()
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
    await frames.filter({ hasText: '"removed":1' }).waitFor()
    expect(errors).toEqual([])
  })

  it('has working example values for every call and topic', async () => {
    const { page, errors } = await open(`/reference#key=${KEY}`)
    await page.locator('#contents a').first().waitFor()
    const anchors = await anchorsIn(page, '#contents')
    const answers: string[] = []
    for (const anchor of anchors) {
      await page.goto(`${base}/reference${anchor}`)
      if (anchor.startsWith('#ws-')) {
        await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
        const reply = page.locator('#frames li').filter({ hasText: /"id":1,"(result|error)"/ })
        answers.push(`${anchor} ${(await reply.last().textContent())?.includes('"status":"ok"') ? 'ok' : 'refused'}`)
      } else {
        await page.getByRole('button', { name: 'Send' }).click()
        answers.push(
          `${anchor} ${(await page.locator('#answer .status span').first().textContent()) === '200 OK' ? 'ok' : 'refused'}`,
        )
      }
    }
    expect(answers).toEqual(anchors.map((anchor) => `${anchor} ok`))
    expect(errors).toEqual([])
  })
})

describe('on a phone', () => {
  it.each(['/', '/reference#klinesPair', '/reference#ws-kline'])('%s does not scroll sideways', async (path) => {
    const { page } = await open(`/#key=${KEY}`)
    await page.setViewportSize(PHONE)
    await page.goto(`${base}${path}`)
    await page
      .getByRole(path === '/' ? 'img' : 'article')
      .first()
      .waitFor()
    expect(await hasNoSidewaysScroll(page)).toBe(true)
  })
})

describe('a page of another origin', () => {
  let elsewhere: Server
  beforeAll(async () => {
    elsewhere = createServer((_request, response) => response.end('<!doctype html>')).listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
  })
  afterAll(() => void elsewhere.close())

  it('reads an answer with its headers, and opens the URL of a token as it is', async () => {
    watched = await openPage(browser.context)
    const { page } = watched
    await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`)
    const result = await page.evaluate(
      async ({ api, key, path }) => {
        const headers = { 'X-API-KEY': key }
        const answer = await fetch(`${api}${path}`, { headers })
        const refused = await fetch(`${api}${path}`)
        const token = await fetch(`${api}/v2/ws/token`, { method: 'POST', headers })
        const { data } = (await token.json()) as { data: { url: string } }
        const socket = new WebSocket(data.url)
        const pong = await new Promise((resolve) => {
          socket.onopen = () => socket.send('{"jsonrpc":"2.0","method":"ping","id":1}')
          socket.onmessage = (message) => resolve(message.data)
          socket.onclose = ({ code }) => resolve(code)
        })
        socket.close()
        return {
          ...{ status: answer.status, cost: answer.headers.get('x-cu-cost'), hasTag: answer.headers.has('etag') },
          ...{ refused: ((await refused.json()) as { code: string }).code, pong },
        }
      },
      { api: base, key: KEY, path: `/v2/pairs/${PAIR_ID}` },
    )
    expect(result).toEqual({
      ...{ status: 200, cost: '5', hasTag: true },
      ...{ refused: 'key_missing', pong: '{"jsonrpc":"2.0","id":1,"result":"pong"}' },
    })
  })
})

it('the browser in CHROMIUM_PATH is missing: fails, without trying another', () => {
  const env = { CHROMIUM_PATH: '/nowhere/chromium' }
  expect(() => chromiumPath(env)).toThrow('Chromium is missing: looked at /nowhere/chromium.')
})
