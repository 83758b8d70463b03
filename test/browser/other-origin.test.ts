/** A page of another origin calls REST and opens a socket, in a real browser. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Browser, openBrowser } from '../rig/browser/chromium.js'
import { KEY, type Rig, startRig } from '../serve/rig.js'
import { CHAIN, PAIR } from '../serve/updates.js'
import { openingUpdate } from './market.js'

const BROWSER_MS = 11 * 60_000

let rig: Rig
let browser: Browser
let elsewhere: Server
beforeAll(async () => {
  browser = await openBrowser()
  rig = await startRig()
  await rig.append(openingUpdate())
  await rig.start()
  elsewhere = createServer((_request, response) => response.end('<!doctype html>')).listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
}, BROWSER_MS)
afterAll(async () => {
  elsewhere?.close()
  await browser?.close()
  await rig?.stop()
})

it(
  'reads an answer with its headers, and opens the URL of a token as it is',
  async () => {
    const api = new URL('/', (await rig.get('/health')).url).origin
    const page = await browser.context.newPage()
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
      { api, key: KEY, path: `/v2/pairs/${PAIR}-${CHAIN}` },
    )
    await page.close()
    expect(result).toEqual({
      ...{ status: 200, cost: '5', hasTag: true },
      ...{ refused: 'key_missing', pong: '{"jsonrpc":"2.0","id":1,"result":"pong"}' },
    })
  },
  BROWSER_MS,
)
