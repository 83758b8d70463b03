import { Type } from '@sinclair/typebox'
import { fieldsOf, int, text } from '../../views/field-formats.js'
import { channelsOf, multiTxChannel, txChannel } from '../channels.js'
import { pairRefills, tokenPairRefills } from '../gap-notices.js'
import { ChainParam, PairParam, readAddress, readCount, readPairAddress, TokenParam } from '../params.js'
import type { EntryPusher, Topic } from '../topic.js'
import { pairSwapResult, swapResult, swapText } from './swap-text.js'

/** Swap fields of the pair-based and the token-based topic. */
export const swapFields = {
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

/** The swaps of a pair, to its own subscribers and then to those of its tokens. */
export const pushTrades: EntryPusher = ({ update, out, cursor }, { at, trades }, n) => {
  if (trades.length === 0) return
  const channels = channelsOf(at)
  const ofPair = channels.tx.filter(out.isWanted)
  const ofTokens = channels.multiTx.filter(out.isWanted)
  if (ofPair.length === 0 && ofTokens.length === 0) return
  const swaps = trades.map((trade) => swapText(at, update, trade))
  if (ofPair.length > 0) {
    for (const [index, trade] of trades.entries()) {
      const mark = cursor(n + index)
      const result = pairSwapResult(swaps[index] ?? '', trade, mark)
      out.publish(ofPair, { topic: 'tx', n: n + index, result, mergeKey: mark, sentTime: true })
    }
  }
  if (ofTokens.length === 0) return
  for (const [index, swap] of swaps.entries()) {
    const mark = cursor(n + index)
    const result = swapResult(swap, mark)
    out.publish(ofTokens, { topic: 'multi_tx', n: n + index, result, mergeKey: mark, sentTime: true })
  }
}
