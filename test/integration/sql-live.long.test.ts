/** SQL equals REST to the last digit: while blocks and reorgs are written, and after the server was killed. */
import { afterAll, expect, test } from 'vitest'
import { plainDecimal } from '../../services/serve/views/field-formats.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { startUp, type Up } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'

const SECONDS_PER_BLOCK = 60
/** Three seconds between blocks: some answers begin and end in the same state. */
const SLOWLY = '20'
const options = {
  ...{ secondsPerBlock: SECONDS_PER_BLOCK, quietHour: 0, quietDay: 0 },
  retracts: { probability: 0.15, maxDepth: 6 },
}
const lines = generateRecording({ seed: 77, chain: 'eth', blocks: 200, options })
const WRITTEN_AT_ONCE = 120
const COMPARED_LIVE = 8

afterAll(removeScratchFolders)

type Row = Record<string, unknown>

async function sql(up: Up, query: string): Promise<Row[]> {
  const { status, body } = await up.post('/v2/sql', { query })
  if (status !== 200) throw new Error(`${query}: ${JSON.stringify(body)}`)
  return (body as { data: Row[] }).data
}

const asTexts = ({ time, ...figures }: Row): Row => ({
  ...Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, plainDecimal(value as number)])),
  time,
})

const candlesBySql = async (up: Up, pair: string, interval: string): Promise<Row[]> =>
  (
    await sql(
      up,
      `SELECT toUInt32(time) AS time, open_usd AS open, high_usd AS high, low_usd AS low, close_usd AS close,
         volume_usd AS volume FROM candles
       WHERE chain = 'eth' AND pair = '${pair}' AND interval = '${interval}' AND open IS NOT NULL ORDER BY time`,
    )
  ).map(asTexts)

async function candlesByRest(up: Up, pair: string, interval: string): Promise<{ points: Row[]; etag: string | null }> {
  const { body, headers } = await up.get(`/v2/klines/pair/${pair}-eth?interval=${interval}&limit=1000`)
  return { points: (body as { data: { points: Row[] } }).data.points, etag: headers.get('etag') }
}

const tradesBySql = async (up: Up, pair: string): Promise<Row[]> =>
  (
    await sql(
      up,
      `SELECT id, tx_hash, amount_usd FROM trades WHERE chain = 'eth' AND pair = '${pair}'
       ORDER BY time DESC, block_number DESC, tx_index DESC, log_index DESC, sub DESC LIMIT 300`,
    )
  ).map(({ id, tx_hash, amount_usd }) => ({ id, tx_hash, amount_usd: amount_usd === null ? null : Number(amount_usd) }))

async function tradesByRest(up: Up, pair: string): Promise<Row[]> {
  const { body } = await up.get(`/v2/txs/swap/${pair}-eth?limit=300&sort=desc`)
  const { txs } = (body as { data: { txs: { id: string; tx_hash: string; amount_usd: string | null }[] } }).data
  return txs.map(({ id, tx_hash, amount_usd }) => ({
    id,
    tx_hash,
    amount_usd: amount_usd === null ? null : Number(amount_usd),
  }))
}

const busiestPairs = async (up: Up): Promise<string[]> =>
  (await sql(up, 'SELECT pair FROM pairs WHERE tx_count > 0 ORDER BY tx_count DESC, pair LIMIT 8')).map(({ pair }) =>
    String(pair),
  )

/** Reads both ways until nothing was applied between; fails if they then differ. */
async function compareWhileStill(up: Up, pair: string, interval: string): Promise<void> {
  for (;;) {
    const [before] = await up.status()
    const rest = await candlesByRest(up, pair, interval)
    const bySql = await candlesBySql(up, pair, interval)
    const [after] = await up.status()
    if (before?.seq !== after?.seq) continue
    expect([pair, interval, bySql]).toEqual([pair, interval, rest.points])
    return
  }
}

test('during writing, after reorgs and after kill -9', async () => {
  const folder = scratchFolder()
  const chains = [marketMoney('eth')]
  writeRecording(folder, 'market.jsonl', lines.slice(0, WRITTEN_AT_ONCE))
  let up = await startUp({ folder, events: `${folder}/market.jsonl`, chains })
  await up.applied('eth', WRITTEN_AT_ONCE)
  await up.stop()

  const events = writeRecording(folder, 'market.jsonl', lines)
  up = await startUp({ folder, events, speed: SLOWLY, chains })
  await up.until('eth', 'wrote more', ({ seq }) => seq > WRITTEN_AT_ONCE)
  const pairs = await busiestPairs(up)
  for (let n = 0; n < COMPARED_LIVE; n += 1)
    await compareWhileStill(up, pairs[n % pairs.length] ?? '', ['k1', 'k5', 'k60'][n % 3] ?? 'k1')
  const [{ seq } = { seq: 0 }] = await up.status()
  expect(seq).toBeLessThan(lines.length)
  await up.stop('SIGKILL')

  up = await startUp({ folder, events, chains })
  try {
    await up.applied('eth', lines.length)
    expect(lines.slice(WRITTEN_AT_ONCE).some(({ kind }) => kind === 'retract')).toBe(true)
    for (const pair of await busiestPairs(up)) {
      for (const interval of ['s1', 'k1', 'k5', 'k15', 'k30', 'k60', 'k120', 'k240', 'k1440', 'k10080'])
        expect([pair, interval, await candlesBySql(up, pair, interval)]).toEqual([
          ...[pair, interval],
          (await candlesByRest(up, pair, interval)).points,
        ])
      expect([pair, await tradesBySql(up, pair)]).toEqual([pair, await tradesByRest(up, pair)])
    }
  } finally {
    await up.stop()
  }
}, 600_000)
