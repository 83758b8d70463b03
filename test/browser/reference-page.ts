/** The page at /reference, and what a page of another origin can do. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anchorsIn, openPage } from '../rig/browser/watched-page.js'
import { itWhenLong } from '../rig/suite/long-only.js'
import { PAIR } from '../serve/updates.js'
import { buy } from './market.js'
import { KEY, OPERATOR_KEY, PAIR_ID, type Scene } from './scene.js'

export function describeReference(scene: Scene): void {
  describe('the page at /reference', () => {
    it('shows a call with working example values and sends it', async () => {
      const { page, errors, hosts } = await scene.open(`/reference#pairDetail&key=${KEY}`)
      await page
        .getByRole('heading', { name: 'Pair details: tokens, prices, reserves and rolling statistics' })
        .waitFor()
      await expect.poll(() => page.getByLabel('pair-id').inputValue()).toBe(PAIR_ID)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.locator('#answer .status').getByText('200 OK').waitFor()
      expect(await page.locator('#answer dl').textContent()).toContain('x-cu-cost5')
      expect(JSON.parse((await page.locator('#answer pre').textContent()) ?? '')).toMatchObject({
        data: { pair: PAIR },
      })
      expect(await page.locator('.curl pre').textContent()).toBe(
        `curl -H "X-API-KEY: $KEY" \\\n  '${scene.base}/v2/pairs/${encodeURIComponent(PAIR_ID)}'`,
      )
      expect({ errors, hosts: [...hosts] }).toEqual({ errors: [], hosts: ['127.0.0.1'] })
    })

    itWhenLong('shows the error of a bad request', async () => {
      const { page } = await scene.open(`/reference#pairDetail&key=${KEY}`)
      await expect.poll(() => page.getByLabel('pair-id').inputValue()).toBe(PAIR_ID)
      await page.getByLabel('pair-id').fill('nonsense')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.locator('#answer .status').getByText('400').waitFor()
      expect(await page.locator('#answer pre').textContent()).toContain('"code": "id_malformed"')
    })

    it('subscribes, shows acknowledgement and pushes, and unsubscribes', async () => {
      const { page, errors } = await scene.open(`/reference#ws-tx&key=${KEY}`)
      await expect.poll(() => page.getByLabel('params').inputValue()).toContain(PAIR)
      const frames = page.locator('#frames li')
      await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
      await frames.filter({ hasText: '"status":"ok","cursor"' }).waitFor()
      await scene.feedNext(2.3, { trades: [buy(`${scene.seq}-1`, `0x${'f1'.repeat(20)}`, 2.3)] })
      await frames.filter({ hasText: '"topic":"tx"' }).waitFor()
      await page.getByRole('button', { name: 'Unsubscribe' }).click()
      await frames.filter({ hasText: '"removed":1' }).waitFor()
      expect(errors).toEqual([])
    })

    itWhenLong('has working example values for every call and topic', async () => {
      const { page, errors } = await scene.open(`/reference#key=${OPERATOR_KEY}`)
      await page.locator('#contents a').first().waitFor()
      const anchors = await anchorsIn(page, '#contents')
      const answers: string[] = []
      for (const anchor of anchors) {
        await page.goto(`${scene.base}/reference${anchor}`)
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

  describe('a page of another origin', () => {
    let elsewhere: Server
    beforeAll(async () => {
      elsewhere = createServer((_request, response) => response.end('<!doctype html>')).listen(0, '127.0.0.1')
      await once(elsewhere, 'listening')
    })
    afterAll(() => void elsewhere.close())

    it('reads an answer with its headers, and opens the URL of a token as it is', async () => {
      const watched = await openPage(scene.browser.context)
      const { page } = watched
      scene.watched = watched
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
        { api: scene.base, key: KEY, path: `/v2/pairs/${PAIR_ID}` },
      )
      expect(result).toEqual({
        ...{ status: 200, cost: '5', hasTag: true },
        ...{ refused: 'key_missing', pong: '{"jsonrpc":"2.0","id":1,"result":"pong"}' },
      })
    })
  })
}
