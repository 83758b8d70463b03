/** Expected swaps, token candles and holders, from the reference. */
import type { ChainFacts, Interval } from '../../../services/core/domain/chains.js'
import { amountOf, type Expected, exactDecimal } from '../../rig/http/decimals.js'
import { type Bar, barsOf, type Category } from '../../rig/http/expected-candles.js'
import { bucketStart, INTERVAL_SECONDS } from '../../rig/reference/candles.js'
import type { Reference } from '../../rig/reference/recompute.js'

type Trade = Reference['trades'][number]

export function expectedSwap(reference: Reference, trade: Trade): Expected {
  const pair = reference.pairs.get(trade.pair)
  if (pair === undefined) throw new Error(`no pair ${trade.pair}`)
  const target = { address: pair.target_token, price: trade.price_usd, reserve: reserveOf(trade, pair.target) }
  const quote = { address: pair.quote_token, price: trade.quote_usd, reserve: reserveOf(trade, 1 - pair.target) }
  const [from, to] = trade.sell ? [target, quote] : [quote, target]
  const decimalsOf = (token: string) => reference.tokens.get(token)?.decimals ?? null
  const side = (name: 'from' | 'to', { address, price, reserve }: typeof from, raw: string): Expected => ({
    [`${name}_token_address`]: address,
    [`${name}_token_symbol`]: reference.tokens.get(address)?.symbol ?? '',
    [`${name}_token_amount`]: exactDecimal(raw, decimalsOf(address)),
    [`${name}_token_price_usd`]: price,
    [`${name}_token_reserve`]: exactDecimal(reserve, decimalsOf(address)),
  })
  return {
    ...{ id: trade.id, tx_hash: trade.tx_hash, tx_time: trade.time, block_number: trade.block_number },
    ...{ chain: reference.chain, amm: pair.amm, pair_address: trade.pair },
    ...side('from', from, trade.amount_in),
    ...side('to', to, trade.amount_out),
    amount_usd: trade.amount_usd,
    pair_liquidity_usd: amountOf(quote.reserve, decimalsOf(quote.address)) * trade.quote_usd,
    ...{ sender_address: trade.sender, to_address: trade.recipient, wallet_address: trade.wallet, wallet_tag: null },
  }
}

const reserveOf = (trade: Trade, side: number): string | null => (side === 0 ? trade.reserve0 : trade.reserve1)

/** Each bucket comes from the pair that was the main pair when the bucket ended. */
export function expectedTokenBars(
  reference: Reference,
  token: string,
  interval: Interval,
  category: Category,
): Omit<Bar, 'first'>[] {
  const times = new Map(reference.blocks.map(({ number, time }) => [number, time]))
  const changes = reference.mainPairChanges.filter((change) => change.token === token)
  const mainAt = (endS: number) =>
    changes.filter(({ block }) => (times.get(block) ?? Number.POSITIVE_INFINITY) < endS).at(-1)?.new_pair ?? null
  const bars = barsOf(reference)
  const pairs = [...new Set(changes.flatMap(({ new_pair }) => new_pair ?? []))]
  return pairs
    .flatMap((pair) => bars.of(pair, interval, category).map((bar) => ({ pair, bar })))
    .filter(({ pair, bar }) => mainAt(bucketStart(interval, bar.time) + INTERVAL_SECONDS[interval]) === pair)
    .map(({ bar: { first: _, ...bar } }) => bar)
    .sort((a, b) => a.time - b.time)
}

/** Every holder with a balance, largest first. */
export function expectedHolders(reference: Reference, address: string, { native }: ChainFacts): Expected[] {
  const token = reference.tokens.get(address)
  if (token === undefined) throw new Error(`no token ${address}`)
  const prefix = `${address}|`
  return [...reference.holders]
    .filter(([key, balance]) => key.startsWith(prefix) && balance > 0n)
    .map(([key, balance]) => ({ holder: key.slice(prefix.length), balance }))
    .sort((a, b) => (a.balance === b.balance ? (a.holder < b.holder ? -1 : 1) : a.balance > b.balance ? -1 : 1))
    .map(({ holder, balance }) => {
      const amount = amountOf(String(balance), token.decimals)
      const coins = reference.holders.get(`${native}|${holder}`)
      const coinDecimals = reference.tokens.get(native ?? '')?.decimals ?? null
      return {
        ...{ holder, address: holder, amount_cur: amount },
        balance_ratio: amount / amountOf(token.total_supply, token.decimals),
        balance_usd: amount * token.price_usd,
        main_coin_balance: coins === undefined ? Number.NaN : amountOf(String(coins), coinDecimals),
        ...profitOf(reference, address, holder, amount),
      }
    })
}

function profitOf(reference: Reference, address: string, wallet: string, held: number): Expected {
  const token = reference.tokens.get(address)
  const own = reference.trades.filter(
    (trade) => trade.wallet === wallet && reference.pairs.get(trade.pair)?.target_token === address,
  )
  const buys = own.filter(({ sell }) => !sell)
  const sells = own.filter(({ sell }) => sell)
  const amounts = (trades: Trade[], raw: 'amount_in' | 'amount_out') =>
    sum(trades.map((trade) => amountOf(trade[raw], token?.decimals ?? null)))
  const priced = (trades: Trade[]) => trades.filter(({ amount_usd }) => !Number.isNaN(amount_usd))
  const volume = (trades: Trade[]) => sum(priced(trades).map(({ amount_usd }) => amount_usd))
  const [bought, sold] = [amounts(buys, 'amount_out'), amounts(sells, 'amount_in')]
  const avgBuy = volume(buys) / amounts(priced(buys), 'amount_out')
  const avgSale = volume(sells) / amounts(priced(sells), 'amount_in')
  const matched = Math.min(bought, sold)
  const remaining = Math.min(Math.max(bought - sold, 0), held)
  const realized = matched === 0 ? 0 : matched * (avgSale - avgBuy)
  const unrealized = remaining === 0 ? 0 : remaining * ((token?.price_usd ?? Number.NaN) - avgBuy)
  const times = own.map(({ time }) => time)
  const largest = (trades: Trade[]) =>
    trades.length === 0 ? Number.NaN : Math.max(0, ...priced(trades).map(({ amount_usd }) => amount_usd))
  const known = (value: number) => (buys.length > 0 && Number.isFinite(value) ? value : Number.NaN)
  const finite = (value: number) => (Number.isFinite(value) ? value : Number.NaN)
  return {
    ...{ buy_tx_count_cur: buys.length, sell_tx_count_cur: sells.length },
    ...{ buy_amount_cur: bought, sell_amount_cur: sold, buy_volume_cur: volume(buys), sell_volume_cur: volume(sells) },
    ...{ avg_purchase_price: finite(avgBuy), avg_sale_price: finite(avgSale) },
    ...{ realized_profit: known(realized), unrealized_profit: known(unrealized) },
    total_profit: known(realized + unrealized),
    realized_profit_ratio: known(realized / (matched * avgBuy)),
    unrealized_profit_ratio: known(unrealized / (remaining * avgBuy)),
    total_profit_ratio: known((realized + unrealized) / ((matched + remaining) * avgBuy)),
    ...{ max_single_purchase_usd: largest(buys), max_single_sold_usd: largest(sells), max_txn_usd: largest(own) },
    holders_complete_since: null,
    ...{ transfer_in: null, transfer_out: null, total_transfer_in_usd: null },
    last_txn_time: times.length === 0 ? 0 : Math.max(...times),
    trade_first_at: times.length === 0 ? 0 : Math.min(...times),
    trade_last_at: times.length === 0 ? 0 : Math.max(...times),
  }
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0)
