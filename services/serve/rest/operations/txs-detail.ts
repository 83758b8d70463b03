import { Type } from '@sinclair/typebox'
import { joinSums, NO_SUMS, type TradeSums } from '../../history/wallet-sums.js'
import type { WalletTrade } from '../../history/wallet-trades.js'
import { decimal, decimalOrNull, fieldsOf, int, rawOrNull, rawToNumber, text } from '../../views/field-formats.js'
import { type Market, tokenInfo } from '../../views/market-facts.js'
import { profitOf } from '../../views/position-view.js'
import { swapSides } from '../../views/wallet-view.js'
import { type OperationContext, operation } from '../operation.js'
import { ChainName, checkRange, epochSeconds, limitOf, resolveWallet, WalletAddress } from '../parameters.js'

const MAX_LIMIT = 300

export const txsDetail = operation({
  id: 'txsDetail',
  method: 'GET',
  path: '/v2/txs/detail',
  summary: 'What the swaps of one transaction moved into and out of a wallet',
  costCu: 50,
  envelope: true,
  readsStore: true,
  params: Type.Object({}),
  query: Type.Object({
    chain: ChainName,
    account_address: WalletAddress,
    tx_hash: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Transaction hash or signature',
      examples: [`0x${'5c'.repeat(32)}`],
    }),
    start_from: Type.Optional(epochSeconds('Start time, inclusive')),
    end_at: Type.Optional(epochSeconds('End time, inclusive')),
    limit: limitOf('items', { max: MAX_LIMIT, standard: MAX_LIMIT }),
  }),
  data: Type.Array(
    Type.Object({
      ...fieldsOf(
        ['account_address', 'tx_hash', 'date', 'event_type', 'flow_type', 'token_address', 'token_symbol'],
        text,
      ),
      ...fieldsOf(['pair_address', 'amm', 'tx_seq', 'opponent_address', 'id', 'chain'], text),
      ...fieldsOf(['block_number', 'block_time'], int),
      ...fieldsOf(['token_price_u', 'amount', 'volume', 'profit', 'balance_after'], decimal),
    }),
  ),
  async handle(context, { query }) {
    const { wallet, chain, market } = resolveWallet(context.chains, query.account_address, query.chain)
    const { start_from: fromS, end_at: toS, limit = MAX_LIMIT } = query
    checkRange(fromS, toS)
    const txHash = market.facts?.family === 'solana' ? query.tx_hash : query.tx_hash.toLowerCase()
    const page = { wallet, fromS, toS, txHash, limit: MAX_LIMIT, sort: 'asc' as const }
    const trades = await context.wallets.trades(market.state, page)
    const items: object[] = []
    for (const trade of trades) {
      if (items.length >= limit) break
      items.push(...(await flowsOf(context, market, trade)))
    }
    return { data: items.slice(0, limit), chains: [chain], ...(items.length === 0 ? { reason: 'no_trades' } : {}) }
  },
})

/** A swap takes one token out of the wallet and brings another in. */
async function flowsOf({ wallets }: OperationContext, market: Market, trade: WalletTrade): Promise<object[]> {
  const { amm, target, from, to } = swapSides(market, trade)
  const before = trade.sell
    ? await wallets.sums(market.state, {
        wallet: trade.wallet,
        before: trade,
        token: { address: target, side: 'target' },
      })
    : new Map<string, TradeSums>()
  const bought = [...before.values()].reduce<TradeSums>(joinSums, NO_SUMS)
  const shared = {
    ...{ account_address: trade.wallet, tx_hash: trade.tx_hash, id: trade.id, chain: market.state.chain },
    ...{ block_number: trade.blockNumber, block_time: trade.timeS, event_type: 'swap' },
    date: new Date(trade.timeS * 1000).toISOString().slice(0, 10),
    ...{ pair_address: trade.pair, amm, tx_seq: String(trade.tx_seq), opponent_address: trade.pair },
    volume: decimalOrNull(trade.amount_usd),
    // Only the present balance of a wallet is known.
    balance_after: null,
  }
  const flow = (type: 'in' | 'out', side: { address: string; priceUsd: number }, raw: string) => {
    const { symbol, decimals } = tokenInfo(market, side.address)
    const isSold = type === 'out' && side.address === target
    return {
      ...shared,
      ...{ flow_type: type, token_address: side.address, token_symbol: symbol ?? '' },
      token_price_u: decimalOrNull(side.priceUsd),
      amount: rawOrNull(raw, decimals),
      profit: isSold ? decimalOrNull(saleProfit(bought, trade, decimals)) : null,
    }
  }
  return [flow('out', from, trade.amount_in), flow('in', to, trade.amount_out)]
}

/** What the sale brought beyond the average cost of all purchases before it; NaN: none was seen. */
function saleProfit(before: TradeSums, trade: WalletTrade, decimals: number | null): number {
  const { avgPurchase } = profitOf(before, { decimals, priceUsd: Number.NaN, balance: undefined })
  return trade.amount_usd - rawToNumber(trade.amount_in, decimals) * avgPurchase
}
