/**
 * Statements that ClickHouse clients send by themselves: when they connect, and to list tables and columns. Each becomes a SELECT over
 * the filtered `system`, which the guard checks like any other. Asked by clickhouse-go (Grafana) and clickhouse-jdbc (DBeaver).
 */
import { AGGREGATE_NAMES, SCALAR_NAMES } from './allowed-functions.js'

/** What the server calls itself; it has no users. */
const NAME = "'dextape'"
const IDENTIFIER = '(?:"(\\w+)"|`(\\w+)`|(\\w+))'

/** How clickhouse-go begins. `revision()` is 0: blocks then have the form that the engine writes without a protocol version. */
const HELLO = 'SELECT displayName(), version(), revision(), timezone()'
const HELLO_SELECT = `SELECT ${NAME} AS \`displayName()\`, version(), toUInt32(0) AS \`revision()\`, timezone()`

type Form = readonly [form: RegExp, select: (names: readonly string[]) => string]

/** What people type, too. */
const LISTINGS: readonly Form[] = [
  [/^SHOW (?:DATABASES|SCHEMAS)$/i, () => 'SELECT name FROM system.databases ORDER BY name'],
  [new RegExp(`^SHOW (?:FULL )?TABLES(?: (?:FROM|IN) ${IDENTIFIER})?$`, 'i'), tablesSelect],
  [new RegExp(`^(?:DESC|DESCRIBE)(?: TABLE)? (?:${IDENTIFIER}\\.)?${IDENTIFIER}$`, 'i'), columnsSelect],
]

const CLIENT_FORMS: readonly Form[] = [
  ...LISTINGS,
  [/^SELECT currentUser\(\) AS user, (timezone\(\) AS timezone, version\(\) AS version LIMIT 1)$/i, userSelect],
  [/^SELECT ([\w, ]+) FROM system\.functions(?: LIMIT \d+)?$/i, functionsSelect],
]

/** The text itself where it is none of these. */
export function asSelect(text: string): string {
  const plain = withoutTimeLimit(text)
  return isHello(text) ? HELLO_SELECT : (selectOf(plain, CLIENT_FORMS) ?? plain)
}

/** The SELECT for `SHOW TABLES`, `DESCRIBE trades` and the like; any other text itself. */
export const listingAsSelect = (text: string): string => selectOf(text, LISTINGS) ?? text

function selectOf(text: string, forms: readonly Form[]): string | undefined {
  const line = lineOf(text)
  for (const [form, select] of forms) {
    const found = form.exec(line)
    if (found !== null) return select(found.slice(1).filter((name) => name !== undefined))
  }
  return undefined
}

export const isHello = (text: string): boolean => lineOf(text).toLowerCase() === HELLO.toLowerCase()

const lineOf = (text: string): string => text.trim().replace(/\s*;$/, '').replace(/\s+/g, ' ')

/** Settings of a client are ignored, and the plan has its own limit. */
const withoutTimeLimit = (text: string): string =>
  text.replace(/\sSETTINGS\s+max_execution_time\s*=\s*\d+\s*;?\s*$/i, '')

function userSelect([rest = '']: readonly string[]): string {
  return `SELECT ${NAME} AS user, ${rest}`
}

function tablesSelect([database]: readonly string[]): string {
  const within = database === undefined ? '' : ` WHERE database = '${database}'`
  return `SELECT name FROM system.tables${within} ORDER BY name`
}

function columnsSelect(names: readonly string[]): string {
  const [table = '', database] = [...names].reverse()
  const within = database === undefined ? '' : ` AND database = '${database}'`
  return `SELECT name, type, default_kind AS default_type, default_expression, comment, '' AS codec_expression,
    '' AS ttl_expression FROM system.columns WHERE table = '${table}'${within} ORDER BY position`
}

/** The functions that a query may call; of the rest of what a client asks, empty texts. */
function functionsSelect([columns = '']: readonly string[]): string {
  const names = (list: readonly string[]) => `[${list.map((name) => `'${name}'`).join(', ')}]`
  const known: Record<string, string> = {
    name: 'f.1 AS name',
    is_aggregate: 'f.2 AS is_aggregate',
    case_insensitive: 'toUInt8(1) AS case_insensitive',
  }
  const wanted = columns.split(',').map((column) => known[column.trim()] ?? `'' AS ${column.trim()}`)
  return `SELECT ${wanted.join(', ')} FROM (SELECT arrayJoin(arrayConcat(
    arrayMap(n -> (n, toUInt8(0)), ${names(SCALAR_NAMES)}), arrayMap(n -> (n, toUInt8(1)), ${names(AGGREGATE_NAMES)}))) AS f)`
}

/** From this version on, a block says of each column whether it is serialised in a special way. */
const CUSTOM_SERIALIZATION = 54_454

/** The answer to HELLO in the format Native, of a client that names its protocol version: it expects that form once, before it knows ours. */
export function encodeHello(
  [version, timezone]: readonly [version: string, timezone: string],
  protocol: number,
): Buffer {
  const flag = protocol >= CUSTOM_SERIALIZATION ? [0] : []
  const column = (name: string, type: string, value: Uint8Array) => [
    ...[textBytes(name), textBytes(type), Buffer.from(flag), value],
  ]
  return Buffer.concat([
    // No overflow rows, no bucket.
    Buffer.from([1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0]),
    // Columns and rows.
    Buffer.from([4, 1]),
    ...column('displayName()', 'String', textBytes('dextape')),
    ...column('version()', 'String', textBytes(version)),
    ...column('revision()', 'UInt32', Buffer.alloc(4)),
    ...column('timezone()', 'String', textBytes(timezone)),
  ])
}

/** Short texts: their length is one byte. */
function textBytes(text: string): Buffer {
  const bytes = Buffer.from(text).subarray(0, 127)
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}
