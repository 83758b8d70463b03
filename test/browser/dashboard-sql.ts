/** The SQL page: editor, samples, quick chart, files. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { itWhenLong } from '../rig/suite/long-only.js'
import { KEY, type Scene } from './scene.js'

/** Chooses each sample; what the page then says, by its title. */
export async function runSamples(page: Page): Promise<Map<string, string>> {
  const choice = page.getByRole('combobox', { name: 'Samples' })
  const titles = (await choice.locator('option').allTextContents()).slice(1)
  const said = new Map<string, string>()
  for (const title of titles) {
    const answered = page.waitForResponse((response) => response.url().endsWith('/v2/sql'))
    await choice.selectOption(title)
    const response = await answered
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    const outcome = page.locator('.panel [role=status].num, .panel [role=alert]')
    said.set(title, `${response.status()} ${await outcome.first().textContent()}`)
  }
  return said
}

/** Clicks a format; the bytes of the file that the browser saved. */
async function exported(page: Page, format: string): Promise<{ name: string; bytes: Buffer }> {
  const saved = page.waitForEvent('download')
  await page.getByRole('group', { name: 'Export' }).getByRole('button', { name: format, exact: true }).click()
  const download = await saved
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) }
}

async function askTwoRows(page: Page): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Query' })
  await editor.fill("SELECT arrayJoin(['a', 'b']) AS name, length(name) + 41 AS answer")
  await editor.press('Control+Enter')
  await page.getByText(/^2 rows in/).waitFor()
}

export function describeSql(scene: Scene): void {
  describe('the SQL page', () => {
    it('completes names, runs a query, and draws the result', async () => {
      const { page, errors } = await scene.open(`/sql#key=${KEY}`)
      await page.locator('.schema summary').first().waitFor()
      const editor = page.getByRole('textbox', { name: 'Query' })
      await editor.fill('')
      await editor.pressSequentially("SELECT arrayJoin(['a', 'b', 'c']) AS name, length(name) + 41 AS answer FROM trad")
      await page.getByRole('list', { name: 'Completions' }).waitFor()
      await editor.press('Tab')
      expect(await editor.inputValue()).toMatch(/FROM trades$/)
      await editor.fill("SELECT arrayJoin(['a', 'b', 'c']) AS name, length(name) + 41 AS answer")
      await editor.press('Control+Enter')
      await page.getByText(/^3 rows in/).waitFor()
      expect(await page.getByRole('region', { name: 'Result' }).locator('tbody td').allTextContents()).toEqual([
        ...['a', '42', 'b', '42', 'c', '42'],
      ])
      await page.getByRole('button', { name: 'Chart' }).click()
      expect(await page.getByRole('list', { name: 'answer' }).getByRole('listitem').count()).toBe(3)
      expect(errors).toEqual([])
    })

    itWhenLong('runs every sample', async () => {
      const { page, errors } = await scene.open(`/sql#key=${KEY}`)
      await page.locator('.schema summary').first().waitFor()
      const said = await runSamples(page)
      expect(said.size).toBeGreaterThanOrEqual(20)
      expect([...said].filter(([, text]) => !/^200 [\d,]+ rows in/.test(text))).toEqual([])
      expect(errors).toEqual([])
    })

    it('exports the result that is shown, whatever the editor holds by then', async () => {
      const { page, errors } = await scene.open(`/sql#key=${KEY}`)
      await askTwoRows(page)
      await page.getByRole('textbox', { name: 'Query' }).fill('SELECT nothing')
      const { name, bytes } = await exported(page, 'JSON lines')
      expect([name, bytes.toString()]).toEqual([
        'result.jsonl',
        '{"name":"a","answer":"42"}\n{"name":"b","answer":"42"}\n',
      ])
      expect(errors).toEqual([])
    })

    itWhenLong('exports as CSV, Parquet and Arrow', async () => {
      const { page, errors } = await scene.open(`/sql#key=${KEY}`)
      await askTwoRows(page)
      const csv = await exported(page, 'CSV')
      expect([csv.name, csv.bytes.toString()]).toEqual(['result.csv', '"name","answer"\n"a",42\n"b",42\n'])
      const parquet = await exported(page, 'Parquet')
      const ends = [parquet.bytes.subarray(0, 4), parquet.bytes.subarray(-4)]
      expect([parquet.name, ...ends.map(String)]).toEqual(['result.parquet', 'PAR1', 'PAR1'])
      const arrow = await exported(page, 'Arrow')
      expect([arrow.name, arrow.bytes.subarray(0, 6).toString()]).toEqual(['result.arrow', 'ARROW1'])
      expect(errors).toEqual([])
    })

    itWhenLong('says what is wrong with a query', async () => {
      const { page } = await scene.open(`/sql#key=${KEY}`)
      const editor = page.getByRole('textbox', { name: 'Query' })
      await editor.fill('SELECT nothing FROM trades')
      await editor.press('Control+Enter')
      await page.getByRole('alert').getByText('nothing').waitFor()
    })
  })
}
