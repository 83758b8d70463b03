/** Completion for the SQL editor, and what a result can be drawn as. */
import type { SqlQuery, SqlSchema } from '@dextape/client'

const KEYWORDS =
  'SELECT FROM WHERE GROUP BY ORDER LIMIT JOIN ON AS AND OR NOT IN IS NULL DESC ASC HAVING WITH UNION ALL INTERVAL DAY HOUR MINUTE count() sum() avg() min() max() uniqExact() round() toStartOfHour() toStartOfDay() toStartOfMinute() now()'.split(
    ' ',
  )
const WORD = /[\w.]*$/

/** Candidates for the word that ends at the cursor. */
export function completionsAt(text: string, cursor: number, schema: SqlSchema | undefined): string[] {
  const word = WORD.exec(text.slice(0, cursor))?.[0] ?? ''
  const start = word.split('.').at(-1)?.toLowerCase() ?? ''
  if (start === '') return []
  const views = schema?.views ?? []
  const isUsed = (name: string) => new RegExp(`\\b${name}\\b`, 'i').test(text)
  const used = views.filter(({ name }) => isUsed(name))
  const columns = (used.length === 0 ? views : used).flatMap((view) => view.columns.map(({ name }) => name))
  const all = [...new Set([...views.map(({ name }) => name), ...columns, ...KEYWORDS])]
  return all.filter((one) => one.toLowerCase().startsWith(start) && one.toLowerCase() !== start).slice(0, 8)
}

/** The text with the word at the cursor completed, and where the cursor then is. */
export function complete(text: string, cursor: number, chosen: string): { text: string; cursor: number } {
  const before = text.slice(0, cursor).replace(/\w*$/, '')
  const at = before.length + chosen.length - (chosen.endsWith('()') ? 1 : 0)
  return { text: before + chosen + text.slice(cursor), cursor: at }
}

export type Drawing = { labels: string[]; name: string; values: number[]; isTime: boolean }

const isNumberType = (type: string): boolean => /Int|Float|Decimal/.test(type)
const MAX_POINTS = 500

/** The first column of times or texts against the first of numbers. */
export function drawingOf({ meta, data }: SqlQuery): Drawing | undefined {
  const across = meta.find(({ type }) => /Date/.test(type)) ?? meta.find(({ type }) => !isNumberType(type))
  const up = meta.find(({ name, type }) => name !== across?.name && isNumberType(type))
  if (across === undefined || up === undefined || data.length < 2) return undefined
  const isTime = /Date/.test(across.type)
  const rows = data
    .slice(0, MAX_POINTS)
    .map((row) => ({ label: String(row[across.name]), value: Number(row[up.name]) }))
  if (isTime) rows.sort((a, b) => (a.label < b.label ? -1 : 1))
  return { labels: rows.map(({ label }) => label), name: up.name, values: rows.map(({ value }) => value), isTime }
}
