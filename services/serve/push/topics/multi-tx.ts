import { Type } from '@sinclair/typebox'
import { text } from '../../views/schema.js'
import { ChainParam, readAddress, readCount, TokenParam } from '../params.js'
import { tokenPairRefills } from '../gap-notices.js'
import type { EntryPusher, Topic } from '../topic.js'
import { swapFields, swapTx } from './swap-tx.js'

export const multiTx: Topic = {
  name: 'multi_tx',
  summary: 'Every swap of every pair that has a token on either side; the pushes’ topic is tx',
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

export const pushTokenTrades: EntryPusher = ({ moment, out, cursor }, { at, trades }, n) => {
  if (trades.length === 0) return
  const { pair, info } = at.pair
  const channels = [info.token0, info.token1].map((token) => multiTxChannel(token, at.chain)).filter(out.isWanted)
  if (channels.length === 0) return
  trades.forEach((trade, index) => {
    const mark = cursor(n + index)
    const result = JSON.stringify({ id: pair, topic: 'tx', tx: swapTx(at, moment, trade), cursor: mark })
    out.publish(channels, { topic: 'multi_tx', n: n + index, result, mergeKey: mark, sentTime: true })
  })
}
