/** Keys, and a server that stops answering. */
import { describe, expect, it } from 'vitest'
import { hashKey } from '../../services/core/keys/key-store.js'
import type { ServeConfig } from '../../services/serve/serve-deps.js'
import { openPage } from '../rig/browser/watched-page.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { itWhenLong } from '../rig/suite/long-only.js'
import { keyRecord } from '../serve/rig.js'
import { buy } from './market.js'
import { KEY, PAIR_PATH, type Scene } from './scene.js'

export function describeAccess(scene: Scene): void {
  describe('the key of the dashboard', () => {
    it('is asked for, with how to create one, and accepted', async () => {
      const { page, errors } = await scene.open('/')
      const panel = page.getByRole('region', { name: 'Enter an API key' })
      await panel.waitFor()
      expect(await panel.textContent()).toContain('npx dextape keys create --name me')
      await page.getByRole('textbox', { name: 'API key' }).fill(KEY)
      await page.getByRole('button', { name: 'Open' }).click()
      await page.getByRole('link', { name: /^TKN/ }).first().waitFor()
      expect(await panel.count()).toBe(0)
      expect(errors).toEqual([])
    })

    itWhenLong('is reported if it is wrong', async () => {
      const { page } = await scene.open('/#key=dx_wrong')
      await page.getByText('API key unknown or revoked. Enter another key.').waitFor()
      expect(await page.locator('.connection').textContent()).toBe('Not connected')
    })

    itWhenLong('is asked for again once it is revoked', async () => {
      const hash = hashKey('dx_short_lived')
      scene.rig.keys.set(hash, keyRecord({ id: 'k3' }))
      const { page } = await scene.open(`${PAIR_PATH}#key=dx_short_lived`)
      await page.getByRole('heading', { name: 'TKN / WETH' }).waitFor()
      scene.rig.keys.set(hash, keyRecord({ id: 'k3', revokedAtMs: 1 }))
      await page.getByText('API key unknown or revoked. Enter another key.').waitFor()
      scene.rig.keys.delete(hash)
    })
  })

  describe('the simulation notice', () => {
    it('is shown only when the server reports it', async () => {
      const { page } = await scene.open(`/#key=${KEY}`)
      await page.getByRole('list', { name: 'Chains' }).getByText('eth').waitFor()
      expect(await page.getByText('Simulated market.').isVisible()).toBe(false)
      await page.route('**/status', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...((await response.json()) as object), simulated: true } })
      })
      for (const path of ['/', '/reference']) {
        await page.goto(`${scene.base}${path}`)
        await page.getByText('Simulated market.').waitFor()
      }
    })
  })

  describe('a chain that is behind', () => {
    it('is shown with its lag, and nothing says that it is live', async () => {
      const { page } = await scene.open('/pages/icon.svg')
      await page.route('**/status', async (route) => {
        const response = await route.fetch()
        const report = (await response.json()) as { chains: object[] }
        const chains = report.chains.map((chain, at) => ({ ...chain, lag_s: at === 0 ? 540 : 1 }))
        await route.fulfill({ response, json: { ...report, chains } })
      })
      await page.goto(`${scene.base}/markets#key=${KEY}`)
      const chips = page.getByRole('list', { name: 'Chains' }).getByRole('listitem')
      await chips.filter({ hasText: '9m behind' }).first().waitFor()
      expect(await chips.first().getAttribute('data-state')).toBe('behind')
      expect(await chips.nth(1).getAttribute('data-state')).toBe('live')
      expect(await page.locator('.connection').textContent()).toBe('9m behind')
    })
  })

  describe('when the server restarts', () => {
    it('shows that everything is old, retries by itself or by the button, and misses and repeats no trade', async () => {
      const { rig } = scene
      const config: ServeConfig = { ...rig.config, httpPort: await steadyPort(), wsPort: await steadyPort() }
      const first = rig.open({ config })
      await first.start()
      const watched = await openPage(scene.browser.context)
      scene.watched = watched
      const { page } = watched
      await page.goto(`http://127.0.0.1:${config.httpPort}${PAIR_PATH}#key=${KEY}`)
      await page.getByText('Start of the history.').waitFor()
      const feed = (wallet: string) => {
        const address = `0x00000000000000000000000000000000000000${wallet}`
        return scene.feedNext(2.1, { trades: [buy(`${scene.seq + 101}-1`, address, 2.1)] })
      }
      await feed('e1')
      await page.locator('tr').filter({ hasText: '0x0000…00e1' }).waitFor()
      await first.stop()
      await page.getByText('What you see is old.').waitFor()
      await page.getByText(/^Next attempt in \d+ s$/).waitFor()
      expect(await page.locator('.connection').textContent()).toBe('Reconnecting')
      expect(await page.locator('.frame.is-stale').count()).toBe(1)

      await feed('e2')
      await feed('e3')
      const second = rig.open({ config })
      await second.start()
      try {
        // The page may come back by itself before the click.
        await page
          .getByRole('button', { name: 'Retry now' })
          .click({ timeout: 2000 })
          .catch(() => {})
        for (const wallet of ['e2', 'e3'])
          await page
            .locator('tr')
            .filter({ hasText: `0x0000…00${wallet}` })
            .waitFor()
        await expect.poll(() => page.locator('.frame.is-stale').count()).toBe(0)
        await feed('e4')
        await page.locator('tr').filter({ hasText: '0x0000…00e4' }).waitFor()
        const rows = await page
          .locator('.trades tbody tr')
          .filter({ hasText: /0x0000…00e\d/ })
          .allTextContents()
        expect(rows.map((text) => /00e\d/.exec(text)?.[0])).toEqual(['00e4', '00e3', '00e2', '00e1'])
      } finally {
        await second.stop()
      }
    })
  })
}
