/** Which SQL runs: everything an analyst needs, and nothing that reaches beyond the views or the limits of a plan. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PLANS } from '../../../services/core/domain/plans.js'
import type { Store } from '../../../services/core/store/port.js'
import type { RequestError } from '../../../services/serve/rest/problem.js'
import { isAllowedFunction } from '../../../services/serve/sql/allowed-functions.js'
import { BEFORE_PARENTHESIS } from '../../../services/serve/sql/canonical-text.js'
import { createGuard, type Guard } from '../../../services/serve/sql/guard.js'
import { asSqlFault } from '../../../services/serve/sql/sql-faults.js'
import { settingsOf } from '../../../services/serve/sql/sql-service.js'
import { SQL_VIEWS, SYSTEM_VIEWS } from '../../../services/serve/sql/views.js'
import { openTestStore } from '../rig.js'
import { HEAVY, hostileTexts, inEveryClause, inEveryPlace } from './hostile-sql.js'

const settings = settingsOf(PLANS.pro)
let directory: string
let store: Store
let guard: Guard

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'dextape-sql-'))
  store = await openTestStore(directory)
  const { read, database } = store
  guard = createGuard({ read, database, views: Object.keys(SQL_VIEWS), systemViews: SYSTEM_VIEWS })
}, 60_000)
afterAll(async () => {
  await store?.close()
  rmSync(directory, { recursive: true, force: true })
})

async function rowsOf(text: string): Promise<unknown[][]> {
  const { sql } = await guard(text, settings)
  const answer = Buffer.from(await store.read(`${sql}\nFORMAT JSONCompact`, settings)).toString()
  return (JSON.parse(answer) as { data: unknown[][] }).data
}

const reasonOf = (text: string): Promise<string> =>
  guard(text, settings).then(
    ({ sql }) => `runs: ${sql}`,
    ({ code, message }: RequestError) => `${code}: ${message}`,
  )

describe('runs', () => {
  test.each([
    ['SELECT 1', [[1]]],
    ['select 1;', [[1]]],
    ['SELECT 1 -- a comment\n', [[1]]],
    ['/* a */ FROM (SELECT 2 AS a) SELECT a', [[2]]],
    ['(SELECT 1) UNION ALL (SELECT 2)', [[1], [2]]],
    ['SELECT 1 EXCEPT SELECT 2', [[1]]],
    [
      "SELECT 'it''s', 'a\\nTABLE id: 3, table_name: x', $$heredoc$$",
      [["it's", 'a\nTABLE id: 3, table_name: x', 'heredoc']],
    ],
    ['SELECT -1 - -1, 5 - (-3), `odd name` FROM (SELECT 7 AS `odd name`)', [[0, 8, 7]]],
    ['WITH x AS (SELECT 1 AS a), y AS (SELECT a + 1 AS b FROM x) SELECT a, b FROM x, y WHERE a IN x', [[1, 2]]],
    ['WITH (SELECT count() FROM trades) AS n SELECT n = 0, CASE n WHEN 0 THEN 3 END', [[1, 3]]],
    ['SELECT arrayMap(x -> x * 2, [1, 2]), (1, 2).2, tupleElement((3, 4), 1)', [[[2, 4], 2, 3]]],
    [
      "SELECT CAST(1 AS String), '5'::UInt8, toDecimal64('1.5', 2), date_trunc('hour', toDateTime(3601, 'UTC'))",
      [['1', 5, '1.5', '1970-01-01 01:00:00']],
    ],
    ['SELECT 1 AS settings, 2 AS format, 3 AS outfile', [[1, 2, 3]]],
    [
      'SELECT sum(a) FILTER (WHERE a > 1), quantile(0.5)(a), uniqExactIf(a, a > 1) FROM (SELECT arrayJoin([1, 2]) AS a)',
      [['2', 1.5, '1']],
    ],
    [
      'SELECT a, lagInFrame(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM (SELECT arrayJoin([1, 2]) AS a)',
      [
        [1, 0],
        [2, 1],
      ],
    ],
    [
      'SELECT count() FROM trades AS t LEFT JOIN pairs AS p ON p.pair = t.pair ASOF JOIN candles AS c ON c.pair = t.pair AND c.time <= t.time',
      [['0']],
    ],
    ["SELECT t.* EXCEPT (id) REPLACE (upper(chain) AS chain), COLUMNS('price') FROM trades AS t", []],
    [
      'SELECT toStartOfInterval(time, INTERVAL 5 MINUTE) AS t, argMin(price_usd, (block_number, tx_index)) FROM trades GROUP BY t ORDER BY t WITH FILL STEP 300',
      [],
    ],
    [
      'SELECT chain, count() FROM trades GROUP BY ROLLUP(chain) HAVING count() > 5 QUALIFY row_number() OVER (ORDER BY chain) < 3',
      [],
    ],
    [
      'SELECT pair FROM trades ARRAY JOIN flags AS flag WHERE EXISTS (SELECT 1 FROM pairs) LIMIT 1 BY pair LIMIT 2 OFFSET 1',
      [],
    ],
    ['SELECT pair, avg(close_usd) OVER w FROM candles WINDOW w AS (PARTITION BY pair ORDER BY time)', []],
    ["SELECT now() > today(), version() != '', currentDatabase() = (SELECT name FROM system.databases)", [[1, 1, 1]]],
    ["SELECT name FROM system.tables WHERE name IN ('trades', 'trade_rows', 'migrations')", [['trades']]],
    ["SELECT system.columns.name FROM system.columns WHERE table = 'holders' AND position = 1", [['chain']]],
    ["SELECT DISTINCT table FROM system.columns WHERE table LIKE '%\\_rows'", []],
  ])('%s', async (text, expected) => {
    expect(await rowsOf(text)).toEqual(expected)
  })

  test('parameters as values, whatever they contain', async () => {
    const values = new Map([
      ...[['text', "a'b\\\\c\\n) FROM trade_rows --"] as const, ['list', '[1,2]'] as const],
      ...[['none', '\\N'] as const, ['number', '7'] as const],
    ])
    const text = 'SELECT {text:String}, {list:Array(UInt8)}, {none:Nullable(String)}, {number:UInt8} + 1'
    const { sql } = await guard(text, settings, values)
    const answer = Buffer.from(await store.read(`${sql}\nFORMAT JSONCompactEachRow`, settings)).toString()
    expect(JSON.parse(answer)).toEqual(["a'b\\c\n) FROM trade_rows --", [1, 2], null, 8])
  })

  test.each(Object.keys(SQL_VIEWS))('every column of %s', async (view) => {
    const columns = Object.keys(SQL_VIEWS[view]?.columns ?? {})
    expect(await rowsOf(`SELECT name FROM system.columns WHERE table = '${view}' ORDER BY position`)).toEqual(
      columns.map((name) => [name]),
    )
    expect(await rowsOf(`SELECT ${columns.join(', ')} FROM ${view}`)).toEqual([])
  })
})

describe('is refused with what and why', () => {
  test.each([
    [
      'SELECT * FROM trade_rows',
      'sql_refused: SQL refused: the table trade_rows is not allowed, a query reads views only.',
    ],
    [
      "SELECT file('/etc/passwd')",
      'sql_refused: SQL refused: the function file() is not allowed, it is not on the list of functions.',
    ],
    [
      'SELECT * FROM numbers(3)',
      'sql_refused: SQL refused: the table function numbers() is not allowed, a query reads views only.',
    ],
    [
      'SELECT 1 SETTINGS max_threads = 8',
      'sql_refused: SQL refused: SETTINGS max_threads is not allowed, the limits of the plan apply to every query.',
    ],
    [
      "SELECT 1 INTO OUTFILE 'x'",
      'sql_refused: SQL refused: INTO OUTFILE is not allowed, a query may not write files.',
    ],
    ['DROP TABLE trade_rows', 'sql_refused: SQL refused: the statement DROP is not allowed, only SELECT runs.'],
    [
      'SELECT pair IN trade_rows FROM trades',
      'sql_refused: SQL refused: IN trade_rows is not allowed, write IN (SELECT … FROM trade_rows).',
    ],
    [
      'SELECT * APPLY(file) FROM trades',
      'sql_refused: SQL refused: APPLY is not allowed, its function is not shown by the engine.',
    ],
    [
      'WITH pair_rows AS (SELECT 1) SELECT * FROM pair_rows',
      'sql_refused: SQL refused: the name pair_rows of a subquery is not allowed, a table has it.',
    ],
    ['SELECT nope FROM trades', 'sql_invalid: Invalid SQL: Unknown expression identifier `nope`'],
    ['SELECT 1; SELECT 2', 'sql_invalid: Invalid SQL: Syntax error (Multi-statements are not allowed)'],
  ])('%s', async (text, reason) => {
    expect((await reasonOf(text)).slice(0, reason.length)).toBe(reason)
  })

  /** Resolving the query tree runs constants and scalar subqueries: what is forbidden must be refused before. */
  const reasonBeforeItRuns = (text: string): Promise<string> => {
    const read: Store['read'] = (sql, given) =>
      sql.startsWith('EXPLAIN QUERY TREE') ? Promise.reject(new Error('the engine ran it')) : store.read(sql, given)
    const { database } = store
    return createGuard({ read, database, views: Object.keys(SQL_VIEWS), systemViews: SYSTEM_VIEWS })(
      text,
      settings,
    ).then(
      () => 'runs',
      ({ message }: Error) => message,
    )
  }

  test.each(inEveryClause("file('/etc/passwd')"))('before the engine runs a function: %s', async (text) => {
    expect(await reasonBeforeItRuns(text)).toMatch(/^SQL refused: the function file\(\) is not allowed/)
  })

  test.each(inEveryPlace('trade_rows'))('before the engine reads a table: %s', async (text) => {
    expect(await reasonBeforeItRuns(text)).toMatch(
      /^SQL refused: ((the table|IN) (dextape\.)?trade_rows|the function notIn\(\)) is not allowed/,
    )
  })

  test('before the engine runs a subquery that it does not show', async () => {
    const text = 'SELECT sum(1) OVER (PARTITION BY (SELECT max(pair) FROM trade_rows)) FROM trades'
    expect(await reasonBeforeItRuns(text)).toMatch(/^SQL refused: a subquery in this place is not allowed/)
  })

  test('each of hundreds of hostile texts, and none leaves a trace', async () => {
    const outfile = join(directory, 'written')
    const tables = () =>
      store.query("SELECT database, name FROM system.tables WHERE database NOT IN ('system') ORDER BY ALL")
    const before = await tables()
    const texts = hostileTexts(outfile)
    expect(texts.length).toBeGreaterThan(480)
    const accepted: string[] = []
    for (const text of texts) {
      const reason = await reasonOf(text)
      if (!/^(sql_refused|sql_invalid|sql_parameter|sql_failed|query_memory|query_too_large): /.test(reason))
        accepted.push(`${text} → ${reason}`)
    }
    expect(accepted).toEqual([])
    expect(existsSync(outfile)).toBe(false)
    expect(await tables()).toEqual(before)
  }, 120_000)
})

test('of the engine, only functions that compute from their arguments are allowed', async () => {
  type Row = { name: string; alias_to: string; categories: string }
  const functions = await store.query<Row>('SELECT name, alias_to, categories FROM system.functions')
  const allowed = functions.filter(({ name }) => isAllowedFunction(name))
  expect(allowed.length).toBeGreaterThan(500)
  const forbidden = /Dictionary|Introspection|^AI$|Machine|Encryption|Random|Internal/
  // Conditions and casts are written with them.
  const harmless = ['_CAST', 'caseWithExpression']
  expect(allowed.filter(({ name, categories }) => forbidden.test(categories) && !harmless.includes(name))).toEqual([])
  const keywords = functions.filter(({ name }) => BEFORE_PARENTHESIS.has(name.toUpperCase()))
  expect(keywords.filter(({ name }) => !isAllowedFunction(name))).toEqual([])
  // A name is compared whatever its case, and the query tree shows the name behind an alias.
  const meanings = new Map<string, Set<string>>()
  for (const { name, alias_to } of functions) {
    const same = meanings.get(name.toLowerCase()) ?? new Set()
    meanings.set(name.toLowerCase(), same.add(alias_to || name))
  }
  expect([...meanings].filter(([name, { size }]) => size > 1 && isAllowedFunction(name))).toEqual([])
  expect(allowed.filter(({ alias_to }) => alias_to !== '' && !isAllowedFunction(alias_to))).toEqual([])
})

test.each(HEAVY)('is ended by a limit: %s', async (text) => {
  const limits = settingsOf({ ...PLANS.pro, sqlSeconds: 0.1, sqlMemoryBytes: 64_000_000 })
  const run = async () => {
    const { sql } = await guard(text, limits)
    const bytes = await store.read(`${sql}\nFORMAT Native`, limits).catch((error) => {
      throw asSqlFault(error)
    })
    return bytes.length
  }
  await expect(run()).rejects.toMatchObject({ code: expect.stringMatching(/^query_(timeout|memory|too_large)$/) })
})
