/** What the first buyers of a token still have of it, from its stored trades; kept for a while. */
import { type ServedChain, targetToken } from '../memory/served-chain.js'
import type { UntilStored } from '../sql/stored-positions.js'
import {
  classifyBuyers,
  FIRST_BLOCKS,
  type FirstBuy,
  type Launch,
  type LaunchRates,
  ratesOf,
  UNKNOWN_RATES,
} from './first-buyers.js'
import type { HoldersHold } from './hot/hot-holders.js'
import type { QueryLanes } from './query-lanes.js'
import { numberOf, type StoredRow } from './stored-rows.js'
import { notOrphaned } from './wallet-trades.js'

export type LaunchFindings = {
  rates: LaunchRates
  /** Who provided the first liquidity of the token's first pool; empty: unknown. */
  provider: string
}

export interface LaunchWallets {
  /** Unknown where the first liquidity of the token's first pool is not in the history. */
  of(state: ServedChain, token: string): Promise<LaunchFindings>
}

const KEPT_MS = 30_000
const MOST_KEPT = 5_000
/** Of the first blocks, in the order of the chain: they are part of the URL when the store is a server. */
const MOST_WALLETS = 200
const MOST_BUYS = 2_000
/** The first blocks are within this time. */
const FIRST_BLOCKS_S = 3_600

type Kept = LaunchFindings & { untilMs: number; epoch: number; lastReorg: ServedChain['lastReorg'] }

export function createLaunchWallets(
  { cheap, dear }: QueryLanes,
  untilStored: UntilStored,
  { nowMs }: Pick<HoldersHold, 'nowMs'>,
): LaunchWallets {
  const found = new Map<string, Promise<Kept>>()

  async function read(state: ServedChain, token: string): Promise<Kept> {
    const { epoch, lastReorg } = state
    const made = (rates: LaunchRates, provider = ''): Kept => ({
      ...{ rates, provider, untilMs: nowMs() + KEPT_MS, epoch, lastReorg },
    })
    const pair = firstPair(state, token)
    const supply = state.tokens.get(token)?.info.total_supply ?? null
    if (pair === undefined) return made(UNKNOWN_RATES)
    await untilStored()
    const where = { chain: state.chain, pair, upTo: state.events.storedUpToBlock }
    const launch = await launchOf(where)
    if (launch === undefined) return made(UNKNOWN_RATES)
    if (supply === null) return made(UNKNOWN_RATES, launch.provider)
    const buyers = classifyBuyers(launch, withinLimit(await firstBuys(where, launch)))
    const wallets = [...new Set([...buyers.snipers, ...buyers.insiders])]
    const kept = await keptBy(wallets, { ...where, token })
    return made(ratesOf(buyers, kept, BigInt(supply)), launch.provider)
  }

  async function launchOf(where: Where): Promise<(Launch & { timeS: number }) | undefined> {
    const [row] = await cheap.query<StoredRow>(
      `SELECT toUInt32(time) AS time_s, block_number, wallet FROM liquidity_rows FINAL
       WHERE chain = {chain:String} AND pair = {pair:String} AND kind = 'create' AND block_number <= {upTo:UInt64}
       ORDER BY time, block_number, tx_index, log_index, sub LIMIT 1`,
      where,
    )
    if (row === undefined) return undefined
    return { blockNumber: numberOf(row.block_number), timeS: numberOf(row.time_s), provider: String(row.wallet) }
  }

  async function firstBuys(where: Where, { blockNumber, timeS }: Launch & { timeS: number }): Promise<FirstBuy[]> {
    const rows = await cheap.query<StoredRow>(
      `SELECT block_number, tx_index, wallet, amount_in FROM trade_rows FINAL
       WHERE chain = {chain:String} AND pair = {pair:String} AND sell = 0 AND block_number <= {upTo:UInt64}
         AND time >= toDateTime({from:UInt32}, 'UTC') AND time <= toDateTime({to:UInt32}, 'UTC')
         AND block_number >= {first:UInt64} AND block_number <= {last:UInt64}
       ORDER BY block_number, tx_index, log_index, sub LIMIT ${MOST_BUYS}`,
      {
        ...{ ...where, first: blockNumber, last: blockNumber + FIRST_BLOCKS - 1 },
        ...{ from: Math.max(0, timeS - FIRST_BLOCKS_S), to: timeS + FIRST_BLOCKS_S },
      },
    )
    return rows.map((row) => ({
      ...{ blockNumber: numberOf(row.block_number), txIndex: numberOf(row.tx_index) },
      ...{ wallet: String(row.wallet), paidRaw: String(row.amount_in) },
    }))
  }

  async function keptBy(wallets: readonly string[], where: Where & { token: string }): Promise<Map<string, bigint>> {
    if (wallets.length === 0) return new Map()
    const rows = await dear.query<{ wallet: string; bought: string; sold: string }>(
      `SELECT t.wallet AS wallet, toString(sumIf(toUInt256OrZero(t.amount_out), t.sell = 0)) AS bought,
         toString(sumIf(toUInt256OrZero(t.amount_in), t.sell = 1)) AS sold
       FROM wallet_trade_rows AS t FINAL
       WHERE t.chain = {chain:String} AND t.wallet IN {wallets:Array(String)} AND t.block_number <= {upTo:UInt64}
         AND t.pair IN (SELECT pair FROM pair_rows FINAL
           WHERE chain = {chain:String} AND if(target = 0, token0, token1) = {token:String})
         AND ${notOrphaned('wallet IN {wallets:Array(String)}')}
       GROUP BY wallet`,
      { chain: where.chain, token: where.token, upTo: where.upTo, wallets },
    )
    return new Map(rows.map(({ wallet, bought, sold }) => [wallet, BigInt(bought) - BigInt(sold)]))
  }

  return {
    async of(state, token) {
      const key = `${state.chain}/${token}`
      const known = await found.get(key)?.catch(() => undefined)
      const isSame = known?.epoch === state.epoch && known.lastReorg === state.lastReorg
      if (known !== undefined && isSame && nowMs() < known.untilMs) return known
      if (found.size >= MOST_KEPT) found.clear()
      const next = read(state, token)
      found.set(key, next)
      return next
    },
  }
}

type Where = { chain: string; pair: string; upTo: number }

/** The first that it was the target of; of equal age by address. */
export function firstPair({ targetPairs, pairs }: ServedChain, token: string): string | undefined {
  let first: { pair: string; createdAtS: number } | undefined
  for (const address of targetPairs.of(token)) {
    const info = pairs.get(address)?.info
    if (info === undefined || targetToken(info) !== token) continue
    const [createdAtS, before] = [info.created_at, first]
    const isEarlier =
      before === undefined ||
      createdAtS < before.createdAtS ||
      (createdAtS === before.createdAtS && address < before.pair)
    if (isEarlier) first = { pair: address, createdAtS }
  }
  return first?.pair
}

function withinLimit(buys: readonly FirstBuy[]): FirstBuy[] {
  const wallets = new Set<string>()
  return buys.filter(({ wallet }) => {
    if (wallets.size < MOST_WALLETS) wallets.add(wallet)
    return wallets.has(wallet)
  })
}
