/** A wallet's swaps: rows in the order of wallets, merged with the blocks that are not stored yet. */
import type { PairTrade, Placed } from '../memory/event-overlay.js'
import { quoteToken, type ServedChain, targetToken } from '../memory/served-chain.js'
import { balancesHeldBy } from './balances.js'
import { inOrder, type Place } from './event-order.js'
import type { HoldersHold } from './hot/hot-holders.js'
import type { Queries, QueryLanes } from './query-lanes.js'
import { clampS, numberOf, placeOf, type StoredRow } from './stored-rows.js'
import type { Flush } from './top-holders.js'
import { joinSums, NO_SUMS, readSums, SUM_COLUMNS, sumsOfTrade, type TradeSums } from './wallet-sums.js'

const COLUMNS = [
  ...(['tx_index', 'log_index', 'sub', 'tx_hash', 'id', 'pair', 'tx_seq', 'sell', 'sender', 'recipient'] as const),
  ...(['wallet', 'amount_in', 'amount_out', 'price_usd', 'quote_usd', 'amount_usd', 'flags'] as const),
]

export type WalletTrade = Placed<Pick<PairTrade, (typeof COLUMNS)[number]>>

export type WalletRange = {
  wallet: string
  fromS?: number | undefined
  toS?: number | undefined
  /** Only trades before this one. */
  before?: Place | undefined
  /** Only trades of pairs with this token: on either side, or as the target. */
  token?: { address: string; side: 'any' | 'target' } | undefined
}

export type WalletPage = WalletRange & { limit: number; sort: 'asc' | 'desc'; txHash?: string | undefined }

export interface WalletHistory {
  trades(state: ServedChain, page: WalletPage): Promise<WalletTrade[]>
  /** How many swaps are in the range. */
  count(state: ServedChain, range: WalletRange): Promise<number>
  /** By pair. */
  sums(state: ServedChain, range: WalletRange): Promise<Map<string, TradeSums>>
  /** Raw balances above 0 by token. They are in the store alone, so what waits for its batch is stored first. */
  balances(state: ServedChain, wallet: string): Promise<Map<string, string>>
  /** The place of a swap; undefined: the wallet has none with this id, or a reorg removed it. */
  find(state: ServedChain, wallet: string, id: string): Promise<Place | undefined>
}

/** A chain is flushed for balances at most once per `holdMs`. */
export function createWalletHistory(
  { cheap, dear }: QueryLanes,
  flush: Flush,
  { holdMs, nowMs }: HoldersHold,
): WalletHistory {
  const flushes = new Map<string, { startedMs: number; done: Promise<void> }>()

  /** Requests that come while a flush is under way wait for it too. */
  function flushed(chain: string): Promise<void> {
    const last = flushes.get(chain)
    if (last !== undefined && nowMs() - last.startedMs < holdMs) return last.done
    const next = { startedMs: nowMs(), done: flush(chain) }
    flushes.set(chain, next)
    return next.done
  }

  return {
    async balances({ chain }, wallet) {
      await flushed(chain)
      return balancesHeldBy(cheap, chain, wallet)
    },
    trades: (state, page) => betweenReorgs(state, () => readPage(cheap, state, page)),
    count: (state, range) => betweenReorgs(state, () => countTrades(dear, state, range)),
    sums: (state, range) => betweenReorgs(state, () => sumTrades(dear, state, range)),
    async find(state, wallet, id) {
      const kept = state.events.walletTrades(wallet).find((trade) => trade.id === id)
      if (kept !== undefined) return kept
      const { sql, params } = storedTrades(state, { wallet }, state.events.firstBlock)
      const [row] = await cheap.query<StoredRow>(
        `SELECT ${selected(['tx_index', 'log_index', 'sub', 'tx_hash', 'id'])} ${sql}
           AND t.block_number = {idBlock:UInt64} AND t.id = {id:String} LIMIT 1`,
        { ...params, idBlock: Number.parseInt(id, 10), id },
      )
      return row === undefined ? undefined : placeOf(row)
    },
  }
}

/** A query that a reorg overtook may have mixed two chains. */
const MOST_ATTEMPTS = 3

async function betweenReorgs<Result>(state: ServedChain, read: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const { lastReorg, epoch } = state
    const result = await read()
    if ((state.lastReorg === lastReorg && state.epoch === epoch) || attempt === MOST_ATTEMPTS) return result
  }
}

async function readPage(store: Queries, state: ServedChain, page: WalletPage): Promise<WalletTrade[]> {
  const { limit, sort, txHash } = page
  const unflushed = unflushedTrades(state, page).filter((trade) => txHash === undefined || trade.tx_hash === txHash)
  const { sql, params } = storedTrades(state, page, state.events.firstBlock)
  const direction = sort === 'asc' ? 'ASC' : 'DESC'
  const rows = await store.query<StoredRow>(
    `SELECT ${selected(COLUMNS)} ${sql} ${txHash === undefined ? '' : 'AND t.tx_hash = {txHash:String}'}
     ORDER BY ${ORDER.map((column) => `t.${column} ${direction}`).join(', ')} LIMIT {limit:UInt32}`,
    { ...params, limit, ...(txHash === undefined ? {} : { txHash }) },
  )
  const ascending = [...rows.map(tradeOf), ...unflushed].sort(inOrder)
  return sort === 'asc' ? ascending.slice(0, limit) : ascending.reverse().slice(0, limit)
}

async function countTrades(store: Queries, state: ServedChain, range: WalletRange): Promise<number> {
  const unflushed = unflushedTrades(state, range).length
  const { sql, params } = storedTrades(state, range, state.events.firstBlock)
  const [row] = await store.query<{ count: string }>(`SELECT count() AS count ${sql}`, params)
  return unflushed + Number(row?.count ?? 0)
}

async function sumTrades(store: Queries, state: ServedChain, range: WalletRange): Promise<Map<string, TradeSums>> {
  const unflushed = unflushedTrades(state, range)
  const { sql, params } = storedTrades(state, range, state.events.firstBlock)
  const rows = await store.query<StoredRow>(`SELECT t.pair AS pair, ${SUM_COLUMNS} ${sql} GROUP BY pair`, params)
  const sums = new Map(rows.map((row) => [String(row.pair), readSums(row)]))
  for (const trade of unflushed) sums.set(trade.pair, joinSums(sums.get(trade.pair) ?? NO_SUMS, sumsOfTrade(trade)))
  return sums
}

const ORDER = ['time', 'block_number', 'tx_index', 'log_index', 'sub'] as const

const selected = (columns: readonly string[]) =>
  `toUInt32(t.time) AS time_s, t.block_number AS block_number, ${columns.map((name) => `t.${name} AS ${name}`).join(', ')}`

/**
 * A condition for rows `t` of `wallet_trade_rows`. Those of an orphaned block are older than its retract: the same block number may
 * have other rows since. `among`: the rows of the chain that are compared with retracts.
 */
export const notOrphaned = (among: string): string => `(t.block_number, t.version) NOT IN (
    SELECT w.block_number, w.version
    FROM (SELECT block_number, version FROM wallet_trade_rows WHERE chain = {chain:String} AND ${among}) AS w
    INNER JOIN (SELECT block_number, version FROM orphaned_block_rows WHERE chain = {chain:String}) AS o
      ON o.block_number = w.block_number
    WHERE w.version < o.version)`

/** The stored rows of a range, without those of `firstUnflushed` and later blocks. */
function storedTrades(state: ServedChain, range: WalletRange, firstUnflushed = Number.MAX_SAFE_INTEGER) {
  const { wallet, fromS = 0, toS = Number.MAX_SAFE_INTEGER, before, token } = range
  const sides = token?.side === 'target' ? 'if(target = 0, token0, token1) = {token:String}' : EITHER_SIDE
  const beyond = `AND (${ORDER.map((column) => `t.${column}`).join(', ')}) <
    (toDateTime({time:UInt32}, 'UTC'), {block:UInt64}, {tx:UInt32}, {log:UInt32}, {sub:UInt32})`
  const sql = `FROM wallet_trade_rows AS t FINAL
    WHERE t.chain = {chain:String} AND t.wallet = {wallet:String}
      AND t.time >= toDateTime({from:UInt32}, 'UTC') AND t.time <= toDateTime({to:UInt32}, 'UTC')
      AND t.block_number <= {upTo:UInt64} ${before === undefined ? '' : beyond}
      AND ${notOrphaned('wallet = {wallet:String}')}
      ${token === undefined ? '' : `AND t.pair IN (SELECT pair FROM pair_rows FINAL WHERE chain = {chain:String} AND ${sides})`}`
  const upTo = Math.min(state.events.storedUpToBlock, firstUnflushed - 1)
  const params = {
    ...{ chain: state.chain, wallet, from: clampS(fromS), to: clampS(toS), upTo },
    ...(token === undefined ? {} : { token: token.address }),
    ...(before === undefined ? {} : placeParams(before)),
  }
  return { sql, params }
}

const EITHER_SIDE = '(token0 = {token:String} OR token1 = {token:String})'

function placeParams({ timeS, blockNumber, tx_index, log_index, sub }: Place) {
  return { time: timeS, block: blockNumber, tx: tx_index, log: log_index, sub }
}

function unflushedTrades(state: ServedChain, range: WalletRange): WalletTrade[] {
  const { wallet, fromS = 0, toS = Number.MAX_SAFE_INTEGER, before, token } = range
  return state.events.walletTrades(wallet).filter((trade) => {
    if (trade.timeS < fromS || trade.timeS > toS) return false
    if (before !== undefined && inOrder(trade, before) >= 0) return false
    const info = state.pairs.get(trade.pair)?.info
    if (token === undefined) return true
    if (info === undefined) return false
    return targetToken(info) === token.address || (token.side === 'any' && quoteToken(info) === token.address)
  })
}

function tradeOf(row: StoredRow): WalletTrade {
  return {
    ...placeOf(row),
    pair: String(row.pair),
    tx_seq: Number(row.tx_seq),
    sell: Number(row.sell) === 1,
    ...{ sender: String(row.sender), recipient: String(row.recipient), wallet: String(row.wallet) },
    ...{ amount_in: String(row.amount_in), amount_out: String(row.amount_out) },
    price_usd: numberOf(row.price_usd),
    quote_usd: numberOf(row.quote_usd),
    amount_usd: numberOf(row.amount_usd),
    flags: Number(row.flags),
  }
}
