import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChainFacts } from '../../services/core/domain/chains.js'
import type { TradeRecord } from '../../services/core/domain/records.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { tradesTopic } from '../../services/core/log/port.js'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import type { Store } from '../../services/core/store/port.js'
import { appendLines, runPipeline } from '../rig/aggregate/pipeline-run.js'
import { isLongRun, seedsOf } from '../rig/counts.js'
import { storeTargetOf } from '../rig/engine.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { createRandom, type Random } from '../rig/market/random.js'
import type { RecordingLine } from '../rig/reference/lines.js'
import { MONDAY, MONEY, pool, swap, tape } from '../rig/tape.js'

let folder: string
let store: Store
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dextape-trades-'))
  store = await openStore(storeTargetOf(folder))
  await store.migrate()
})
afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Rows are distinguished by chain, so every run has its own. */
const freshChain = (): string => `t${randomBytes(6).toString('hex')}`

async function publish(lines: readonly RecordingLine[], money: ChainFacts, random?: Random) {
  const chain = freshChain()
  const { log, registry } = openEmbedded({ path: join(folder, chain) })
  const deps = { facts: { ...money, chain }, log, codec: createCodec(registry), store }
  await appendLines(deps, lines)
  const { crashes } = await runPipeline(deps, random)
  const records = (await log.read(tradesTopic(chain), { from: 0, maxRecords: 1e6, maxBytes: 1e9 })).map((record) => {
    const decoded = deps.codec.decodeLogRecord(record.value)
    if (decoded.kind !== 'trade') throw new Error(`a ${decoded.kind} among the trades`)
    expect(record.key).toBe(decoded.trade.pair)
    return decoded.trade
  })
  await log.close()
  return { chain, records, crashes }
}

/** What a reader has who adds inserts and takes back retracts. */
function standing(records: readonly TradeRecord[]): TradeRecord[] {
  const trades = new Map<string, TradeRecord>()
  for (const record of records) {
    const key = `${record.pair} ${record.id}`
    if (record.op === 'insert') {
      expect(trades.has(key)).toBe(false)
      trades.set(key, record)
    } else expect(trades.delete(key)).toBe(true)
  }
  return [...trades.values()]
}

const STORED = `pair, id, block_number, toUnixTimestamp(time) AS time, tx_index, log_index, sub, tx_hash, tx_seq,
  sender, recipient, wallet, amount_in_raw AS amount_in, amount_out_raw AS amount_out, side = 'sell' AS sell,
  reserve0_raw AS reserve0, reserve1_raw AS reserve1, price_usd, price_native, price_quote, quote_usd, quote_native,
  amount_usd, amount_native, quote_path, good`
type Stored = Record<string, unknown>

async function storedTrades(chain: string): Promise<Stored[]> {
  const order = 'ORDER BY pair, block_number, tx_index, log_index, sub'
  const rows = await store.query<Stored>(`SELECT ${STORED} FROM trades WHERE chain = {chain:String} ${order}`, {
    chain,
  })
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, plain(value)])))
}
/** 64-bit integers come as text, truths as 0 and 1. */
const plain = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : value)

function asStored(trades: readonly TradeRecord[], like: Stored): Stored[] {
  const sorted = trades.toSorted(
    (a, b) =>
      (a.pair < b.pair ? -1 : a.pair > b.pair ? 1 : 0) ||
      a.block_number - b.block_number ||
      a.tx_index - b.tx_index ||
      a.log_index - b.log_index ||
      a.sub - b.sub,
  )
  return sorted.map((trade) => {
    const full = { ...trade, good: trade.flags === 0 } as Record<string, unknown>
    return Object.fromEntries(
      Object.entries(like).map(([key, kind]) => [
        key,
        typeof kind === 'string' && typeof full[key] === 'number' ? String(full[key]) : plain(full[key]),
      ]),
    )
  })
}

const withoutChain = (records: readonly TradeRecord[]) => records.map(({ chain: _chain, ...rest }) => rest)

describe('inserts less retracts are the stored trades', () => {
  for (const seed of seedsOf('tradeRecordSeeds')) {
    it(`seed ${seed}, with reorgs, through random crashes: the same records as without`, async () => {
      const named = seed % 2 === 0 ? 'eth' : 'solana'
      const options = {
        retracts: { probability: 0.1, maxDepth: 12 },
        secondsPerBlock: [1, 2].includes(seed % 4) ? 12 : 600,
      }
      const lines = generateRecording({ seed, chain: named, blocks: isLongRun() ? 150 : 80, options })
      const calm = await publish(lines, marketMoney(named))
      const rough = await publish(lines, marketMoney(named), createRandom(seed))
      expect(rough.crashes).toBeGreaterThan(2)
      expect(withoutChain(rough.records)).toEqual(withoutChain(calm.records))
      expect(rough.records.some(({ op }) => op === 'retract')).toBe(true)
      const stored = await storedTrades(rough.chain)
      expect(stored.length).toBeGreaterThan(100)
      expect(asStored(standing(rough.records), stored[0] as Stored)).toEqual(stored)
    })
  }
})

it('a trade with its fields, and its retraction', async () => {
  const lines = tape()
    .block(MONDAY, pool('p', 'a', 'usd'))
    .block(MONDAY + 1, swap('p', 10, 'usd', 5, 'a', { wallet: 'w' })).lines
  const retract = { kind: 'retract' as const, chain: 't', from_number: 3, from_hash: 'h3', to_number: 2, to_hash: 'h2' }
  const { chain, records } = await publish([...lines, retract], MONEY)
  const place = { chain, epoch: 1, n: 0, pair: 'p', id: '3-0', block_number: 3, time: MONDAY + 1 }
  const indexes = { tx_index: 0, log_index: 0, sub: 0 }
  const insert: TradeRecord = {
    ...{ op: 'insert', ...place, seq: 3, block_hash: 'h3', ...indexes, tx_hash: 't3.0', tx_seq: 1, amm: 'x' },
    ...{ target_token: 'a', target_decimals: 6, quote_token: 'usd', quote_decimals: 6, sell: false },
    ...{ sender: 's', recipient: 'r', wallet: 'w', amount_in: '10000000', amount_out: '5000000' },
    ...{ reserve0: null, reserve1: null, price_usd: 2, price_native: null, price_quote: 2 },
    ...{ quote_usd: 1, quote_native: null, amount_usd: 10, amount_native: null, flags: 0, quote_path: 'anchor' },
  }
  const nothing = Object.fromEntries(Object.keys(insert).map((field) => [field, null]))
  expect(records).toEqual([insert, { ...nothing, op: 'retract', ...place, seq: 4, ...indexes }])
})
