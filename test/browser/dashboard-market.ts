/** The view of a token or pair: chart, trades, reorgs. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { itWhenLong } from '../rig/suite/long-only.js'
import { CHAIN, candle, PAIR, pairUpdate, T0, update } from '../serve/updates.js'
import { addLiquidity, buy, CANDLES, nextUpdate } from './market.js'
import { KEY, PAIR_PATH, type Scene } from './scene.js'

const chartOf = (page: Page) => page.locator('.chart-box .canvas')
const legendOf = (page: Page) => page.locator('.legend').textContent()
const barsOf = async (page: Page) => Number(await chartOf(page).getAttribute('data-bars'))

export function describeMarket(scene: Scene): void {
  describe('the view of a token', () => {
    it('draws candles, moves the last one, and reads another by keyboard', async () => {
      const { page, errors } = await scene.open(`${PAIR_PATH}#key=${KEY}`)
      await expect.poll(() => barsOf(page)).toBeGreaterThan(400)
      await scene.feedNext(3.75, { trades: [buy(`${scene.seq}-1`, '0xc1', 3.75)] })
      await expect.poll(() => legendOf(page)).toContain('C 3.7500')
      await page.getByRole('heading', { name: 'TKN / WETH' }).waitFor()
      await expect.poll(() => page.title()).toBe('TKN $3.7500 · Dextape')
      await chartOf(page).focus()
      await page.keyboard.press('ArrowLeft')
      await expect.poll(() => legendOf(page)).not.toContain('C 3.7500')
      expect(errors).toEqual([])
    })

    itWhenLong('reads older candles when it is scrolled back', async () => {
      const { page } = await scene.open(`${PAIR_PATH}#key=${KEY}`)
      await expect.poll(() => barsOf(page)).toBeGreaterThan(400)
      expect(await barsOf(page)).toBeLessThan(CANDLES)
      await chartOf(page).hover()
      await expect
        .poll(async () => {
          await page.mouse.wheel(-3000, 0)
          return barsOf(page)
        })
        .toBeGreaterThanOrEqual(CANDLES)
      expect(Number(await chartOf(page).getAttribute('data-first'))).toBe(T0 - CANDLES * 60)
    })

    itWhenLong('switches interval, currency and style, and keeps them through a reload', async () => {
      const { page, errors } = await scene.open(`${PAIR_PATH}#key=${KEY}`)
      await expect.poll(() => barsOf(page)).toBeGreaterThan(400)
      await page.getByRole('group', { name: 'Currency' }).getByRole('button', { name: 'Native' }).click()
      await expect.poll(() => legendOf(page)).toContain('C 0.002000')
      await page.getByRole('group', { name: 'Currency' }).getByRole('button', { name: 'WETH' }).click()
      await expect.poll(() => legendOf(page)).toContain('C 0.002000')
      for (const name of ['Area', 'Log', 'MA', 'VWAP']) await page.getByRole('button', { name, exact: true }).click()
      await page.getByRole('group', { name: 'Interval' }).getByRole('button', { name: '1w' }).click()
      await page.getByText('No candles in this currency.').waitFor()
      expect(new URL(page.url()).search).toBe('?currency=r&style=area&log=1&ma=1&vwap=1&interval=k10080')
      await page.reload()
      await page.locator('button[aria-pressed=true]').getByText('1w').waitFor()
      expect(await page.getByRole('button', { name: 'Area' }).getAttribute('aria-pressed')).toBe('true')
      expect(errors).toEqual([])
    })

    it('lists trades and liquidity as they come, and filters them', async () => {
      const { page } = await scene.open(`${PAIR_PATH}#key=${KEY}`)
      const trades = page.getByRole('region', { name: 'Trades' }).locator('tbody tr')
      await page.getByText('Start of the history.').waitFor()
      await scene.feedNext(2.5, {
        trades: [buy(`${scene.seq + 200}-1`, '0x00000000000000000000000000000000000000b2', 2.5)],
      })
      const mine = trades.filter({ hasText: '0x0000…00b2' })
      await mine.waitFor()
      expect((await mine.locator('td').allTextContents()).slice(1, 6)).toEqual([
        ...['Buy', '2.5000', '500', '$1,235', '0x0000…00b2'],
      ])
      await page.getByRole('button', { name: 'Sell', exact: true }).click()
      await expect.poll(() => mine.count()).toBe(0)
      await page.getByRole('button', { name: 'All', exact: true }).click()
      await page.getByRole('spinbutton', { name: 'Min. USD' }).fill('2000')
      await page.getByText(/^None of the last \d+ trades matches the filters\.$/).waitFor()
      await page.getByRole('button', { name: 'Liquidity' }).last().click()
      await scene.feedNext(2.5, { liquidity: [addLiquidity(`${scene.seq + 200}-9`)] })
      await page.getByRole('cell', { name: 'Add' }).first().waitFor()
    })

    it('marks trades that a reorg removed, and says that candles were corrected', async () => {
      const { page } = await scene.open(`${PAIR_PATH}#key=${KEY}`)
      await expect.poll(() => barsOf(page)).toBeGreaterThan(400)
      await scene.feedNext(2.25, { trades: [buy('777-1', '0x00000000000000000000000000000000000000d1', 2.25)] })
      const row = page.locator('tr').filter({ hasText: '0x0000…00d1' })
      await row.waitFor()
      scene.seq += 1
      const gone = { pair: PAIR, ids: ['777-1'], gone: false }
      await scene.rig.feed({ ...nextUpdate(scene.seq, 2, { trades: [] }), kind: 'retract', retracted: [gone] })
      await expect.poll(() => row.getAttribute('title')).toBe('Removed by a reorg')
      await page.getByText('Reorg: 1 candle corrected').waitFor()
    })

    itWhenLong('shows where its price comes from, and audits a candle', async () => {
      const { page } = await scene.open(`${PAIR_PATH}#key=${KEY}`)
      await expect.poll(() => barsOf(page)).toBeGreaterThan(400)
      await page.locator('.provenance button').hover()
      await page.getByRole('tooltip').getByText('Where this price comes from').waitFor()
      await page.getByRole('button', { name: 'Audit candle' }).click()
      await page
        .getByRole('dialog', { name: 'Candle audit' })
        .getByRole('row', { name: /^close/ })
        .waitFor()
      await page.keyboard.press('Escape')
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    })

    itWhenLong('leaves the place of minutes without trades empty', async () => {
      const pair = `0x${'cc'.repeat(20)}`
      scene.seq += 1
      const candles = [candle({ time: T0 - 600 }), candle({ time: T0 - 60 })]
      const added = pairUpdate({ pair, candles })
      await scene.rig.feed(
        update({
          seq: scene.seq,
          number: 100 + scene.seq,
          hash: `0xb${100 + scene.seq}`,
          time: T0 + scene.seq,
          now: T0 + scene.seq,
          pairs: [added],
        }),
      )
      const { page } = await scene.open(`/pair/${CHAIN}/${pair}#key=${KEY}`)
      await expect.poll(() => barsOf(page)).toBe(2)
      await chartOf(page).focus()
      await page.keyboard.press('ArrowLeft')
      await expect.poll(() => legendOf(page)).toContain('09:50:00')
      const { x = 0, y = 0, width = 0 } = (await chartOf(page).boundingBox()) ?? {}
      let fromRight = 60
      await expect
        .poll(
          async () => {
            fromRight += 4
            await page.mouse.move(x + width - fromRight, y + 100)
            return legendOf(page)
          },
          { timeout: 10_000 },
        )
        .toMatch(/09:5\d:00 UTC No trades$/)
    })

    it('reads back by itself until a filter has found its trades', async () => {
      const pair = `0x${'ee'.repeat(20)}`
      scene.seq += 1
      const { seq } = scene
      const rare = '0x00000000000000000000000000000000000000f7'
      const trades = Array.from({ length: 250 }, (_, index) => {
        const wallet = index === 3 ? rare : `0x${String(index).padStart(40, '0')}`
        return { ...buy(`${100 + seq}-${index}`, wallet, 2), log_index: index }
      })
      const place = { seq, number: 100 + seq, hash: `0xb${100 + seq}`, time: T0 + seq, now: T0 + seq }
      await scene.rig.feed(update({ ...place, pairs: [pairUpdate({ pair, trades })] }))
      const { page } = await scene.open(`/pair/${CHAIN}/${pair}#key=${KEY}`)
      const rows = page.locator('table.trades tbody tr')
      await expect.poll(() => rows.count()).toBe(100)
      await page.getByRole('textbox', { name: 'Wallet' }).fill(rare)
      await expect
        .poll(() => rows.allTextContents(), { timeout: 10_000 })
        .toEqual([expect.stringContaining('0x0000…00f7')])
      await page.getByRole('textbox', { name: 'Wallet' }).fill('')
      await expect.poll(() => rows.count()).toBe(250)
    })

    itWhenLong('says so where the server has not seen an address', async () => {
      const { page } = await scene.open(`/token/${CHAIN}/0x${'99'.repeat(20)}#key=${KEY}`)
      await page.getByText('This server has not seen this token.').waitFor()
    })
  })
}
