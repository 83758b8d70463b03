/** SQL on a running server: complete up to the applied block, equal to REST, and every query of the documentation runs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { restClientOf } from '../../services/cli/rest-client.js'
import { runShell } from '../../services/cli/sql/shell.js'
import { createSqlClient } from '../../services/cli/sql/sql-client.js'
import { plainDecimal } from '../../services/serve/views/field-formats.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'
import { interleave, writeRecording } from '../rig/http/recording-file.js'
import { KEY, startUp, type Up } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { recompute } from '../rig/reference/recompute.js'

const BLOCKS = 150
const SECONDS_PER_BLOCK = 60
/** Ends just before now, so that queries about the last day find it. */
const startTime = Math.floor(Date.now() / 1000) - 5 * 3600
const options = {
  ...{ startTime, secondsPerBlock: SECONDS_PER_BLOCK, quietHour: 0, quietDay: 0 },
  retracts: { probability: 0.05, maxDepth: 6 },
}
const recordings = {
  eth: generateRecording({ seed: 31, chain: 'eth', blocks: BLOCKS, options }),
  bsc: generateRecording({ seed: 32, chain: 'bsc', blocks: BLOCKS, options }),
}
const page = readFileSync(join(repositoryRoot(), 'docs/sql.md'), 'utf8')

let folder: string
let up: Up

beforeAll(async () => {
  folder = scratchFolder()
  const events = writeRecording(folder, 'market.jsonl', interleave(Object.values(recordings)))
  up = await startUp({ folder, events, chains: [marketMoney('eth'), marketMoney('bsc')] })
  await up.applied('eth', recordings.eth.length)
  await up.applied('bsc', recordings.bsc.length)
}, 300_000)
afterAll(async () => {
  await up?.stop()
  removeScratchFolders()
})

type Row = Record<string, unknown>

async function sql(query: string): Promise<{ rows: Row[]; asOf: string | null }> {
  const { status, body, headers } = await up.post('/v2/sql', { query })
  if (status !== 200) throw new Error(`${query}: ${JSON.stringify(body)}`)
  return { rows: (body as { data: Row[] }).data, asOf: headers.get('x-as-of') }
}

test('an answer has every applied block, before its batch is due', async () => {
  const { rows, asOf } = await sql('SELECT chain, count() AS n FROM trades GROUP BY chain ORDER BY chain DESC')
  const expected = Object.entries(recordings).map(([chain, lines]) => ({
    chain,
    n: String(recompute(lines, marketMoney(chain)).trades.length),
  }))
  expect(rows).toEqual(expected)
  expect(asOf).toBe(`bsc=${recordings.bsc.length}; eth=${recordings.eth.length}`)
})

test('candles by SQL equal those by REST to the last digit', async () => {
  const { rows: pairs } = await sql('SELECT chain, pair FROM pairs WHERE tx_count > 5 ORDER BY tx_count DESC LIMIT 6')
  expect(pairs.length).toBe(6)
  for (const { chain, pair } of pairs) {
    for (const [unit, category] of [
      ['usd', 'u'],
      ['native', 'm'],
      ['quote', 'r'],
    ]) {
      const answer = await up.get(`/v2/klines/pair/${pair}-${chain}?interval=5&limit=1000&category=${category}`)
      const { points } = (answer.body as { data: { points: Row[] } }).data
      const { rows } =
        await sql(`SELECT toUInt32(time) AS time, open_${unit} AS open, high_${unit} AS high, low_${unit} AS low,
        close_${unit} AS close, volume_${unit} AS volume FROM candles
        WHERE chain = '${chain}' AND pair = '${pair}' AND interval = 'k5' AND open IS NOT NULL ORDER BY time`)
      const asText = ({ time, ...bars }: Row) => ({
        ...Object.fromEntries(Object.entries(bars).map(([name, value]) => [name, plainDecimal(value as number)])),
        time,
      })
      expect(rows.map(asText)).toEqual(points)
    }
  }
})

test('the changes of tokens are those of REST', async () => {
  const { rows } = await sql(
    'SELECT chain, token, price_change_24h FROM tokens WHERE main_pair IS NOT NULL ORDER BY token',
  )
  const known = rows.filter(({ price_change_24h }) => price_change_24h !== null).slice(0, 10)
  expect(known.length).toBe(10)
  for (const { chain, token, price_change_24h } of known) {
    const { body } = await up.get(`/v2/tokens/${token}-${chain}`)
    const { token: view } = (body as { data: { token: { price_change_24h: string } } }).data
    expect([token, Number(view.price_change_24h)]).toEqual([token, expect.closeTo(Number(price_change_24h), 9)])
  }
})

test('a token has one main pair at a time, and the last one is that of the token', async () => {
  const { rows } =
    await sql(`SELECT k.token FROM tokens AS k JOIN main_pairs AS m ON m.chain = k.chain AND m.token = k.token
    WHERE m.until_block IS NULL AND NOT (m.pair <=> k.main_pair)`)
  expect(rows).toEqual([])
  const { rows: overlaps } =
    await sql(`SELECT a.token FROM main_pairs AS a JOIN main_pairs AS b ON b.chain = a.chain AND b.token = a.token
    WHERE a.since_block < b.since_block AND (a.until_block IS NULL OR a.until_block > b.since_block)`)
  expect(overlaps).toEqual([])
  expect((await sql('SELECT count() > 0 AS some FROM main_pairs WHERE until_block IS NOT NULL')).rows).toEqual([
    { some: 1 },
  ])
})

test('the hours of a pair have its trades, and the one of its last block its reserves', async () => {
  const { rows } = await sql(`SELECT p.pair FROM pairs AS p JOIN (
      SELECT chain, pair, sum(trades) AS n, argMax((reserve0_raw, reserve1_raw), last_block) AS last FROM pair_history GROUP BY chain, pair
    ) AS h ON h.chain = p.chain AND h.pair = p.pair
    WHERE h.n != p.tx_count OR NOT (h.last.1 <=> p.reserve0_raw AND h.last.2 <=> p.reserve1_raw)`)
  expect(rows).toEqual([])
  const { rows: hours } = await sql(`SELECT count() AS n FROM pair_history AS h
    JOIN candles AS c ON c.chain = h.chain AND c.pair = h.pair AND c.time = h.time AND c.interval = 'k60'
    WHERE NOT (c.close_usd <=> h.close_usd AND c.volume_usd <=> h.volume_usd)`)
  expect(hours).toEqual([{ n: '0' }])
})

describe('the page about SQL', () => {
  const queries = [...page.matchAll(/^### (.+)\n+```sql\n([^`]+)```/gm)].map(([, title = '', query = '']) => ({
    title,
    query,
  }))

  test('has the queries that people ask', () => {
    expect(queries.length).toBeGreaterThanOrEqual(20)
  })

  test.each(queries)('$title', async ({ query }) => {
    expect((await sql(query)).rows.length).toBeGreaterThan(0)
  })

  test('lists every column of every view with its type and meaning', async () => {
    const { body } = await up.get('/v2/sql/schema')
    const { views } = body as Awaited<ReturnType<typeof schemaOf>>
    const sections = views.map(({ name, summary, columns }) => {
      const rows = columns.map((column) => `| \`${column.name}\` | ${column.type} | ${column.description} |`)
      return [
        `### \`${name}\``,
        '',
        `${summary}.`,
        '',
        '| column | type | meaning |',
        '| --- | --- | --- |',
        ...rows,
      ].join('\n')
    })
    expect(page).toContain(`## Views\n\n${sections.join('\n\n')}\n`)
  })
})

const schemaOf = async () => ({ views: await createSqlClient(restClientOf(up.restUrl, KEY)).views() })

describe('dextape sql', () => {
  const run = (...args: string[]) => runHere(['sql', '--url', up.restUrl, '--key', KEY, ...args], { cwd: folder })

  test('runs the query of -c in the given format', async () => {
    const { out, code } = await run('-c', 'SELECT 1 AS a, 2 AS b', '--format', 'csv')
    expect({ out, code }).toEqual({ out: '"a","b"\n1,2\n', code: 0 })
    const table = await run('-c', 'SELECT 1 AS a')
    expect(table.out).toBe('┌─a─┐\n│ 1 │\n└───┘\n')
  })

  test('says why a query is refused', async () => {
    const { err, code } = await run('-c', 'SELECT * FROM trade_rows')
    expect({ err, code }).toEqual({
      err: 'dextape: SQL refused: the table trade_rows is not allowed, a query reads views only. See docs/sql.md.\n',
      code: 1,
    })
  })

  test('answers at its prompt, over several lines, and goes on after an error', async () => {
    const input = new PassThrough()
    const output = new PassThrough()
    const client = createSqlClient(restClientOf(up.restUrl, KEY))
    const ended = runShell({ client, format: 'csv', history: join(folder, 'history'), input, output })
    input.end('SELECT nope;\nSELECT\n40 + 2 AS answer;\n\\d holders\n\\q\n')
    expect(await ended).toBe(0)
    output.end()
    const shown = await readText(output)
    expect(shown).toContain('Unknown expression identifier `nope`')
    expect(shown).toContain('"answer"\n42\n')
    expect(shown).toContain('balance_raw  String: ')
  })
})
