/** The lists of the markets: their order in every window. */
import { describe, expect, it } from 'vitest'
import { itWhenLong } from '../rig/suite/long-only.js'
import { CHAIN, WETH } from '../serve/updates.js'
import { IMPOSTOR } from './market.js'
import { MOVER_LISTS, MOVER_WINDOWS, MOVERS_CHAIN } from './movers.js'
import { KEY, PHONE, type Scene } from './scene.js'

/** Rows that are in sight. */
const COMPARED = 12

const shortened = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`

export function describeLists(scene: Scene): void {
  describe('the lists of the markets', () => {
    it('are in the order of the chosen window, over all tokens', async () => {
      const { page, errors } = await scene.open(`/markets?chain=${MOVERS_CHAIN}#key=${KEY}`)
      const button = (group: string, name: string) =>
        page.getByRole('group', { name: group }).getByRole('button', { name, exact: true })
      const symbols = async () => (await page.locator('table.markets .name b').allTextContents()).slice(0, COMPARED)
      for (const [list, orderIn] of Object.entries(MOVER_LISTS)) {
        await button('List', list).click()
        for (const name of MOVER_WINDOWS) {
          // Nobody knows prices of before the trades of the last minutes.
          if (name === '5m' && (list === 'Gainers' || list === 'Losers')) continue
          await button('Window', name).click()
          await expect
            .poll(async () => [list, name, await symbols()])
            .toEqual([list, name, orderIn(name).slice(0, COMPARED)])
        }
      }
      expect(errors).toEqual([])
    })

    it('reach their last place by scrolling, and are there again after a reload', async () => {
      const { page } = await scene.open(`/markets?chain=${MOVERS_CHAIN}&list=volume&window=4h#key=${KEY}`)
      await page.getByText('130 tokens').waitFor()
      await page.evaluate("document.querySelector('.scroller').scrollTop = 1e6")
      const last = MOVER_LISTS.Volume?.('4h').at(-1) ?? ''
      const row = page.locator('table.markets tbody tr').filter({ hasText: new RegExp(`^130.*${last} `) })
      await row.waitFor()
      await page.reload()
      await row.waitFor()
      await page.getByRole('group', { name: 'Window' }).getByRole('button', { name: '1h' }).click()
      await expect.poll(() => page.evaluate("document.querySelector('.scroller').scrollTop")).toBe(0)
    })

    itWhenLong('tell tokens of one symbol apart on a phone', async () => {
      const { page } = await scene.open(`/markets?chain=${CHAIN}#key=${KEY}`)
      await page.setViewportSize(PHONE)
      const rows = page.locator('table.markets .name').filter({ hasText: 'WETH' })
      await expect.poll(() => rows.count()).toBe(2)
      const shown = await rows.locator('small').allTextContents()
      expect(shown.toSorted()).toEqual([`eth ${shortened(IMPOSTOR)}`, `eth ${shortened(WETH)}`])
      for (const small of await rows.locator('small').all()) expect(await small.isVisible()).toBe(true)
    })

    it('show the change of the window on a phone', async () => {
      const { page } = await scene.open(`/markets?chain=${MOVERS_CHAIN}&list=gainers&window=1h#key=${KEY}`)
      await page.setViewportSize(PHONE)
      const cells = page.locator('table.markets .only-phone')
      await expect.poll(() => cells.first().isVisible()).toBe(true)
      const shown = (await cells.allTextContents()).map((text) => Number.parseFloat(text.replace('+', '')))
      expect(shown.slice(0, COMPARED)).toEqual(shown.slice(0, COMPARED).toSorted((a, b) => b - a))
    })
  })
}
