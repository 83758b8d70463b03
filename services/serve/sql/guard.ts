/**
 * Decides which query of a user runs. The engine formats the text and shows its syntax tree and its resolved query tree; nothing is
 * judged by a parser of ours. Whatever is not on a list here is refused. (In the embedded engine, `readonly` alone would let a query
 * read files by `file()`, write one by `INTO OUTFILE` and read every table.)
 */
import type { ReadSettings } from '../../core/store/port.js'
import { isAllowedFunction } from './allowed-functions.js'
import { type CanonicalQuery, fillParameters, readCanonicalText } from './canonical-text.js'
import { asSqlFault, refused } from './sql-faults.js'

export type GuardDeps = {
  /** Runs a statement of ours. */
  read(sql: string, settings: ReadSettings): Promise<Uint8Array>
  /** The database that has the views. */
  database: string
  views: readonly string[]
  /** Views that stand for tables of `system`, by the name of the table. */
  systemViews?: ReadonlyMap<string, string>
}

export const MAX_QUERY_BYTES = 32_768
const MAX_NODES = 5_000
/** Of what the engine shows of a query, whatever the plan allows a query to return. */
const OWN_LIMITS = { max_result_rows: 100_000, max_result_bytes: 16_777_216 }

const NODES = new Set([
  ...['SelectWithUnionQuery', 'SelectQuery', 'SelectIntersectExceptQuery', 'Subquery', 'WithElement', 'ExpressionList'],
  ...['Function', 'Identifier', 'Literal', 'Asterisk', 'QualifiedAsterisk', 'OrderByElement', 'StorageOrderByElement'],
  ...[
    'TablesInSelectQuery',
    'TablesInSelectQueryElement',
    'TableExpression',
    'TableIdentifier',
    'TableJoin',
    'ArrayJoin',
  ],
  ...['WindowDefinition', 'WindowListElement', 'InterpolateElement', 'ColumnsRegexpMatcher', 'ColumnsListMatcher'],
  ...[
    'ColumnsTransformerList',
    'ColumnsExceptTransformer',
    'ColumnsReplaceTransformer',
    'ColumnsReplaceTransformer::Replacement',
  ],
])

/** Where the engine prints too little of a node to judge it, or a better word for it. */
const WHY: Readonly<Record<string, readonly [what: string, why: string]>> = {
  Set: ['SETTINGS', 'the limits of the plan apply to every query'],
  ColumnsApplyTransformer: ['APPLY', 'its function is not shown by the engine. Name the columns instead'],
  SampleRatio: ['SAMPLE', 'views have no sampling key'],
}

const TREE_NODES = new Set([
  ...[
    'QUERY',
    'UNION',
    'LIST',
    'COLUMN',
    'FUNCTION',
    'CONSTANT',
    'TABLE',
    'JOIN',
    'CROSS_JOIN',
    'ARRAY_JOIN',
    'LAMBDA',
  ],
  ...['SORT', 'WINDOW', 'INTERPOLATE', 'IDENTIFIER', 'MATCHER', 'EXCEPT', 'REPLACE', 'SORT_COLUMN'],
])

/** The tree of a query without FROM has it. */
const IMPLICIT_TABLE = 'system.one'
/** The engine adds them while it resolves a query. */
const IMPLICIT_FUNCTIONS = new Set([
  '_cast',
  '__scalarsubqueryresult',
  '__getscalar',
  'getsubcolumn',
  'count',
  'nothing',
])

const OTHER_STATEMENTS: Readonly<Record<string, string>> = {
  SHOW: 'except SHOW TABLES and SHOW DATABASES',
  DESCRIBE: 'except DESCRIBE with the name of a view',
  DESC: 'except DESC with the name of a view',
  EXPLAIN: 'it shows how the engine stores rows',
}

export type Guard = (
  text: string,
  settings: ReadSettings,
  parameters?: ReadonlyMap<string, string>,
) => Promise<CanonicalQuery>

/** The guard resolves with what to run, or rejects with the reason. Scalar subqueries run under `settings` while it resolves. */
export function createGuard({ read, database, views, systemViews = new Map() }: GuardDeps): Guard {
  const renames = new Map([...systemViews].map(([table, view]) => [table, `${database}.${view}`]))
  const readable = [...views, ...systemViews.values()]
  const tables = new Set([IMPLICIT_TABLE, ...readable, ...readable.map((view) => `${database}.${view}`)])

  const isTable = ({ subqueryNames }: CanonicalQuery): IsTable => {
    return (name) => tables.has(name) || subqueryNames.has(name)
  }

  async function ask(sql: string, settings: ReadSettings): Promise<string[]> {
    const bytes = await read(`${sql}\nFORMAT JSONCompact`, { ...settings, ...OWN_LIMITS }).catch((error) => {
      throw asSqlFault(error)
    })
    const { data } = JSON.parse(Buffer.from(bytes).toString()) as { data: string[][] }
    return data.map(([value = '']) => value)
  }

  /** A subquery with the name of a table could stand for that table elsewhere in the query. */
  async function refuseAmbiguous(names: ReadonlySet<string>, settings: ReadSettings): Promise<void> {
    if (names.size === 0) return
    const known = await ask(`SELECT name FROM system.tables WHERE database = '${database}'`, settings)
    const ambiguous = known.find((name) => names.has(name))
    if (ambiguous !== undefined)
      throw refused(`the name ${ambiguous} of a subquery`, 'a table has it. Choose another name')
  }

  return async (text, settings, parameters = new Map()) => {
    refuseText(text)
    const hex = Buffer.from(text).toString('hex')
    const [formatted = ''] = await ask(`SELECT formatQuerySingleLine(unhex('${hex}'))`, settings)
    const query = readCanonicalText(fillParameters(formatted, parameters), renames)
    const { sql, subqueryNames } = query
    // Anything else could be read as an option of EXPLAIN.
    if (!/^\(*(SELECT|WITH) /.test(sql)) throw refused(`the statement ${sql.split(' ')[0]}`, 'only SELECT runs')
    // In a subquery, the engine accepts no clause that would redirect the output of EXPLAIN itself. Nothing is executed, so it needs
    // no `readonly`, under which it would not run.
    const syntax = await ask(`SELECT explain FROM (EXPLAIN AST ${sql}\n)`, { ...settings, readonly: 0 })
    checkSyntax(syntax, isTable(query))
    checkText(query, isTable(query), syntax)
    await refuseAmbiguous(subqueryNames, settings)
    checkTree(await ask(`EXPLAIN QUERY TREE passes = 1 ${sql}`, settings), tables)
    return query
  }
}

function refuseText(text: string): void {
  if (Buffer.byteLength(text) > MAX_QUERY_BYTES) throw refused(`a query above ${MAX_QUERY_BYTES} bytes`, 'shorten it')
  if (/[^\P{Cc}\t\n\r]/u.test(text)) throw refused('a control character', 'remove it')
  const [first = ''] = /^[A-Za-z]+/.exec(text.trim()) ?? []
  const statement = first.toUpperCase()
  if (['SELECT', 'WITH', 'FROM', ''].includes(statement)) return
  throw refused(`the statement ${statement}`, OTHER_STATEMENTS[statement] ?? 'only SELECT runs')
}

type IsTable = (name: string) => boolean

type Node = { depth: number; kind: string; name: string }

const LINE = /^( *)([\w:]+)(?: (.*?))??(?: \(alias .*\))?(?: \(children \d+\))?$/

function nodeOf(line: string): Node {
  const [, indent = '', kind = '', name = ''] = LINE.exec(line) ?? []
  return { depth: indent.length, kind, name }
}

const IN_FUNCTIONS = /^(global)?(not)?(null)?in$/i

function checkSyntax(lines: readonly string[], isTable: IsTable): void {
  if (lines.length > MAX_NODES) throw refused(`a query of ${lines.length} parts`, `at most ${MAX_NODES} run`)
  const path: Node[] = []
  for (const [at, line] of lines.entries()) {
    const node = nodeOf(line)
    path.length = Math.min(path.length, node.depth)
    const parent = path.at(-1)
    const caller = path.at(-2)
    path.push(node)
    if (!NODES.has(node.kind) || (at === 0 && node.kind !== 'SelectWithUnionQuery')) throw refusedNode(node)
    if (node.kind === 'Function') checkFunction(node.name, parent)
    if (node.kind === 'TableIdentifier' && !isTable(node.name))
      throw refused(`the table ${node.name}`, 'a query reads views only')
    // The second argument of IN may be the name of a table.
    const isArgumentOfIn = node.kind === 'Identifier' && caller?.kind === 'Function' && IN_FUNCTIONS.test(caller.name)
    const isFirstArgument = nodeOf(lines[at - 1] ?? '').depth < node.depth
    if (isArgumentOfIn && !isFirstArgument && !isTable(node.name)) throw refusedIn(node.name)
  }
}

/** The syntax tree leaves out what stands in OVER (…), so the same is read from the text. */
function checkText({ calls, inNames, selects }: CanonicalQuery, isTable: IsTable, syntax: readonly string[]): void {
  for (const name of calls) {
    checkFunction(name, undefined)
    if (IN_FUNCTIONS.test(name)) throw refused(`the function ${name}()`, 'write IN or NOT IN')
  }
  for (const name of inNames) if (!isTable(name)) throw refusedIn(name)
  const shown = syntax.filter((line) => nodeOf(line).kind === 'SelectQuery').length
  if (shown !== selects) throw refused('a subquery in this place', 'the engine does not show it. Define it by WITH')
}

const refusedIn = (name: string) => refused(`IN ${name}`, `write IN (SELECT … FROM ${name})`)

function refusedNode({ kind }: Node) {
  const [what, why] = WHY[kind] ?? [kind || 'this query', 'only plain SELECT runs']
  return refused(what, why)
}

function checkFunction(name: string, parent: Node | undefined): void {
  if (parent?.kind === 'TableExpression') throw refused(`the table function ${name}()`, 'a query reads views only')
  if (!isAllowedFunction(name)) throw refused(`the function ${name}()`, 'it is not on the list of functions')
}

function checkTree(lines: readonly string[], tables: ReadonlySet<string>): void {
  for (const line of lines) {
    const [, kind, rest = ''] = /^\s*([A-Z_]+) id: \d+(.*)$/.exec(line) ?? []
    if (kind === undefined) continue
    const [, table, more] = /, table_name: ([^,]*)(.*)$/.exec(rest) ?? []
    const [, called = ''] = /, function_name: (\w+)/.exec(rest) ?? []
    if (kind === 'TABLE' && !tables.has(table ?? '')) throw refused(`the table ${table}`, 'a query reads views only')
    if (kind === 'TABLE' && more !== '') throw refused('FINAL or SAMPLE', 'views have no versions and no sampling key')
    if (!TREE_NODES.has(kind)) throw refused(kind, 'only plain SELECT runs')
    if (kind === 'FUNCTION' && !IMPLICIT_FUNCTIONS.has(called.toLowerCase()) && !isAllowedFunction(called))
      throw refused(`the function ${called}()`, 'it is not on the list of functions')
  }
}
