/** Every view of the dashboard: what it shows, that it can be linked to, and that everyone can use it. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { TokenInfo } from '../../services/core/domain/records.js'
import { hasNoSidewaysScroll } from '../rig/browser/watched-page.js'
import { isLongRun } from '../rig/counts.js'
import { itWhenLong } from '../rig/suite/long-only.js'
import { CHAIN, PAIR, T0, TOKEN, tokenInfo, tokenUpdate } from '../serve/updates.js'
import { buy, IMPOSTOR } from './market.js'
import { KEY, OPERATOR_KEY, PAIR_PATH, PHONE, type Scene, TOKEN_PATH } from './scene.js'

const WALLET = `0x${'0'.repeat(38)}b1`
const WALLET_PATH = `/wallet/${CHAIN}/${WALLET}`
const COMPARE_PATH = `/compare?ids=${TOKEN}-${CHAIN},${IMPOSTOR}-${CHAIN}`

/** Each view, and what it shows when it is ready. */
const VIEWS: readonly [path: string, ready: string][] = [
  ['/markets', 'table.markets tbody a'],
  ['/launchpad', '.board'],
  [TOKEN_PATH, '.market-head h1'],
  [`${PAIR_PATH}?tab=liquidity`, '.legend span'],
  [`${TOKEN_PATH}?tab=holders`, '.market-head h1'],
  [`${TOKEN_PATH}?tab=risk`, '.market-head h1'],
  [`${TOKEN_PATH}?tab=pairs`, '.market-main .rows tbody tr'],
  [WALLET_PATH, '.days li:nth-child(30)'],
  [COMPARE_PATH, '.compared a'],
  ['/watchlist', '.market h1'],
  ['/system', '.system table'],
  ['/sql', '.schema summary'],
]

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds, as `rule: element`. */
async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axeSource)
  return page.evaluate<string[]>(`axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 120))))`)
}

export function describeViews(scene: Scene): void {
  describe('the dashboard', () => {
    it('lists the markets, moves with the pushes, and asks no other host', async () => {
      const { page, errors, hosts } = await scene.open(`/#key=${KEY}`)
      const row = page.getByRole('row').filter({ hasText: TOKEN.slice(0, 6) })
      await row.getByText('$2.0000').waitFor()
      expect(page.url()).toBe(`${scene.base}/`)
      await scene.feedNext(2.5, { trades: [buy('102-1', '0x00000000000000000000000000000000000000b1', 2.5)] })
      await row.getByText('$2.5000').waitFor()
      const trade = page.getByRole('region', { name: 'Tape' }).getByRole('listitem').filter({ hasText: '0x0000…00b1' })
      await trade.waitFor()
      expect(await trade.textContent()).toContain('BuyTKN 500$1,235')
      expect({ errors, hosts: [...hosts] }).toEqual({ errors: [], hosts: ['127.0.0.1'] })
    })

    itWhenLong('keeps list, window, chain and sorting in the address, through reload and back', async () => {
      const { page } = await scene.open(`/markets?chain=${CHAIN}#key=${KEY}`)
      await page.getByRole('button', { name: 'Volume' }).first().click()
      await page.getByRole('button', { name: '1h', exact: true }).first().click()
      await page.getByRole('button', { name: 'TVL' }).last().click()
      const address = `${scene.base}/markets?chain=${CHAIN}&list=volume&window=1h&sort=tvl`
      expect(page.url()).toBe(address)
      await page.reload()
      await page.getByRole('columnheader', { name: 'TVL', exact: true }).waitFor()
      expect(await page.getByRole('columnheader', { name: 'TVL' }).getAttribute('aria-sort')).toBe('descending')
      await page.getByRole('link', { name: /^TKN/ }).first().click()
      await page.getByRole('heading', { name: 'TKN / WETH' }).waitFor()
      await page.goBack()
      await page.getByRole('columnheader', { name: 'TVL', exact: true }).waitFor()
      expect(page.url()).toBe(address)
    })

    itWhenLong('has a thousand rows, of which only those in sight are in the document', async () => {
      const { page } = await scene.open(`/markets?chain=bsc#key=${KEY}`)
      await page.getByText('1,000+ tokens').waitFor()
      await page.evaluate("document.querySelector('.scroller').scrollTop = 1e6")
      await page.getByRole('link', { name: /^T1000 / }).waitFor()
      expect(await page.getByRole('row').count()).toBeLessThan(60)
    })

    it('sorts over all tokens of the server, not only over those it has loaded', async () => {
      const { page, errors } = await scene.open(`/markets?chain=bsc&sort=price#key=${KEY}`)
      const first = page.locator('table.markets tbody a').first()
      // In demand it is below the thousand rows that are loaded.
      await expect.poll(() => first.textContent()).toMatch(/^T1020 /)
      expect(errors).toEqual([])
    })

    it('finds tokens, pairs and wallets by the / key, and marks an impostor', async () => {
      const { page } = await scene.open(`/sql#key=${KEY}`)
      await page.getByRole('heading', { name: 'SQL' }).waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('weth')
      const hits = page.locator('#search-results [role=option]')
      await hits.nth(1).waitFor()
      expect(await hits.allTextContents()).toEqual([
        expect.stringMatching(/^WEWETH Wrapped Ethereth 0xc02a…6cc2/),
        expect.stringMatching(/^WEWETH TokenCopy\?eth 0x2222…2222/),
      ])
      await page.getByRole('combobox', { name: 'Search' }).fill(PAIR)
      await hits.filter({ hasText: 'TKN / WETH · uniswapv2' }).waitFor()
      await page.getByRole('combobox', { name: 'Search' }).fill('tkn/weth')
      await hits.filter({ hasText: 'TKN / WETH · uniswapv2' }).first().waitFor()
      await page.getByRole('combobox', { name: 'Search' }).fill(`0x${'de'.repeat(20)}`)
      await hits.filter({ hasText: `Wallet on ${CHAIN}` }).waitFor()
      await page.getByRole('combobox', { name: 'Search' }).fill('tkn')
      await hits.filter({ hasText: '0x1111…1111' }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'TKN / WETH' }).waitFor()
      expect(page.url()).toBe(`${scene.base}${TOKEN_PATH}`)
    })

    itWhenLong('moves a launched token from column to column of the launchpad', async () => {
      const launched = (given: Partial<TokenInfo>) => {
        const info = tokenInfo({ symbol: 'LNCH', launch_platform: 'pump', created_at: T0, ...given })
        const tokens = [tokenUpdate({ token: `0x${'33'.repeat(20)}`, info, main_pair: null })]
        return scene.rig.feed(scene.next({ tokens }))
      }
      await launched({ launch_stage: 'curve', launch_progress: 0.1 })
      const { page, errors } = await scene.open(`/launchpad#key=${KEY}`)
      const inColumn = (name: string) => page.getByRole('region', { name, exact: true }).getByText('LNCH').waitFor()
      await inColumn('New')
      await launched({ launch_stage: 'curve', launch_progress: 0.9 })
      await inColumn('Almost graduated')
      expect(await page.locator('.progress').filter({ hasText: '90 %' }).count()).toBe(1)
      await launched({ launch_stage: 'graduated', launch_progress: 1 })
      await inColumn('Graduated')
      expect(await page.getByText('LNCH').count()).toBe(1)
      expect(errors).toEqual([])
    })

    it('shows keys, sizes and sources to an operator only', async () => {
      const { page, errors } = await scene.open(`/system#key=${OPERATOR_KEY}`)
      const keys = page.getByRole('region', { name: 'Keys' }).first()
      await keys.getByText('ops').waitFor()
      expect(await keys.getByRole('row').count()).toBe(3)
      await page.getByRole('region', { name: 'Store and log' }).getByText(`dex.updates.${CHAIN}`).waitFor()
      await page.getByText('No dead letters.').waitFor()
      expect(errors).toEqual([])
      const asked: string[] = []
      await page.goto(`${scene.base}/pages/icon.svg`)
      page.on('request', (request) => asked.push(new URL(request.url()).pathname))
      await page.goto(`${scene.base}/system#key=${KEY}`)
      await page.getByText('need a key of the plan operator').waitFor()
      expect(asked.filter((path) => path.startsWith('/v2/operator/'))).toEqual(['/v2/operator/history'])
      expect(await page.getByRole('region', { name: 'Keys' }).count()).toBe(0)
      expect(errors).toEqual([])
    })

    itWhenLong('compares tokens on one chart', async () => {
      const { page } = await scene.open(`${COMPARE_PATH}#key=${KEY}`)
      await expect.poll(() => page.locator('.compared a').count()).toBe(2)
      await page.getByRole('button', { name: 'Remove TKN' }).first().click()
      await expect
        .poll(() => page.url())
        .toBe(`${scene.base}/compare?ids=${encodeURIComponent(`${IMPOSTOR}-${CHAIN}`)}`)
    })

    itWhenLong('shows what a wallet traded', async () => {
      await scene.feedNext(3, { trades: [buy(`${scene.seq}-1`, WALLET, 3)] })
      const { page, errors } = await scene.open(`${WALLET_PATH}#key=${KEY}`)
      await page.locator('.wallet .tiles').waitFor()
      const trades = page.getByRole('region', { name: 'Trades' })
      await trades.getByText('Buy').first().waitFor()
      await page.getByRole('region', { name: 'Positions' }).getByText('TKN').first().waitFor()
      const before = await trades.locator('tbody tr').count()
      await scene.feedNext(3, { trades: [buy(`${scene.seq + 800}-1`, WALLET, 3)] })
      await expect.poll(() => trades.locator('tbody tr').count()).toBe(before + 1)
      await page.getByRole('region', { name: 'Activity by day' }).getByRole('listitem').nth(29).waitFor()
      expect(errors).toEqual([])
    })

    it.each(isLongRun() ? VIEWS : VIEWS.filter((_, at) => at % 3 === 0))(
      '%s has no violations of accessibility rules, and does not scroll sideways on a phone',
      async (path, ready) => {
        const { page } = await scene.open(`${path}#key=${OPERATOR_KEY}`)
        // A third of the views, in one theme each; all in both by `npm run test:long`.
        const isDark = VIEWS.findIndex(([view]) => view === path) % 2 === 0
        for (const theme of isLongRun() ? ['dark', 'light'] : [isDark ? 'dark' : 'light']) {
          await page.evaluate(`localStorage.setItem('dextape-theme', '"${theme}"')`)
          await page.reload()
          await page.locator(ready).first().waitFor()
          expect(await violationsOf(page)).toEqual([])
        }
        await page.setViewportSize(PHONE)
        await page.reload()
        await page.locator(ready).first().waitFor()
        expect(await hasNoSidewaysScroll(page)).toBe(true)
      },
    )

    it.each(['/reference#klinesPair', ...(isLongRun() ? ['/reference#ws-kline'] : [])])(
      '%s does not scroll sideways on a phone',
      async (path) => {
        const { page } = await scene.open(`/reference#key=${OPERATOR_KEY}`)
        await page.setViewportSize(PHONE)
        await page.goto(`${scene.base}${path}`)
        await page.getByRole('article').first().waitFor()
        expect(await hasNoSidewaysScroll(page)).toBe(true)
      },
    )
  })
}
