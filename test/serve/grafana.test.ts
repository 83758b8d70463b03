/** Every query of the dashboards in infra/grafana, and what ClickHouse clients ask by themselves, on `/clickhouse/` of a server. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../../schemas/avro.js'
import { playMarket } from './push/played-market.js'
import { KEY, type Rig, startRig } from './rig.js'

const folder = join(repositoryRoot(), 'infra/grafana')
const CHAIN = 'eth'

type Query = { rawSql: string }
type Variable = { name: string; type: string; query: Query | string; current?: { value: unknown } }
type Panel = { title: string; targets: (Query & { datasource: object })[] }
type Dashboard = { uid: string; title: string; panels: Panel[]; templating: { list: Variable[] } }

const dashboards = readdirSync(join(folder, 'dashboards')).map(
  (name) => JSON.parse(readFileSync(join(folder, 'dashboards', name), 'utf8')) as Dashboard,
)
const panels = dashboards.flatMap(({ uid, panels: all }) =>
  all.map(({ title, targets }) => ({ uid, title, queries: targets.map(({ rawSql }) => rawSql) })),
)
const variables = dashboards.flatMap(({ uid, templating }) =>
  templating.list.flatMap(({ name, query }) => (typeof query === 'string' ? [] : [{ uid, name, query: query.rawSql }])),
)

let rig: Rig
let range: { fromS: number; toS: number }
let values: Record<string, string>

beforeAll(async () => {
  let market: ReturnType<typeof playMarket> | undefined
  rig = await startRig({ flush: async () => market?.flush() })
  const options = { swapsPerBlock: 6, secondsPerBlock: 900, nastiness: 0.3, quietHour: 0, quietDay: 0 }
  market = playMarket(rig, { seed: 23, chain: CHAIN, blocks: 120, options })
  await market.play(market.remainingLines)
  await market.flush()
  await rig.start()
  const { seq, time } = market.last
  await vi.waitFor(async () => {
    if ((await rig.serve.status()).chains[0]?.seq !== seq) throw new Error('still behind')
  }, 10_000)
  range = { fromS: time - 86_400, toS: time + 60 }
  values = { chain: CHAIN, interval: 'k5' }
  values.pair = await chosen('pair', 'SELECT pair FROM pairs WHERE price_change_24h IS NOT NULL AND tvl > 0')
  const known = 'price_usd * total_supply > 0 AND holders > 0 AND volume_24h > 0'
  values.token = await chosen('token', `SELECT token FROM tokens WHERE ${known} AND main_pair IS NOT NULL`)
}, 60_000)
afterAll(() => rig.stop())

/** The first value of a variable of which everything is known: a young token has no change over a day. */
async function chosen(name: string, known: string): Promise<string> {
  const complete = (await rowsOf(known)).flat()
  const offered = await rowsOf(variables.find((variable) => variable.name === name)?.query ?? '')
  return String(offered.map(([value]) => value).find((value) => complete.includes(value)))
}

/** Variables as Grafana fills them in, then macros as the plugin does (pkg/macros/macros.go of grafana/clickhouse-datasource). */
function filledIn(sql: string): string {
  const { fromS, toS } = range
  const intervalS = 60
  return sql
    .replaceAll(/\$\{(\w+):singlequote\}/g, (_, name: string) => `'${values[name]}'`)
    .replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
    .replaceAll(/\$__timeFilter\(([^)]*)\)/g, `$1 >= toDateTime(${fromS}) AND $1 <= toDateTime(${toS})`)
    .replaceAll(/\$__timeInterval\(([^)]*)\)/g, `toStartOfInterval(toDateTime($1), INTERVAL ${intervalS} second)`)
}

const send = (sql: string, query = '') =>
  rig.post(`/clickhouse/?default_format=${query === '' ? 'JSONCompact' : query}`, sql, {
    authorization: `Basic ${Buffer.from(`grafana:${KEY}`).toString('base64')}`,
    'content-type': 'text/plain',
  })

async function rowsOf(sql: string): Promise<unknown[][]> {
  const answer = await send(filledIn(sql))
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${sql}\n${text}`)
  return (JSON.parse(text) as { data: unknown[][] }).data
}

describe('the dashboards', () => {
  it('are four, of the provisioned data source', () => {
    const source = parse(readFileSync(join(folder, 'provisioning/datasources/dextape.yaml'), 'utf8')) as {
      datasources: { uid: string; type: string; jsonData: { protocol: string; path: string } }[]
    }
    const [{ uid, type, jsonData } = { uid: '', type: '', jsonData: {} }] = source.datasources
    expect(jsonData).toMatchObject({ protocol: 'http', path: '/clickhouse/' })
    const named = dashboards.flatMap((one) => one.panels.flatMap(({ targets }) => targets.map((t) => t.datasource)))
    expect(new Set(named.map((one) => JSON.stringify(one)))).toEqual(new Set([JSON.stringify({ type, uid })]))
    expect(dashboards.map((one) => one.uid).sort()).toEqual([
      ...['dextape-chains', 'dextape-market', 'dextape-pair', 'dextape-token'],
    ])
  })

  it.each(variables)('$uid: the variable $name has values', async ({ query }) => {
    expect((await rowsOf(query)).length).toBeGreaterThan(0)
  })

  it.each(panels)('$uid: $title', async ({ queries }) => {
    for (const query of queries) {
      expect(filledIn(query)).not.toContain('$')
      const rows = await rowsOf(query)
      expect(rows.length).toBeGreaterThan(0)
      expect(rows.flat().some((value) => value !== null)).toBe(true)
    }
  })
})

describe('a client that connects', () => {
  it('learns the views and their columns, by SHOW, DESCRIBE and system', async () => {
    const [[database]] = (await rowsOf('SHOW DATABASES')) as [[string]]
    const views = await rowsOf(`SHOW TABLES FROM "${database}"`)
    expect(views.flat()).toEqual([
      ...[
        'candles',
        'holder_counts',
        'holders',
        'liquidity',
        'main_pairs',
        'pair_history',
        'pairs',
        'positions',
        'tokens',
        'trades',
      ],
      'wallet_trades',
    ])
    expect(await rowsOf('SHOW TABLES')).toEqual(views)
    const columns = await rowsOf(`DESC TABLE "${database}"."holders"`)
    expect(columns[0]).toEqual(['chain', 'LowCardinality(String)', '', '', '', '', ''])
    expect(await rowsOf('describe table holders;')).toEqual(columns)
    const jdbc =
      'name, character_octet_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision'
    expect(await rowsOf(`SELECT ${jdbc} FROM system.columns WHERE table = 'holders'`)).toHaveLength(columns.length)
    expect(await rowsOf('SELECT DISTINCT chain FROM pairs SETTINGS max_execution_time=10')).toEqual([[CHAIN]])
  })

  it('sees nothing beyond them', async () => {
    expect(await rowsOf('DESC TABLE trade_rows')).toEqual([])
    expect(await rowsOf('SHOW TABLES FROM system')).toEqual([])
    for (const text of [
      ...['SHOW CREATE TABLE trades', 'SHOW PROCESSLIST', "SHOW TABLES LIKE '%rows'", 'SHOW TABLES FROM a; SELECT 1'],
      ...['DESC TABLE (SELECT * FROM trade_rows)', "DESC file('/etc/passwd')", 'SELECT * FROM trades SETTINGS a=1'],
      ...["SELECT name FROM system.functions WHERE name = 'file'", 'SELECT currentUser()', 'SELECT hostName()'],
    ]) {
      const answer = await send(text)
      expect([text, answer.status, await answer.text()]).toEqual([text, 400, expect.stringContaining('DB::Exception')])
    }
  })

  it('may list the functions that run, as Grafana does to complete names', async () => {
    const rows = await rowsOf(`
      SELECT
        name, is_aggregate, case_insensitive, alias_to, origin, description,
        syntax, arguments, returned_value, examples, categories
      FROM system.functions
      LIMIT 10000
    `)
    const kinds = new Map(rows.map(([name, isAggregate]) => [name, isAggregate]))
    expect([kinds.get('argMax'), kinds.get('toStartOfHour'), kinds.has('file')]).toEqual([1, 0, false])
    expect(rows[0]).toHaveLength(11)
  })

  it('is greeted as clickhouse-go and clickhouse-jdbc expect', async () => {
    const [[version, timezone]] = (await rowsOf('SELECT version(), timezone()')) as [[string, string]]
    const go = 'SELECT displayName(), version(), revision(), timezone()'
    expect(await rowsOf(go)).toEqual([['dextape', version, 0, timezone]])
    const jdbc = 'SELECT currentUser() AS user, timezone() AS timezone, version() AS version LIMIT 1'
    expect(await rowsOf(jdbc)).toEqual([['dextape', timezone, version]])
  })

  it('gets its greeting as a block of its protocol version: block info, then a flag for each column', async () => {
    const hello = async (more: string) => {
      const answer = await send('SELECT displayName(), version(), revision(), timezone()', `Native${more}`)
      return Buffer.from(await answer.arrayBuffer())
    }
    const plain = await hello('')
    const info = Buffer.from('010002ffffffff00', 'hex')
    expect(await hello('&client_protocol_version=54405')).toEqual(Buffer.concat([info, plain]))
    const flagged = await hello('&client_protocol_version=54483')
    expect(flagged.length).toBe(info.length + plain.length + 4)
    const withFlags = ['String', 'String', 'UInt32', 'String'].reduce(
      ({ bytes, from }, type) => {
        const at = bytes.indexOf(type, from) + type.length
        return { bytes: Buffer.concat([bytes.subarray(0, at), Buffer.from([0]), bytes.subarray(at)]), from: at + 1 }
      },
      { bytes: plain, from: 0 },
    )
    expect(flagged).toEqual(Buffer.concat([info, withFlags.bytes]))
  })
})
