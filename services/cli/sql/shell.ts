/** The prompt of `dextape sql`: a query ends with a semicolon, Tab completes views, columns and keywords. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { DextapeError } from '../../core/domain/errors.js'
import { EXIT } from '../../core/runtime/run-main.js'
import type { Format } from '../../serve/sql/formats.js'
import type { SqlClient, View } from './sql-client.js'

export type ShellOptions = {
  client: SqlClient
  format: Format
  /** The file that keeps the last lines. */
  history: string
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
}

const PROMPT = 'dextape> '
const CONTINUED = '      -> '
const MAX_HISTORY = 1_000
const HELP = [
  'End a query with a semicolon. Tab completes.',
  '  \\d         list the views',
  '  \\d VIEW    list the columns of a view',
  '  \\q         quit',
].join('\n')

const KEYWORDS = [
  ...['SELECT', 'FROM', 'WHERE', 'GROUP BY', 'ORDER BY', 'HAVING', 'LIMIT', 'WITH', 'AS', 'JOIN', 'LEFT JOIN', 'USING'],
  ...[
    'ON',
    'AND',
    'OR',
    'NOT',
    'IN',
    'BETWEEN',
    'LIKE',
    'IS NULL',
    'DISTINCT',
    'UNION ALL',
    'OVER',
    'PARTITION BY',
    'DESC',
  ],
  ...[
    'INTERVAL',
    'CASE',
    'WHEN',
    'THEN',
    'ELSE',
    'END',
    'count()',
    'sum(',
    'avg(',
    'min(',
    'max(',
    'argMax(',
    'argMin(',
  ],
  ...['quantile(', 'uniqExact(', 'toStartOfHour(', 'toStartOfDay(', 'toStartOfInterval(', 'now()'],
]

/** Resolves with the exit code when the input ends. */
export async function runShell({ client, format, history, input, output }: ShellOptions): Promise<number> {
  const views = await client.views()
  const isTerminal = (output as { isTTY?: boolean }).isTTY === true
  const lines = createInterface({
    ...{ input, output, prompt: PROMPT, terminal: isTerminal, historySize: MAX_HISTORY, removeHistoryDuplicates: true },
    history: readHistory(history),
    completer: (line: string) => completionsOf(line, views),
  })
  lines.on('history', (kept: string[]) => writeHistory(history, kept))
  lines.on('SIGINT', () => lines.close())
  output.write(`${HELP}\n`)
  lines.prompt()
  let query = ''
  for await (const line of lines) {
    const command = query === '' ? line.trim() : ''
    if (/^(\\q|quit|exit);?$/i.test(command)) break
    if (/^(\\\?|help);?$/i.test(command)) output.write(`${HELP}\n`)
    else if (command.startsWith('\\d')) output.write(describe(views, command.slice(2).trim()))
    else query = `${query}${line}\n`
    if (query.trim() === '') query = ''
    if (/;\s*$/.test(query)) {
      output.write(await answer(client, query, format))
      query = ''
    }
    lines.setPrompt(query === '' ? PROMPT : CONTINUED)
    lines.prompt()
  }
  lines.close()
  return EXIT.ok
}

async function answer(client: SqlClient, query: string, format: Format): Promise<string | Buffer> {
  const startMs = performance.now()
  try {
    const { body, asOf } = await client.run(query, format)
    const seconds = ((performance.now() - startMs) / 1000).toFixed(2)
    return Buffer.concat([body, Buffer.from(`${seconds} s, as of ${asOf === '' ? 'no block' : asOf}\n\n`)])
  } catch (error) {
    if (error instanceof DextapeError) return `${error.message}\n\n`
    throw error
  }
}

function describe(views: readonly View[], name: string): string {
  if (name === '') return `${views.map((view) => `${view.name.padEnd(14)}${view.summary}`).join('\n')}\n`
  const view = views.find((one) => one.name === name)
  if (view === undefined) return `There is no view ${name}: ${views.map((one) => one.name).join(', ')}\n`
  const width = Math.max(...view.columns.map((column) => column.name.length))
  return `${view.columns.map(({ name, type, description }) => `${name.padEnd(width)}  ${type}: ${description}`).join('\n')}\n`
}

/** What may follow the last word of the line, as readline wants it: the candidates, and the word. */
export function completionsOf(line: string, views: readonly View[]): [candidates: string[], word: string] {
  const [word = ''] = /[\w.]*$/.exec(line) ?? []
  const [, qualifier, rest = ''] = /^(\w+)\.(\w*)$/.exec(word) ?? []
  const named = views.find((view) => view.name === qualifier)
  if (named !== undefined) {
    const columns = named.columns.filter(({ name }) => name.startsWith(rest))
    return [columns.map(({ name }) => `${qualifier}.${name}`), word]
  }
  const mentioned = views.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(line))
  const isTable = /\b(from|join)\s+\w*$/i.test(line)
  const columns = (mentioned.length > 0 ? mentioned : views).flatMap((view) => view.columns.map(({ name }) => name))
  const names = views.map(({ name }) => name)
  const candidates = isTable ? names : [...new Set([...columns, ...names, ...KEYWORDS])]
  const isLower = word !== '' && word === word.toLowerCase()
  const cased = candidates.map((one) =>
    isLower && KEYWORDS.includes(one) && !one.includes('(') ? one.toLowerCase() : one,
  )
  return [cased.filter((one) => one.toLowerCase().startsWith(word.toLowerCase())), word]
}

function readHistory(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean).slice(0, MAX_HISTORY)
  } catch {
    return []
  }
}

/** A prompt without a history is better than none. */
function writeHistory(file: string, kept: readonly string[]): void {
  try {
    writeFileSync(file, `${kept.join('\n')}\n`, { mode: 0o600 })
  } catch {}
}
