/** What must be true once all is calm: the store and the pushes are those of the final chain, whatever happened on the way. */
import type { HourFigures } from '../../services/aggregate/fold/pair-hours.js'
import type { Candle } from '../../services/core/domain/packed-candles.js'
import { unpackWindows } from '../../services/core/domain/packed-windows.js'
import type { BlockUpdate } from '../../services/core/domain/records.js'
import { updatesTopic } from '../../services/core/log/port.js'
import { loadChain } from '../../services/serve/memory/load-chain.js'
import { createUpdateAssembler } from '../../services/serve/memory/read-updates.js'
import type { PairState, ServedChain } from '../../services/serve/memory/served-chain.js'
import { type Place, parseCursor } from '../../services/serve/push/cursor.js'
import { dayPrice } from '../../services/serve/views/market-facts.js'
import { differencesFromReference } from '../rig/aggregate/against-reference.js'
import type { Reader, ReadPair, ReadToken, ReadTrade } from '../rig/aggregate/reader.js'
import { known, TRADE_VALUES } from '../rig/http/stored.js'
import { marketMoney } from '../rig/market/money.js'
import { recompute } from '../rig/reference/recompute.js'
import { readPairState } from '../rig/serve-state.js'
import type { Heard, SimulatedClient } from './client.js'
import type { SimulatedProcess } from './faults.js'
import { type Cluster, CODEC } from './processes.js'
import type { SimulatedChain } from './simulated-chain.js'
import { openSimulatedStore, type Row, type StoreDisk } from './simulated-store.js'

const SHOWN = 5

export async function checkRun(
  cluster: Cluster,
  witness: SimulatedClient,
  clients: readonly SimulatedClient[],
): Promise<string[]> {
  const problems: string[] = []
  for (const chain of cluster.chains) {
    problems.push(...(await checkStore(cluster.store, chain)).slice(0, SHOWN))
    problems.push(...checkUpdates(cluster, chain.chain).slice(0, SHOWN))
  }
  for (const [at, client] of [witness, ...clients].entries())
    problems.push(...client.unexpected.slice(0, SHOWN).map((text) => `client ${at} got ${text}`))
  for (const [at, client] of clients.entries())
    for (const [one, heard] of client.heard.entries())
      problems.push(
        ...checkPushes(heard, witness.heard[one] as Heard)
          .slice(0, SHOWN)
          .map((problem) => `client ${at}, ${JSON.stringify(heard.params)}: ${problem}`),
      )
  return problems
}

/** The end of a run: nobody disturbs the reading. */
const CALM_READER: SimulatedProcess = {
  name: 'check',
  life: { isAlive: true },
  ask: async ({ apply }) => apply(),
  die: () => {},
}

/** Every number in the store against a recomputation from the blocks that are left. */
async function checkStore(disk: StoreDisk, { chain, blocks }: SimulatedChain): Promise<string[]> {
  const facts = marketMoney(chain)
  const reference = recompute([...blocks], facts)
  const served = await loadChain(openSimulatedStore(disk, CALM_READER), chain)
  if (served === undefined) return [`${chain}: nothing is stored`]
  const of = (table: Parameters<StoreDisk['rows']>[0]) => disk.rows(table, (row) => row.chain === chain)
  const stored: Pick<Reader, 'trades' | 'candles' | 'pairs' | 'tokens' | 'holders' | 'pairHours' | 'holderHours'> & {
    last: unknown
  } = {
    last: { number: served.head.number, now: served.nowS },
    trades: new Map(of('trade_rows').map((row) => [`${row.pair}|${row.id}`, tradeOf(row)])),
    candles: new Map(of('candle_rows').map((row) => [`${row.pair}|${row.interval}|${row.time}`, candleOf(row)])),
    pairs: new Map([...served.pairs].map(([key, pair]) => [key, pairOf(served, pair)])),
    tokens: new Map(
      [...served.tokens].map(([key, token]) => [key, { ...token, windows: unpackWindows(token.windows) } as ReadToken]),
    ),
    holders: new Map(of('holder_rows').map((row) => [`${row.token}|${row.holder}`, BigInt(String(row.balance))])),
    holderHours: new Map(of('holder_hour_rows').map((row) => [`${row.token}|${row.time}`, Number(row.holders)])),
    pairHours: new Map(of('pair_hour_rows').map((row) => [`${row.pair}|${row.time}`, hourOf(row)])),
  }
  return differencesFromReference(stored as Reader, reference, facts).map((path) => `${chain} stored ${path}`)
}

/** As it is answered: a row tells of its pair's last update, and a day may have begun since. */
function pairOf(state: ServedChain, pair: PairState): ReadPair {
  const windows = unpackWindows(pair.windows)
  return { ...readPairState(pair), price_day_usd: dayPrice({ state }, pair), windows } as unknown as ReadPair
}

function tradeOf(row: Row): ReadTrade {
  return {
    ...row,
    ...Object.fromEntries(TRADE_VALUES.map((name) => [name, known(row[name])])),
    sell: row.sell === 1,
    reserve0: row.reserve0 === '' ? null : row.reserve0,
    reserve1: row.reserve1 === '' ? null : row.reserve1,
  } as unknown as ReadTrade
}

function candleOf(row: Row): Candle {
  const figures = Object.entries(row).filter(([name]) => /^(open|first|high|low|close|volume)_[umr]$/.test(name))
  return {
    ...{ interval: row.interval, time: row.time, removed: false },
    ...Object.fromEntries(figures.map(([name, cell]) => [name, known(cell)])),
  } as unknown as Candle
}

function hourOf(row: Row): HourFigures {
  return {
    ...{ priceUsd: known(row.price_usd), tvlUsd: known(row.tvl), liquidityUsd: known(row.liquidity_usd) },
    ...{ supply: known(row.supply), supplyLeft: known(row.supply_left) },
  }
}

/** Updates follow one another without a hole; what was published again is the same. */
function checkUpdates({ log }: Cluster, chain: string): string[] {
  const topic = updatesTopic(chain)
  const assemble = createUpdateAssembler()
  const bySeq = new Map<string, string>()
  const problems: string[] = []
  let last: BlockUpdate | undefined
  for (const { value, offset } of log.topic(topic).records) {
    const decoded = CODEC.decodeLogRecord(value, { topic, offset })
    const update = decoded.kind === 'update' ? assemble(decoded.update, offset) : undefined
    if (update === undefined) continue
    const place = `${update.epoch}:${update.seq}`
    const text = `${update.kind} ${update.number} ${update.hash}`
    const known = bySeq.get(place)
    if (known !== undefined && known !== text) problems.push(`${chain} update ${place} is ${known}, then ${text}`)
    bySeq.set(place, text)
    if (last !== undefined && update.epoch === last.epoch && update.seq > last.seq + 1)
      problems.push(`${chain} update ${place} follows ${last.epoch}:${last.seq}`)
    if (last === undefined || update.epoch > last.epoch || update.seq > last.seq) last = update
  }
  return problems
}

/** Each push that the undisturbed client got, once and in order, except in ranges the server said it had lost. */
function checkPushes(got: Heard, due: Heard): string[] {
  const problems: string[] = []
  const texts = new Map(due.pushes.map(({ cursor, text }) => [cursor, text]))
  const seen = new Set<string>()
  let last: Place | undefined
  for (const { cursor, text } of got.pushes) {
    if (seen.has(cursor)) problems.push(`${cursor} came twice`)
    seen.add(cursor)
    const expected = texts.get(cursor)
    if (expected === undefined) problems.push(`${cursor} was pushed to no one else: ${text}`)
    else if (expected !== text) problems.push(`${cursor} differs: ${text} instead of ${expected}`)
    const place = parseCursor(cursor)
    if (last !== undefined && place !== undefined && isBefore(place, last)) problems.push(`${cursor} came too late`)
    last = place
  }
  const first = got.firstBegan === undefined ? undefined : parseCursor(got.firstBegan)
  if (first === undefined) return [...problems, 'it never was subscribed']
  for (const { cursor } of due.pushes) {
    const place = parseCursor(cursor)
    if (place === undefined || seen.has(cursor) || !isBefore(first, place)) continue
    const isSkipped = got.gaps.some(({ from, to }) => {
      const [begin, end] = [parseCursor(from), parseCursor(to)]
      return begin !== undefined && end !== undefined && !isBefore(place, begin) && place.seq <= end.seq
    })
    if (!isSkipped) problems.push(`${cursor} never came`)
  }
  return problems
}

const isBefore = (a: Place, b: Place): boolean => (a.epoch - b.epoch || a.seq - b.seq || a.n - b.n) < 0
