/**
 * Reads the text into which the engine formats a query: one line, without comments, with backslash escapes in quotes. Only this text is
 * checked and run, so what a query means never depends on how we would read the text of a user.
 */
import { RequestError } from '../rest/problem.js'
import { refused } from './sql-faults.js'

type Token = { text: string; start: number }

const TOKEN = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|\d\w*|\s+|[^\s\w'"`]/gy

/** Comments, other dialects, substitutions and statement ends: the engine's text of a plain query has none of them. */
const UNEXPECTED = /^[;#$@{}\\]$|^[^ -~]/

export type CanonicalQuery = {
  /** Without its FORMAT clause. */
  sql: string
  /** As the FORMAT clause names it. */
  format: string | undefined
  /** Names that a WITH clause may define as tables; the engine prints them nowhere else. */
  subqueryNames: ReadonlySet<string>
  /** Functions it calls, wherever: the syntax tree leaves out what stands in OVER (…). */
  calls: ReadonlySet<string>
  /** How many SELECTs it has. */
  selects: number
  /** Names that stand alone after IN: tables. */
  inNames: readonly string[]
}

/** Words of SQL before a parenthesis. No function that is not allowed has such a name (tested). */
export const BEFORE_PARENTHESIS: ReadonlySet<string> = new Set(
  `SELECT DISTINCT FROM WHERE PREWHERE HAVING QUALIFY BY ON USING JOIN WITH AS IN AND OR NOT BETWEEN LIKE ILIKE IS CASE WHEN THEN
  ELSE OVER ROWS RANGE GROUPS UNION ALL EXCEPT INTERSECT REPLACE COLUMNS SETS CUBE ROLLUP INTERPOLATE LIMIT OFFSET FILL TO STEP
  FIRST LAST ASC DESC FILTER ARRAY DIV MOD REGEXP STALENESS`.split(/\s+/),
)

/** `renames`: tables of `system` by the view that replaces each. */
export function readCanonicalText(text: string, renames: ReadonlyMap<string, string> = new Map()): CanonicalQuery {
  const tokens = tokensOf(text)
  refuseUnexpected(tokens)
  refuseClauses(tokens.map((token) => token.text.toUpperCase()))
  refuseComments(tokens)
  const [beforeLast, last] = tokens.slice(-2)
  const hasFormat = last !== undefined && beforeLast?.text === 'FORMAT' && /^\w+$/.test(last.text)
  const sql = hasFormat ? text.slice(0, beforeLast.start) : text
  return {
    sql: renameTables(sql, tokens, renames),
    format: hasFormat ? last.text : undefined,
    calls: new Set(tokens.flatMap(({ text: name }, at) => (isCalled(tokens, at) ? [unquoted(name)] : []))),
    selects: tokens.filter((token) => token.text === 'SELECT').length,
    inNames: tokens.flatMap((_, at) => nameAfterIn(tokens, at)),
    subqueryNames: new Set(tokens.flatMap(({ text: name }, at) => (isDefined(tokens, at) ? [unquoted(name)] : []))),
  }
}

/** `name AS (`; a quoted name with a dot would look like a table of another database. */
const isDefined = (tokens: readonly Token[], at: number): boolean =>
  tokens[at + 1]?.text === 'AS' && tokens[at + 2]?.text === '(' && /^([`"]?)\w+\1$/.test(tokens[at]?.text ?? '')

const isCalled = (tokens: readonly Token[], at: number): boolean => {
  const { text } = tokens[at] ?? { text: '' }
  return tokens[at + 1]?.text === '(' && /^[\w`"]/.test(text) && !BEFORE_PARENTHESIS.has(text)
}

/** `IN (name)`, as the engine writes it, with or without a database and an alias. */
function nameAfterIn(tokens: readonly Token[], at: number): string[] {
  if (tokens[at]?.text !== 'IN') return []
  const [open, ...rest] = tokens.slice(at + 1, at + 9).map(({ text }) => text)
  const inside =
    open === '(' ? rest.slice(0, rest.indexOf(')')) : [open ?? '', ...rest.slice(0, rest[0] === '.' ? 2 : 0)]
  const isClosed = open !== '(' || rest.includes(')')
  const name = inside.slice(0, inside.includes('AS') ? inside.indexOf('AS') : undefined)
  const isName = name.length > 0 && name.every((part) => /^([A-Za-z_`"].*|\.)$/.test(part))
  return isClosed && isName && name[0] !== 'NULL' ? [name.map(unquoted).join('')] : []
}

const unquoted = (name: string): string => name.replace(/^([`"])(.*)\1$/, '$2')

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let depth = 0
  let end = 0
  for (const { 0: found, index: start } of text.matchAll(TOKEN)) {
    end = start + found.length
    if (/^\s/.test(found)) continue
    depth += found === '(' ? 1 : found === ')' ? -1 : 0
    if (depth < 0) break
    tokens.push({ text: found, start })
  }
  if (end !== text.length || depth !== 0) throw refused('the text', 'quotes or parentheses do not match')
  return tokens
}

function refuseUnexpected(tokens: readonly Token[]): void {
  for (const { text } of tokens) {
    if (UNEXPECTED.test(text)) throw refused(`\`${text}\``, 'it is not part of a plain SELECT')
    // Such a name would look like several lines where the engine prints it.
    if (/^[`"]/.test(text) && text.includes('\\')) throw refused(`the name ${text}`, 'names may not contain escapes')
  }
}

/** Writes the value of each parameter, `{name:Type}`, in its place. What results is checked like any other text. */
export function fillParameters(text: string, values: ReadonlyMap<string, string>): string {
  const tokens = tokensOf(text)
  let filled = ''
  let end = 0
  for (const [at, { text: brace, start }] of tokens.entries()) {
    if (brace !== '{' || start < end) continue
    const [name, colon] = [tokens[at + 1]?.text ?? '', tokens[at + 2]]
    const close = tokens.slice(at, at + MAX_PARAMETER_TOKENS).find(({ text }) => text === '}')
    if (colon?.text !== ':' || close === undefined) continue
    const type = text.slice(colon.start + 1, close.start).trim()
    if (!/^[\w(), ']+$/.test(type) || /identifier/i.test(type))
      throw refused(`a parameter of the type ${type}`, 'parameters are values')
    const value = values.get(name)
    if (value === undefined) throw new RequestError(400, 'sql_parameter', `The parameter ${name} has no value.`)
    filled += `${text.slice(end, start)}${value === '\\N' ? 'NULL' : `CAST(${literal(unescaped(value))}, ${literal(type)})`}`
    end = close.start + 1
  }
  return filled + text.slice(end)
}

/** Of a parameter: its name and a nested type. */
const MAX_PARAMETER_TOKENS = 50

const literal = (text: string): string => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', 0: '\0' }

/** Clients send values as in tab-separated text. */
const unescaped = (value: string): string =>
  value.replace(/\\(.)/gs, (_, escaped: string) => ESCAPES[escaped] ?? escaped)

function refuseClauses(words: readonly string[]): void {
  for (const [at, word] of words.entries()) {
    const next = words[at + 1] ?? ''
    if (word === 'INTO' && next === 'OUTFILE') throw refused('INTO OUTFILE', 'a query may not write files')
    if (word === 'SETTINGS' && words[at + 2] === '=')
      throw refused(`SETTINGS ${next.toLowerCase()}`, 'the limits of the plan apply to every query')
    if (word === 'WITH' && next === 'RECURSIVE') throw refused('WITH RECURSIVE', 'its number of steps is unknown')
    if (word === 'AS' && next === 'MATERIALIZED') throw refused('MATERIALIZED', 'a query may not create tables')
  }
}

function refuseComments(tokens: readonly Token[]): void {
  for (const [at, { text, start }] of tokens.entries()) {
    const next = tokens[at + 1]
    const pair = next?.start === start + 1 ? text + next.text : ''
    if (['--', '/*', '//', '#!'].includes(pair)) throw refused(`\`${pair}\``, 'it would start a comment')
  }
}

function renameTables(text: string, tokens: readonly Token[], renames: ReadonlyMap<string, string>): string {
  let renamed = ''
  let end = 0
  for (const [at, { text: schema, start }] of tokens.entries()) {
    const [before, dot, table] = [tokens[at - 1], tokens[at + 1], tokens[at + 2]]
    const isSystem = schema === 'system' && before?.text !== '.' && dot?.text === '.'
    const view = isSystem ? renames.get(table?.text ?? '') : undefined
    if (view === undefined || table === undefined || table.start >= text.length) continue
    renamed += text.slice(end, start) + view
    end = table.start + table.text.length
  }
  return renamed + text.slice(end)
}
