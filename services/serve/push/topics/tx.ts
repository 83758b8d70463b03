import { Type } from '@sinclair/typebox'
import type { Trade } from '../../../core/domain/records.js'
import { text } from '../../views/field-formats.js'
import { pairRefills, tokenPairRefills } from '../gap-notices.js'
import { ChainParam, PairParam, readAddress, readCount, readPairAddress, TokenParam, WHOLE_CHAIN } from '../params.js'
import type { EntryPusher, Topic } from '../topic.js'
import { swapFields, swapTx } from './swap-tx.js'

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
