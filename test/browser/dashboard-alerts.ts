/** Alerts of the watchlist: each kind, as the notification that the visitor gets. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { itWhenLong } from '../rig/suite/long-only.js'
import { pairInfo, pairUpdate, T0, tokenUpdate, updateWindows, weth } from '../serve/updates.js'
import { buy } from './market.js'
import { KEY, type Scene, TOKEN_PATH } from './scene.js'

/** Volumes are read some seconds after a trade; pairs that nobody trades every 15 s. */
const LATER = { timeout: 25_000 }

/** Notes what the page's notifications say, once the browser has shown them. */
const NOTE_SHOWN = `
  window.shownNotifications = []
  window.Notification = class extends Notification {
    constructor(title, options) {
      super(title, options)
      this.addEventListener('show', () => window.shownNotifications.push(title + ': ' + options.body))
    }
  }`
const shownBy = (page: Page) => page.evaluate<string[]>('window.shownNotifications')

/** A watched token with one alert. */
async function addAlert(scene: Scene, kind: string, value: string) {
  await scene.browser.context.grantPermissions(['notifications'], { origin: scene.base })
  const watched = await scene.open('/pages/icon.svg')
  const { page } = watched
  await page.addInitScript(NOTE_SHOWN)
  await page.goto(`${scene.base}${TOKEN_PATH}#key=${KEY}`)
  await page.getByRole('button', { name: 'Watch TKN' }).click()
  await page.getByRole('link', { name: 'Watchlist' }).click()
  await page.getByRole('combobox', { name: 'Alert on' }).selectOption(kind)
  if (value !== '') await page.getByRole('spinbutton', { name: 'Value' }).fill(value)
  await page.getByRole('button', { name: 'Add alert' }).click()
  await page.getByRole('button', { name: 'Remove' }).waitFor()
  return watched
}

export function describeAlerts(scene: Scene): void {
  describe('an alert', () => {
    it('of a price is kept through a reload, and notifies in every view, once until the price was back', async () => {
      const { page, errors } = await addAlert(scene, 'above', '8')
      await page.getByText('Price above $8.0000').waitFor()
      await page.reload()
      await page.getByText('Price above $8.0000').waitFor()
      await page.getByRole('link', { name: 'SQL' }).click()
      await scene.feedNext(9, { trades: [buy(`${scene.seq}-1`, '0xa1', 9)] })
      const toast = page.getByRole('log', { name: 'Alerts' })
      await toast.getByText('TKN rose above $8.0000').waitFor()
      await scene.feedNext(10, { trades: [buy(`${scene.seq}-1`, '0xa1', 10)] })
      await scene.feedNext(2, { trades: [buy(`${scene.seq}-1`, '0xa1', 2)] })
      await scene.feedNext(9, { trades: [buy(`${scene.seq}-1`, '0xa1', 9)] })
      const once = 'Dextape: TKN rose above $8.0000'
      await expect.poll(() => shownBy(page), LATER).toEqual([once, once])
      await toast.getByRole('link').first().click()
      await page.getByRole('heading', { name: 'TKN / WETH' }).waitFor()
      await scene.feedNext(2, { trades: [buy(`${scene.seq}-1`, '0xa1', 2)] })
      expect(errors).toEqual([])
    })

    it('of a large trade notifies of each in any pair of the token, and of no smaller one', async () => {
      const { page, errors } = await addAlert(scene, 'whale', '1000')
      await page.getByText('Trade above (USD) $1,000').waitFor()
      const small = { ...buy(`${scene.seq + 301}-1`, '0xa1', 2), amount_usd: 999 }
      await scene.feedNext(2, { trades: [small, buy(`${scene.seq + 301}-2`, '0xa1', 2)] })
      await expect.poll(() => shownBy(page), LATER).toEqual(['Dextape: TKN: trade of $1,235'])
      const pair = `0x${'d1'.repeat(20)}`
      const trades = [{ ...buy(`${scene.seq + 401}-1`, '0xa1', 2), amount_usd: 5000 }]
      await scene.rig.feed(scene.next({ pairs: [pairUpdate({ pair, trades })], tokens: [tokenUpdate(), weth()] }))
      await expect.poll(() => shownBy(page), LATER).toContain('Dextape: TKN: trade of $5,000')
      expect(errors).toEqual([])
    })

    itWhenLong('of a price below notifies when it fell', async () => {
      const { page, errors } = await addAlert(scene, 'below', '1.5')
      await scene.feedNext(1.6, { trades: [buy(`${scene.seq}-1`, '0xa1', 1.6)] })
      await scene.feedNext(1.4, { trades: [buy(`${scene.seq}-1`, '0xa1', 1.4)] })
      await expect.poll(() => shownBy(page), LATER).toEqual(['Dextape: TKN fell below $1.5000'])
      await scene.feedNext(2, { trades: [buy(`${scene.seq}-1`, '0xa1', 2)] })
      expect(errors).toEqual([])
    })

    itWhenLong('of a volume notifies when that of all pairs of the token passes it', async () => {
      const { page, errors } = await addAlert(scene, 'volume', '1000000')
      await page.getByText('24 h volume above $1.00M').waitFor()
      const windows = updateWindows().map((window) => ({ ...window, buy_volume: 2_000_000 }))
      const trades = [buy(`${scene.seq + 501}-1`, '0xa1', 2)]
      const tokens = [tokenUpdate({ windows }), weth()]
      await scene.rig.feed(scene.next({ pairs: [pairUpdate({ trades })], tokens }))
      await expect.poll(() => shownBy(page), LATER).toEqual(['Dextape: TKN: 24 h volume above $1.00M'])
      await scene.feedNext(2, { trades: [buy(`${scene.seq}-1`, '0xa1', 2)] })
      expect(errors).toEqual([])
    })

    itWhenLong('of a new pair notifies of one created later, traded or not, and of no older one', async () => {
      const { page, errors } = await addAlert(scene, 'pair', '')
      const pairOf = (digits: string, created: number, trades = [] as ReturnType<typeof buy>[]) => {
        const info = { ...pairInfo(), created_at: created }
        const pairs = [pairUpdate({ pair: `0x${digits.repeat(20)}`, info, trades })]
        return scene.rig.feed(scene.next({ pairs, tokens: [tokenUpdate(), weth()] }))
      }
      await pairOf('d2', T0 - 100, [buy(`${scene.seq + 601}-1`, '0xa1', 2)])
      await pairOf('d3', T0 + scene.seq + 1, [buy(`${scene.seq + 602}-1`, '0xa1', 2)])
      const one = 'Dextape: TKN has a new pair: TKN / WETH on uniswapv2'
      await expect.poll(() => shownBy(page), LATER).toEqual([one])
      await pairOf('d4', T0 + scene.seq + 1)
      await expect.poll(() => shownBy(page), LATER).toEqual([one, one])
      expect(errors).toEqual([])
    })
  })
}
