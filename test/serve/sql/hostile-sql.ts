/** SQL that must not run: each forbidden thing in several places of a query. */
import { TABLES } from '../../../services/core/store/tables.js'

type Shape = (what: string) => string

const words = (text: string): string[] => text.trim().split(/\s+/)

/** Where a scalar expression may stand. */
const SCALAR_SHAPES: readonly Shape[] = [
  (call) => `SELECT ${call}`,
  (call) => `SELECT count() FROM trades WHERE pair = toString(${call})`,
  (call) => `WITH x AS (SELECT ${call} AS y) SELECT * FROM x`,
  (call) => `SELECT arrayMap(x -> ${call}, [1])`,
  (call) => `SELECT pair FROM trades GROUP BY pair HAVING max(${call}) > 0 ORDER BY ${call} LIMIT 1`,
  (call) => `/* */ SELECT 1 -- \n UNION ALL SELECT (SELECT ${call})`,
]

const FUNCTIONS = [
  "file('/etc/passwd')",
  "dictGet('d', 'a', 1)",
  "dictHas('d', 1)",
  "joinGet('trade_rows', 'pair', 1)",
  "hasColumnInTable('dextape', 'trade_rows', 'pair')",
  "getSetting('max_threads')",
  "getServerSetting('max_connections')",
  "getMacro('shard')",
  "getClientHTTPHeader('authorization')",
  'hostName()',
  'FQDN()',
  'currentUser()',
  'serverUUID()',
  'buildId()',
  'uptime()',
  "filesystemAvailable('default')",
  'sleep(3)',
  'sleepEachRow(1)',
  "catboostEvaluate('/m.bin', 1)",
  "evalMLMethod('m', 1)",
  "aiGenerate('x')",
  "arrayReduce('groupArray', [1])",
  "arrayReduceInRanges('sum', [(1, 2)], [1])",
  "initializeAggregation('sum', 1)",
  "runningAccumulate(initializeAggregation('sumState', 1))",
  'arrayFold((a, x) -> a + x, [1], 0)',
  "editDistance(repeat('a', 60000), repeat('b', 60000))",
  "formatQuery('SELECT 1')",
  "formatRow('CSV', 1)",
  "encrypt('aes-128-ecb', 'a', 'b')",
  'addressToLine(1)',
  'showCertificate()',
  "throwIf(1, 'x')",
  'rand()',
  'generateUUIDv4()',
  "globalVariable('version')",
  'blockNumber()',
  'transactionID()',
  "`fi\u006ce`('/etc/passwd')",
  "FILE('/etc/passwd')",
]

/** Every clause that takes an expression. */
const CLAUSES: readonly Shape[] = [
  (call) => `SELECT * REPLACE (${call} AS chain) FROM trades`,
  (call) => `SELECT t.* EXCEPT (id) REPLACE (${call} AS chain) FROM trades AS t`,
  (call) => `SELECT COLUMNS('price') REPLACE (${call} AS price_usd) FROM trades`,
  (call) => `WITH ${call} AS x SELECT x`,
  (call) => `SELECT DISTINCT ON (${call}) pair FROM trades`,
  (call) => `SELECT pair FROM trades PREWHERE ${call} = ''`,
  (call) => `SELECT pair FROM trades ARRAY JOIN [${call}] AS x`,
  (call) => `SELECT 1 FROM trades AS a JOIN trades AS b ON a.pair = ${call}`,
  (call) => `SELECT count() FROM trades GROUP BY GROUPING SETS ((${call}), ())`,
  (call) => `SELECT count() FROM trades GROUP BY CUBE(${call})`,
  (call) => `SELECT count() FROM trades GROUP BY ${call} WITH TOTALS`,
  (call) => `SELECT pair FROM trades QUALIFY row_number() OVER (ORDER BY pair) = length(${call})`,
  (call) => `SELECT sum(1) OVER (PARTITION BY ${call}) FROM trades`,
  (call) => `SELECT sum(1) OVER (PARTITION BY arrayMap(x -> (${call}), [1])) FROM trades`,
  (call) => `SELECT sum(1) OVER w FROM trades WINDOW w AS (ORDER BY ${call})`,
  (call) => `SELECT sum(1) OVER (ORDER BY pair ROWS BETWEEN length(${call}) PRECEDING AND CURRENT ROW) FROM trades`,
  (call) => `SELECT time FROM trades ORDER BY time WITH FILL FROM length(${call}) TO 5 STEP 1`,
  (call) => `SELECT time, pair FROM trades ORDER BY time WITH FILL STEP 9 INTERPOLATE (pair AS ${call})`,
  (call) => `SELECT pair FROM trades LIMIT length(${call})`,
  (call) => `SELECT pair FROM trades LIMIT 1 OFFSET length(${call})`,
  (call) => `SELECT pair FROM trades LIMIT 1 BY ${call}`,
  (call) => `SELECT sum(1) FILTER (WHERE ${call} = '') FROM trades`,
  (call) => `SELECT quantile(length(${call}))(price_usd) FROM trades`,
  (call) => `SELECT CASE WHEN ${call} = '' THEN 1 END`,
  (call) => `SELECT CASE ${call} WHEN '' THEN 1 END`,
  (call) => `SELECT now() - INTERVAL length(${call}) DAY`,
  (call) => `SELECT ${call}::String`,
  (call) => `SELECT [1, 2][length(${call})], (1, ${call}).2, '' IN (${call})`,
  (call) => `SELECT pair BETWEEN ${call} AND 'x', pair LIKE ${call} FROM trades`,
  (call) => `SELECT * FROM trades AS t WHERE EXISTS (SELECT 1 WHERE t.pair = ${call})`,
  (call) => `SELECT 1 INTERSECT SELECT length(${call})`,
]

/** Each names the function `call` where the engine would run it. */
export const inEveryClause = (call: string): string[] => CLAUSES.map((shape) => shape(call))

/** Where a table may stand. */
const TABLE_SHAPES: readonly Shape[] = [
  (table) => `SELECT * FROM ${table}`,
  (table) => `SELECT count() FROM trades AS t, ${table} AS x`,
  (table) => `SELECT pair FROM trades WHERE pair IN (SELECT * FROM ${table})`,
  (table) => `WITH x AS (SELECT * FROM ${table}) SELECT * FROM x`,
  (table) => `SELECT (SELECT count() FROM ${table})`,
  (table) => `(SELECT 1) UNION ALL (SELECT count() FROM ${table} LIMIT 1)`,
]

/** Also where only the name of a table stands. */
export const inEveryPlace = (table: string): string[] => [
  ...TABLE_SHAPES.map((shape) => shape(table)),
  `SELECT pair IN ${table} FROM trades`,
  `SELECT pair NOT IN (${table}) FROM trades`,
  `SELECT in(pair, ${table} AS x) FROM trades`,
  `SELECT pair FROM trades WHERE (chain, pair) IN dextape.${table}`,
  `SELECT * FROM trades AS t SEMI LEFT JOIN ${table} AS r USING (pair)`,
  `SELECT * FROM (SELECT * FROM (SELECT * FROM ${table}))`,
  `SELECT 1 EXCEPT SELECT count() FROM ${table}`,
  `SELECT sum(1) OVER (PARTITION BY pair IN ${table}) FROM trades`,
  `SELECT sum(1) OVER (ORDER BY pair IN (dextape.${table} AS x)) FROM trades`,
  `SELECT sum(1) OVER (PARTITION BY notIn(pair, ${table})) FROM trades`,
  `SELECT EXISTS (SELECT 1 FROM ${table})`,
  `SELECT 1 = ANY (SELECT tx_index FROM ${table})`,
]

const HIDDEN_TABLES = [
  ...Object.keys(TABLES),
  ...Object.keys(TABLES).map((table) => `dextape.${table}`),
  ...['migrations', '`trade_rows`', '"dextape"."trade_rows"', '`dextape`.trade_rows', 'dextape.`.inner.trades`'],
  ...words(`processes query_log numbers numbers_mt zeros users grants parts disks server_settings functions
    table_functions merges mutations replicas clusters macros dictionaries named_collections session_log text_log
    errors events metrics asynchronous_metrics storage_policies zookeeper stack_trace contributors`).map(
    (table) => `system.${table}`,
  ),
  ...['information_schema.tables', 'INFORMATION_SCHEMA.COLUMNS', 'default.x'],
]

const TABLE_FUNCTIONS = [
  ...["file('/etc/passwd', 'LineAsString')", "url('http://127.0.0.1:1/', 'CSV')", "s3('http://127.0.0.1:1/b/k')"],
  ...["remote('127.0.0.1', 'dextape.trade_rows')", "remoteSecure('127.0.0.1', 'a.b')", "cluster('default', 'a.b')"],
  ...[
    "mysql('127.0.0.1:1', 'd', 't', 'u', 'p')",
    "postgresql('127.0.0.1:1', 'd', 't', 'u', 'p')",
    "sqlite('/x.db', 't')",
  ],
  ...["mongodb('127.0.0.1:1', 'd', 't', 'u', 'p', 's')", "redis('127.0.0.1:1', 'k', 'k String')", "jdbc('x', 'y')"],
  ...[
    "odbc('DSN=x', 'y')",
    "hdfs('hdfs://127.0.0.1:1/x', 'CSV')",
    "azureBlobStorage('x', 'y', 'z')",
    "gcs('http://127.0.0.1:1')",
  ],
  ...["deltaLake('http://127.0.0.1:1')", "iceberg('http://127.0.0.1:1')", "hudi('http://127.0.0.1:1')"],
  ...[
    "executable('id', 'TSV', 'x String')",
    "input('x String')",
    "merge('dextape', '.*')",
    'view(SELECT * FROM trade_rows)',
  ],
  ...[
    "viewExplain('EXPLAIN', '', (SELECT 1))",
    "dictionary('d')",
    "loop('dextape', 'trade_rows')",
    'numbers(10)',
    'zeros(10)',
  ],
  ...[
    'generateSeries(1, 9)',
    "generateRandom('x String')",
    "values('x String', 'a')",
    "format(CSV, '1')",
    'null()',
    'one()',
  ],
  ...[
    "mergeTreeIndex('dextape', 'trade_rows')",
    "fuzzQuery('SELECT 1')",
    "timeSeriesData('x')",
    "python('x')",
    "urlCluster('a', 'b')",
  ],
]

const STATEMENTS = [
  'INSERT INTO trade_rows (pair) VALUES (1)',
  "INSERT INTO FUNCTION file('/tmp/x') SELECT 1",
  'CREATE TABLE x (a Int8) ENGINE = Memory',
  'CREATE TEMPORARY TABLE x (a Int8)',
  'CREATE VIEW x AS SELECT 1',
  'CREATE MATERIALIZED VIEW x ENGINE = Memory AS SELECT 1',
  'CREATE DATABASE x',
  'CREATE FUNCTION x AS (a) -> a',
  'CREATE DICTIONARY x (a Int8) PRIMARY KEY a SOURCE(NULL()) LAYOUT(FLAT()) LIFETIME(1)',
  "CREATE USER x IDENTIFIED BY 'y'",
  "CREATE NAMED COLLECTION x AS a = 'b'",
  'DROP TABLE trade_rows',
  'DROP VIEW trades',
  'DROP DATABASE dextape',
  'TRUNCATE TABLE trade_rows',
  'DELETE FROM trade_rows WHERE 1',
  "UPDATE trade_rows SET id = 'x' WHERE 1",
  'ALTER TABLE trade_rows DELETE WHERE 1',
  "ALTER TABLE trade_rows ATTACH PARTITION '202401'",
  'OPTIMIZE TABLE trade_rows FINAL',
  'RENAME TABLE trade_rows TO x',
  'EXCHANGE TABLES trade_rows AND pair_rows',
  'DETACH TABLE trade_rows',
  'ATTACH TABLE trade_rows',
  'UNDROP TABLE x',
  'CHECK TABLE trade_rows',
  "BACKUP TABLE trade_rows TO File('/tmp/x')",
  "RESTORE TABLE trade_rows FROM File('/tmp/x')",
  'SYSTEM SHUTDOWN',
  'SYSTEM FLUSH LOGS',
  'SYSTEM STOP MERGES',
  'KILL QUERY WHERE 1',
  'SET max_threads = 8',
  'SET ROLE ALL',
  'USE system',
  'GRANT ALL ON *.* TO x',
  'REVOKE ALL ON *.* FROM x',
  'SHOW TABLES',
  'SHOW CREATE TABLE trade_rows',
  'SHOW PROCESSLIST',
  'DESCRIBE TABLE trade_rows',
  'EXISTS TABLE trade_rows',
  'EXPLAIN SELECT 1',
  'EXPLAIN ESTIMATE SELECT * FROM trade_rows',
  'WATCH x',
  'BEGIN TRANSACTION',
  'EXECUTE AS x SELECT 1',
  'SELECT 1 PARALLEL WITH SELECT 2',
  'MOVE USER x TO y',
]

const STATEMENT_SHAPES: readonly Shape[] = [
  (statement) => statement,
  (statement) => `/* a comment */ ${statement}`,
  (statement) => `SELECT 1; ${statement}`,
]

const SETTINGS = words(
  'readonly=0 max_threads=64 max_memory_usage=0 max_execution_time=0 max_result_rows=0 allow_ddl=1 final=1',
)

const SETTING_SHAPES: readonly Shape[] = [
  (setting) => `SELECT 1 SETTINGS ${setting}`,
  (setting) => `SELECT * FROM (SELECT * FROM trades SETTINGS ${setting})`,
  (setting) => `SELECT 1 FORMAT JSON SETTINGS ${setting}`,
  (setting) => `SELECT 1 IN (SELECT 1 SETTINGS ${setting})`,
]

/** `outfile`: must not exist afterwards. */
const writesFile = (outfile: string): string[] => [
  `SELECT 1 INTO OUTFILE '${outfile}'`,
  `SELECT 1 INTO OUTFILE '${outfile}' FORMAT JSON`,
  `SELECT 1 INTO OUTFILE '${outfile}' TRUNCATE COMPRESSION 'none' FORMAT CSV`,
  `SELECT 1 INTO OUTFILE '${outfile}' AND STDOUT`,
  `SELECT 1 FORMAT CSV INTO OUTFILE '${outfile}'`,
  `SELECT 1) INTO OUTFILE '${outfile}' FORMAT CSV -- `,
  `SELECT 1 /* ) */ INTO/**/OUTFILE '${outfile}'`,
  `SELECT 1 UNION ALL SELECT 2 INTO OUTFILE $$${outfile}$$`,
  `(SELECT 1) INTO OUTFILE '${outfile}' SETTINGS max_threads = 1`,
]

const ODD = [
  ...[
    '',
    ' ',
    ';',
    ';;',
    '--',
    '/*',
    "'",
    '`',
    '(',
    ')',
    'SELECT',
    'SELECT (',
    'SELECT 1)',
    "SELECT '",
    'SELECT `',
    '\u0000SELECT 1',
  ],
  ...[
    'SELECT {x:Identifier}',
    'SELECT * FROM {t:Identifier}',
    'SELECT {x:String}',
    'SELECT 1;SELECT 2;',
    'SELECT 1 ; ; SELECT 2',
  ],
  ...[
    'SELECT pair IN trade_rows FROM trades',
    'SELECT in(pair, trade_rows) FROM trades',
    'SELECT 1 NOT IN (trade_rows)',
  ],
  ...[
    'SELECT 1 GLOBAL IN trade_rows',
    'SELECT nullIn(1, trade_rows)',
    'SELECT 1 IN dextape.trade_rows',
    'SELECT 1 IN (trade_rows AS x)',
  ],
  ...[
    'SELECT * APPLY(file) FROM trades',
    "SELECT * APPLY(x -> file('/etc/passwd')) FROM trades",
    "SELECT COLUMNS('pair') APPLY(file) FROM trades",
  ],
  ...[
    'WITH trade_rows AS (SELECT 1) SELECT * FROM trade_rows',
    'WITH `system.users` AS (SELECT 1) SELECT * FROM system.users',
  ],
  ...[
    'SELECT (WITH trade_rows AS (SELECT 1) SELECT 1), (SELECT count() FROM trade_rows)',
    'SELECT * FROM trades FINAL',
  ],
  ...[
    'WITH RECURSIVE x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x) SELECT * FROM x',
    'SELECT * FROM trades SAMPLE 0.5',
  ],
  ...[
    'SELECT 1 AS `a\\nTABLE`',
    'SELECT `a\\\\b` FROM trades',
    'SELECT @@version',
    `SELECT ${'('.repeat(2_000)}1${')'.repeat(2_000)}`,
  ],
  ...[
    `SELECT ${'1+'.repeat(9_000)}1`,
    `SELECT '${'x'.repeat(40_000)}'`,
    `SELECT 1${' UNION ALL SELECT 1'.repeat(1_500)}`,
  ],
  `SELECT ${Array.from({ length: 20 }, (_, at) => `(a${at}, a${at}) AS a${at + 1}`).join(', ')}, 1 AS a0`,
]

const each = (things: readonly string[], shapes: readonly Shape[]): string[] =>
  things.flatMap((thing) => shapes.map((shape) => shape(thing)))

/** A third of the shapes for each thing, in turn, so that every shape meets every kind. */
const some = (things: readonly string[], shapes: readonly Shape[]): string[] =>
  things.flatMap((thing, at) => shapes.flatMap((shape, turn) => ((at + turn) % 3 === 0 ? [shape(thing)] : [])))

export function hostileTexts(outfile: string): string[] {
  return [
    ...some(FUNCTIONS, SCALAR_SHAPES),
    ...some(HIDDEN_TABLES, TABLE_SHAPES),
    ...some(TABLE_FUNCTIONS, TABLE_SHAPES),
    ...each(STATEMENTS, STATEMENT_SHAPES),
    ...each(SETTINGS, SETTING_SHAPES),
    ...writesFile(outfile),
    ...ODD,
  ]
}

function numbers(count: number): string {
  return `(SELECT arrayJoin(range(${count})) AS n)`
}

/** Allowed by the guard, and too large for any plan. */
export const HEAVY = [
  `SELECT count() FROM ${numbers(100_000)} AS x, ${numbers(100_000)} AS y WHERE x.n * y.n % 7 = 3`,
  `SELECT n FROM ${numbers(200_000)} AS x`,
  `SELECT groupArray(repeat(toString(x.n), 1000)) FROM ${numbers(1_000)} AS x, ${numbers(1_000)} AS y`,
  'SELECT arrayMap(x -> arrayMap(y -> x + y, range(30000)), range(30000))',
  `SELECT uniqExact(x.n, y.n) FROM ${numbers(10_000)} AS x, ${numbers(10_000)} AS y`,
  `SELECT SHA256(repeat(toString(n), 1000000)) FROM ${numbers(100_000)} AS x`,
  `SELECT (SELECT count() FROM ${numbers(100_000)} AS x, ${numbers(100_000)} AS y WHERE x.n * y.n % 7 = 3)`,
  `SELECT x.n FROM ${numbers(5_000)} AS x, ${numbers(5_000)} AS y ORDER BY cityHash64(x.n, y.n)`,
]
