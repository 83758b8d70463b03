/** The first buyers of several tokens and what they kept: stored rows, merged with the blocks that are not stored yet. */
import type { Trade } from '../../core/domain/records.js'
import { literal } from '../export/export-formats.js'
import type { Placed } from '../memory/event-overlay.js'
import type { PairState, ServedChain } from '../memory/served-chain.js'
import {
  classifyBuyers,
  FIRST_BLOCKS,
  type FirstBuy,
  type FirstBuyers,
  type Launch,
  NO_BUYERS,
} from './first-buyers.js'
import { firstPair } from './first-pair.js'
import { changeOf, HotLaunch, type KeptChange, settledUpTo } from './hot/hot-launch.js'
import type { Queries, QueryLanes } from './query-lanes.js'
import { clampS, numberOf, type StoredRow } from './stored-rows.js'
import { notOrphaned } from './wallet-trades.js'

/** Of the first blocks, in the order of the chain. */
const MOST_WALLETS = 200
const MOST_BUYS = 2_000
/** Blocks of a chain may be out of order by so much, and the first ones are within this time. */
const FIRST_BLOCKS_S = 3_600
const HOUR_S = 3_600
const MOST_HOURS = 8
/** Of an hour and what stands around it. */
const HOUR_TEXT = 16
/** Texts of a query are part of its statement, which the engine limits to 256 KiB. */
const MOST_TEXT = 100_000

type Started = {
  token: string
  first: PairState
  /** All pairs whose target it is. */
  pairs: readonly string[]
  /** All its events are in memory. */
  isUnstored: boolean
  launch: Launch | undefined
  buys: FirstBuy[]
  /** Of the blocks that are not stored yet. */
  changes: KeptChange[]
}
type Where = { chain: string; upTo: number; floor: number }

/** With every block that was applied when it began. One or two queries for all tokens, none if all are newer than the store. */
export async function readLaunches(
  { cheap, dear }: QueryLanes,
  state: ServedChain,
  tokens: readonly string[],
): Promise<Map<string, HotLaunch>> {
  const { events, head, finalized, seq, chain } = state
  const floor = settledUpTo(finalized, head.number)
  const firstUnstored = events.firstBlock ?? Number.MAX_SAFE_INTEGER
  const where = { chain, floor, upTo: Math.min(events.storedUpToBlock, firstUnstored - 1, head.number) }
  const started = tokens.flatMap((token) => startedOf(state, token, firstUnstored))
  const stored = started.filter(({ isUnstored }) => !isUnstored)
  await readBeginnings(cheap, where, stored)
  const classified = new Map(started.map((one) => [one.token, buyersOf(one)]))
  const changes = await readChanges(dear, where, stored, (token) => classified.get(token) ?? NO_BUYERS)
  const unstarted = { pair: undefined, launch: undefined, buyers: NO_BUYERS, seq, floor }
  const launches = new Map(tokens.map((token) => [token, new HotLaunch(unstarted, [])]))
  for (const { token, first, launch, changes: unstored } of started) {
    const loaded = { pair: first.pair, launch, buyers: classified.get(token) ?? NO_BUYERS, seq, floor }
    launches.set(token, new HotLaunch(loaded, [...(changes.get(token) ?? []), ...unstored]))
  }
  return launches
}

/** With what memory has of it. */
function startedOf(state: ServedChain, token: string, firstUnstored: number): Started[] {
  const { events, targetPairs, pairs: states } = state
  const first = states.get(firstPair(state, token) ?? '')
  if (first === undefined) return []
  const pairs = targetPairs.of(token)
  const create = events.liquidity(first.pair).find(({ kind }) => kind === 'create')
  const launch = create && { blockNumber: create.blockNumber, provider: create.wallet }
  const trades = pairs.flatMap((pair) => events.trades(pair).map((trade) => ({ ...trade, pair })))
  const isUnstored = pairs.every((pair) => (states.get(pair)?.info.created_block ?? 0) >= firstUnstored)
  const buys = trades.filter(({ pair, sell }) => pair === first.pair && !sell).map(buyOf)
  const changes = trades.map((trade) => changeOf(trade, trade.blockNumber))
  return [{ token, first, pairs: [...pairs], isUnstored, launch, buys, changes }]
}

function buyOf({ blockNumber, tx_index, wallet, amount_in }: Placed<Trade>): FirstBuy {
  return { blockNumber, txIndex: tx_index, wallet, paidRaw: amount_in }
}

function buyersOf({ launch, buys }: Started): FirstBuyers {
  if (launch === undefined) return NO_BUYERS
  return classifyBuyers(launch, withinLimit(buys.filter(({ blockNumber }) => blockNumber >= launch.blockNumber)))
}

/** Adds the stored launches and first buys. A pool has no trade before its first liquidity. */
async function readBeginnings(store: Queries, where: Where, started: readonly Started[]): Promise<void> {
  const byPair = new Map(started.map((one) => [one.first.pair, one]))
  for (const some of chunksOf([...byPair.values()], beginningText)) {
    const rows = await store.query<StoredRow>(beginnings(some), { chain: where.chain, upTo: where.upTo })
    const buys = new Map<string, FirstBuy[]>()
    for (const row of rows) {
      const pair = String(row.pair)
      const found = { blockNumber: numberOf(row.block_number), wallet: String(row.wallet) }
      const one = byPair.get(pair)
      if (one === undefined) continue
      if (Number(row.is_launch) === 1) one.launch = { blockNumber: found.blockNumber, provider: found.wallet }
      else {
        const own = buys.get(pair) ?? []
        own.push({ ...found, txIndex: numberOf(row.tx_index), paidRaw: String(row.paid) })
        buys.set(pair, own)
      }
    }
    for (const one of some) one.buys.unshift(...(buys.get(one.first.pair) ?? []))
  }
}

const LAUNCH_COLUMNS = 'pair, block_number, tx_index, log_index, sub, wallet'
const CHAIN_ORDER = 'pair, block_number, tx_index, log_index, sub'

function beginnings(started: readonly Started[]): string {
  const traded = started.filter(({ first }) => first.tx_count > 0)
  const found = [
    `SELECT 1 AS is_launch, ${LAUNCH_COLUMNS}, '' AS paid FROM liquidity_rows FINAL
      WHERE chain = {chain:String} AND kind = 'create' AND block_number <= {upTo:UInt64}
        AND ${within(started, ({ first }) => [first.info.created_at, first.first_trade_at])}
      ORDER BY ${CHAIN_ORDER} LIMIT 1 BY pair`,
  ]
  if (traded.length > 0) {
    const pairs = traded.map(({ first }) => literal(first.pair)).join(', ')
    const blocks = traded.map(({ first }) => first.first_trade_block).join(', ')
    found.push(`SELECT 0 AS is_launch, ${LAUNCH_COLUMNS}, amount_in AS paid FROM trade_rows FINAL
      WHERE chain = {chain:String} AND sell = 0 AND block_number <= {upTo:UInt64}
        AND ${within(traded, ({ first }) => [first.first_trade_at, first.first_trade_at])}
        AND toInt64(block_number) - transform(pair, [${pairs}], [${blocks}], 0) BETWEEN 0 AND ${FIRST_BLOCKS - 1}
      ORDER BY ${CHAIN_ORDER} LIMIT ${MOST_BUYS} BY pair`)
  }
  return `SELECT * FROM (${found.join(' UNION ALL ')}) ORDER BY ${CHAIN_ORDER}`
}

/**
 * The hours of the first pairs between two times, as places in the sorting key: the engine plans a list of a hundred in a fifth of
 * the time that as many conditions take. All hours of a pair where they are many or it has no trade.
 */
function within(started: readonly Started[], timesOf: (one: Started) => [since: number, until: number]): string {
  const hours: string[] = []
  const whole: string[] = []
  for (const one of started) {
    const pair = literal(one.first.pair)
    const [since, until] = timesOf(one)
    const from = hourNumber(since - FIRST_BLOCKS_S)
    const to = hourNumber(until + FIRST_BLOCKS_S)
    if (to < from || to - from >= MOST_HOURS) whole.push(pair)
    else for (let hour = from; hour <= to; hour += 1) hours.push(`(${pair}, ${hour})`)
  }
  return eitherOf([
    ...(hours.length === 0 ? [] : [`(pair, intDiv(toUInt32(time), ${HOUR_S})) IN (${hours.join(', ')})`]),
    ...(whole.length === 0 ? [] : [`pair IN (${whole.join(', ')})`]),
  ])
}

const eitherOf = (conditions: readonly string[]): string => `(${conditions.join(' OR ')})`
const hourNumber = (timeS: number): number => Math.floor(clampS(timeS) / HOUR_S)

/** At most: those in which it was funded, those of its first trades, and its address for their block. */
function beginningText({ first }: Started): number {
  return (MOST_HOURS + 3 + 1) * (first.pair.length + HOUR_TEXT)
}

/** By token, what the wallets bought and sold up to `where.floor`, and in each later stored block. */
async function readChanges(
  store: Queries,
  { chain, upTo, floor }: Where,
  started: readonly Started[],
  buyers: (token: string) => FirstBuyers,
): Promise<Map<string, KeptChange[]>> {
  const walletsOf = ({ token }: Started) => [...buyers(token).snipers, ...buyers(token).insiders]
  const withBuyers = started.filter((one) => walletsOf(one).length > 0)
  const changes = new Map<string, KeptChange[]>(withBuyers.map(({ token }) => [token, []]))
  const textOf = (one: Started) => 2 * lengthOf(walletsOf(one)) + lengthOf(one.pairs)
  for (const some of chunksOf(withBuyers, textOf)) {
    const byPair = new Map(some.flatMap(({ token, pairs }) => pairs.map((pair): [string, string] => [pair, token])))
    const wallets = `wallet IN (${literals(new Set(some.flatMap(walletsOf)))})`
    const since = Math.min(...some.map(({ first }) => first.info.created_at))
    const rows = await store.query<StoredRow>(
      `SELECT t.pair AS pair, t.wallet AS wallet, if(t.block_number > {floor:UInt64}, t.block_number, 0) AS block,
         toString(sumIf(toUInt256OrZero(t.amount_out), t.sell = 0)) AS bought,
         toString(sumIf(toUInt256OrZero(t.amount_in), t.sell = 1)) AS sold
       FROM wallet_trade_rows AS t FINAL
       WHERE t.chain = {chain:String} AND t.${wallets} AND t.block_number <= {upTo:UInt64}
         AND t.time >= toDateTime({since:UInt32}, 'UTC')
         AND t.pair IN (${pairsOf(some)}) AND ${notOrphaned(wallets)}
       GROUP BY pair, wallet, block`,
      { chain, upTo, floor, since: clampS(since - FIRST_BLOCKS_S) },
    )
    for (const { pair, wallet, block, bought, sold } of rows) {
      const raw = BigInt(String(bought)) - BigInt(String(sold))
      changes.get(byPair.get(String(pair)) ?? '')?.push({ block: numberOf(block), wallet: String(wallet), raw })
    }
  }
  return changes
}

/** A chain's native coin may have too many for a statement. */
function pairsOf(started: readonly Started[]): string {
  const pairs = started.flatMap((one) => one.pairs)
  if (lengthOf(pairs) <= MOST_TEXT) return literals(pairs)
  const tokens = literals(started.map(({ token }) => token))
  return `SELECT pair FROM pair_rows FINAL WHERE chain = {chain:String} AND if(target = 0, token0, token1) IN (${tokens})`
}

const literals = (texts: Iterable<string>): string => [...texts].map(literal).join(', ')
const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length + 4, 0)

/** In parts whose texts fit into a statement. */
function* chunksOf<Item>(items: readonly Item[], textOf: (item: Item) => number): Generator<Item[]> {
  let chunk: Item[] = []
  let text = 0
  for (const item of items) {
    const more = textOf(item)
    if (chunk.length > 0 && text + more > MOST_TEXT) {
      yield chunk
      chunk = []
      text = 0
    }
    chunk.push(item)
    text += more
  }
  if (chunk.length > 0) yield chunk
}

function withinLimit(buys: readonly FirstBuy[]): FirstBuy[] {
  const wallets = new Set<string>()
  return buys.filter(({ wallet }) => {
    if (wallets.size < MOST_WALLETS) wallets.add(wallet)
    return wallets.has(wallet)
  })
}
