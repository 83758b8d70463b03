/** The little of markdown that the interface's documents use: headings, pipe tables, bullets, backticks. */

export type Table = { section: string; header: string[]; rows: string[][] }

export type Section = { title: string; lines: string[] }

export function sectionsOf(markdown: string): Section[] {
  const sections: Section[] = [{ title: '', lines: [] }]
  for (const line of markdown.split('\n')) {
    const title = /^#+ (.*)$/.exec(line)?.[1]
    if (title !== undefined) sections.push({ title, lines: [] })
    else sections.at(-1)?.lines.push(line)
  }
  return sections
}

export function tablesOf(markdown: string): Table[] {
  return sectionsOf(markdown).flatMap(({ title, lines }) => {
    const tables: Table[] = []
    let open: Table | undefined
    for (const line of lines) {
      if (!line.startsWith('|')) open = undefined
      else if (open === undefined) {
        open = { section: title, header: cellsOf(line), rows: [] }
        tables.push(open)
      } else if (!/^\|[-|]+$/.test(line)) open.rows.push(cellsOf(line))
    }
    return tables
  })
}

const cellsOf = (line: string): string[] => line.split('|').slice(1, -1).map((cell) => cell.trim()) // biome-ignore format: one step

/** List items with their wrapped lines joined; nested ones are items of their own. */
export function bulletsOf(lines: readonly string[]): string[] {
  const bullets: string[] = []
  let isOpen = false
  for (const line of lines) {
    const text = /^\s*(?:-|\d+\.) (.*)$/.exec(line)?.[1]
    if (text !== undefined) bullets.push(text)
    else if (isOpen && line.startsWith('  ')) bullets.push(`${bullets.pop() ?? ''} ${line.trim()}`)
    isOpen = text !== undefined || (isOpen && line.startsWith('  '))
  }
  return bullets
}

export const codesOf = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '')

/** Splits where no bracket is open. */
export function splitOutside(text: string, separator: string): string[] {
  const parts = ['']
  let depth = 0
  for (const char of text) {
    if ('([{'.includes(char)) depth++
    if (')]}'.includes(char)) depth--
    if (char === separator && depth === 0) parts.push('')
    else parts.push(`${parts.pop() ?? ''}${char}`)
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

/** The text between two marks; a document that no longer says it that way is an error, not an empty answer. */
export function between(text: string, from: string, to: string): string {
  const start = text.indexOf(from)
  const end = text.indexOf(to, start + from.length)
  if (start < 0 || end < 0) throw new Error(`the document does not say "${from} … ${to}"`)
  return text.slice(start + from.length, end)
}
