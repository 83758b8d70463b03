/** Answers as short JSON: a list of equal objects becomes columns and rows, and a list that is too long is cut. */

type Table = { columns: string[]; rows: unknown[][] }

/** About 15,000 tokens of a language model. */
const MAX_CHARACTERS = 60_000

export function compactText(head: Record<string, unknown>, data: unknown, maxCharacters = MAX_CHARACTERS): string {
  const compact = compacted(data)
  const text = JSON.stringify({ ...head, data: compact })
  if (text.length <= maxCharacters) return text
  const table = longestTable(compact)
  if (table === undefined) return text
  const total = table.rows.length
  // Rows have about the same length.
  const excess = text.length - maxCharacters
  const kept = Math.max(1, Math.floor(total * (1 - excess / JSON.stringify(table.rows).length)))
  table.rows.length = Math.min(kept, total)
  const cut = `First ${table.rows.length} of ${total} rows. Ask for fewer: aggregate, use a limit, or narrow the range.`
  return JSON.stringify({ ...head, truncated: cut, data: compact })
}

function compacted(value: unknown): unknown {
  if (Array.isArray(value)) return asTable(value) ?? value.map(compacted)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, compacted(member)]))
}

/** Undefined where the items are not objects of the same members. */
function asTable(items: readonly unknown[]): Table | undefined {
  const [first] = items
  if (items.length < 2 || !isObject(first)) return undefined
  const columns = Object.keys(first)
  const isRow = (item: unknown) =>
    isObject(item) && Object.keys(item).length === columns.length && columns.every((name) => name in item)
  if (!items.every(isRow)) return undefined
  return {
    columns,
    rows: items.map((item) => columns.map((name) => compacted((item as Record<string, unknown>)[name]))),
  }
}

function longestTable(value: unknown): Table | undefined {
  if (!isObject(value)) return undefined
  if (Array.isArray(value.rows) && Array.isArray(value.columns)) return value as Table
  const found = Object.values(value).flatMap((member) => longestTable(member) ?? [])
  return found.sort((a, b) => b.rows.length - a.rows.length)[0]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
