import { Type } from '@sinclair/typebox'
import type { Trade } from '../../../core/domain/records.js'
import { decimalOrEmpty, fieldsOf, int, rawOrEmpty, rawToNumber, text } from '../../views/field-formats.js'
import { targetOf } from '../../views/market-facts.js'
import { pairRefills, tokenPairRefills } from '../gap-notices.js'
import { ChainParam, PairParam, readAddress, readCount, readPairAddress, TokenParam, WHOLE_CHAIN } from '../params.js'
import type { EntryPusher, Topic } from '../topic.js'
import type { PairSnapshot, UpdateSnapshot } from '../update-snapshot.js'

/** Swap fields of the pair-based and the token-based topic. */
const swapFields = {
  ...fieldsOf(['amm', 'amount_eth', 'amount_usd', 'chain', 'from_address', 'from_amount', 'from_price_eth'], text),
  ...fieldsOf(['from_price_usd', 'from_reserve', 'from_symbol', 'id', 'pair_address', 'pair_liquidity_eth'], text),
  ...fieldsOf(['pair_liquidity_usd', 'pair_type', 'sender', 'target_token', 'to', 'to_address', 'to_amount'], text),
  ...fieldsOf(['to_price_eth', 'to_price_usd', 'to_reserve', 'to_symbol', 'transaction', 'tvl'], text),
  wallet_address: text,
  ...fieldsOf(['block_number', 'time'], int),
  direction: Type.Union([Type.Literal('buy'), Type.Literal('sell')]),
  tx_swap_type: Type.Integer({
    minimum: 0,
    maximum: 2,
    description: '0: buy, 1: sell of the target token, 2: neither',
  }),
  wallet_tag: Type.Union([Type.Array(Type.String()), Type.Null()]),
}

export const tx: Topic = {
  name: 'tx',
  summary: 'Every swap of a pair',
  params: Type.Tuple([PairParam, ChainParam]),
  result: Type.Object({
    id: Type.String({ description: 'Pair address' }),
    topic: Type.Literal('tx'),
    tx: Type.Object({
      ...swapFields,
      profile: Type.String({ description: 'The wallet’s holdings as JSON; empty if the chain does not provide them' }),
      tx_seq: Type.String({ description: 'Position in the pair’s trade order' }),
    }),
    cursor: text,
  }),
  onSlow: 'disconnect',
  parse(args, context) {
    readCount(args, ['a pair address', 'a chain'], 'tx')
    const { address, chain } = readPairAddress(context, args[0], args[1])
    const channel = txChannel(address, chain)
    const refills = () => pairRefills('/v2/txs/swap', address, chain)
    return { canonical: channel, channels: [channel], chains: [chain], refills, snapshot: () => [] }
  },
}

export const txChannel = (pair: string, chain: string): string => `tx|${pair}|${chain}`

export const pushTrades: EntryPusher = ({ update, out, cursor }, { at, trades }, n) => {
  if (trades.length === 0) return
  const { pair } = at.pair
  const channels = [txChannel(pair, at.chain), txChannel(WHOLE_CHAIN, at.chain)].filter(out.isWanted)
  if (channels.length === 0) return
  trades.forEach((trade, index) => {
    const mark = cursor(n + index)
    const tx = { ...swapTx(at, update, trade), ...pairTradeFields(trade) }
    const result = JSON.stringify({ id: pair, topic: 'tx', tx, cursor: mark })
    out.publish(channels, { topic: 'tx', n: n + index, result, mergeKey: mark, sentTime: true })
  })
}

/** Fields only the pair-based push has. */
function pairTradeFields(trade: Trade) {
  return { profile: trade.profile === null ? '' : JSON.stringify(trade.profile), tx_seq: String(trade.tx_seq) }
}

export const multiTx: Topic = {
  name: 'multi_tx',
  summary: 'Every swap of a token in any pair; pushes have topic tx',
  params: Type.Tuple([TokenParam, ChainParam]),
  result: Type.Object({
    id: Type.String({ description: 'Pair address' }),
    topic: Type.Literal('tx'),
    tx: Type.Object(swapFields),
    cursor: text,
  }),
  onSlow: 'disconnect',
  parse(args, context) {
    readCount(args, ['a token address', 'a chain'], 'multi_tx')
    const { address, chain } = readAddress(context, args[0], args[1], 'token address')
    const channel = multiTxChannel(address, chain)
    const refills = () => tokenPairRefills(context, address, chain)
    return { canonical: channel, channels: [channel], chains: [chain], refills, snapshot: () => [] }
  },
}

export const multiTxChannel = (token: string, chain: string): string => `multi_tx|${token}|${chain}`

export const pushTokenTrades: EntryPusher = ({ update, out, cursor }, { at, trades }, n) => {
  if (trades.length === 0) return
  const { pair, info } = at.pair
  const channels = [info.token0, info.token1].map((token) => multiTxChannel(token, at.chain)).filter(out.isWanted)
  if (channels.length === 0) return
  trades.forEach((trade, index) => {
    const mark = cursor(n + index)
    const result = JSON.stringify({ id: pair, topic: 'tx', tx: swapTx(at, update, trade), cursor: mark })
    out.publish(channels, { topic: 'multi_tx', n: n + index, result, mergeKey: mark, sentTime: true })
  })
}

function swapTx(at: PairSnapshot, update: Pick<UpdateSnapshot, 'number' | 'timeS'>, trade: Trade) {
  const { pair } = at
  const targetIs0 = pair.info.target === 0
  const targetSide = {
    address: targetOf(pair),
    info: targetIs0 ? at.info0 : at.info1,
    reserveRaw: targetIs0 ? trade.reserve0 : trade.reserve1,
    priceUsd: trade.price_usd,
    priceNative: trade.price_native,
  }
  const quoteSide = {
    address: targetIs0 ? pair.info.token1 : pair.info.token0,
    info: targetIs0 ? at.info1 : at.info0,
    reserveRaw: targetIs0 ? trade.reserve1 : trade.reserve0,
    priceUsd: trade.quote_usd,
    priceNative: trade.quote_native,
  }
  const [from, to] = trade.sell ? [targetSide, quoteSide] : [quoteSide, targetSide]
  const quoteReserve = rawToNumber(quoteSide.reserveRaw, quoteSide.info.decimals)
  return {
    amm: pair.info.amm,
    amount_eth: decimalOrEmpty(trade.amount_native),
    amount_usd: decimalOrEmpty(trade.amount_usd),
    block_number: update.number,
    chain: at.chain,
    direction: trade.sell ? 'sell' : 'buy',
    from_address: from.address,
    from_amount: rawOrEmpty(trade.amount_in, from.info.decimals),
    from_price_eth: decimalOrEmpty(from.priceNative),
    from_price_usd: decimalOrEmpty(from.priceUsd),
    from_reserve: rawOrEmpty(from.reserveRaw, from.info.decimals),
    from_symbol: from.info.symbol ?? '',
    id: trade.id,
    pair_address: pair.pair,
    pair_liquidity_eth: decimalOrEmpty(quoteReserve * trade.quote_native),
    pair_liquidity_usd: decimalOrEmpty(quoteReserve * trade.quote_usd),
    pair_type: '',
    sender: trade.sender,
    target_token: targetSide.address,
    time: update.timeS,
    to: trade.recipient,
    to_address: to.address,
    to_amount: rawOrEmpty(trade.amount_out, to.info.decimals),
    to_price_eth: decimalOrEmpty(to.priceNative),
    to_price_usd: decimalOrEmpty(to.priceUsd),
    to_reserve: rawOrEmpty(to.reserveRaw, to.info.decimals),
    to_symbol: to.info.symbol ?? '',
    transaction: trade.tx_hash,
    tvl: decimalOrEmpty(pair.tvl),
    tx_swap_type: trade.sell ? 1 : 0,
    wallet_address: trade.wallet,
    wallet_tag: null,
  }
}
