import { Type } from '@sinclair/typebox'
import { liquidityFields, liquidityItem } from '../../views/event-items.js'
import { int, text } from '../../views/field-formats.js'
import { channelsOf, liqChannel } from '../channels.js'
import { pairRefills } from '../gap-notices.js'
import { ChainParam, PairParam, readCount, readPairAddress } from '../params.js'
import type { EntryPusher, Topic } from '../topic.js'

export const liq: Topic = {
  name: 'liq',
  summary: 'Every liquidity event of a pair',
  params: Type.Tuple([PairParam, ChainParam]),
  result: Type.Object({
    id: Type.String({ description: 'Pair address' }),
    topic: Type.Literal('liq'),
    tx: Type.Object({ ...liquidityFields(text), time: int }),
    cursor: text,
  }),
  onSlow: 'disconnect',
  parse(args, context) {
    readCount(args, ['a pair address', 'a chain'], 'liq')
    const { address, chain } = readPairAddress(context, args[0], args[1])
    const channel = liqChannel(address, chain)
    const refills = () => pairRefills('/v2/txs/liq', address, chain)
    return { canonical: channel, channels: [channel], chains: [chain], refills, snapshot: () => [] }
  },
}

export const pushLiquidity: EntryPusher = ({ update, out, cursor }, { at, liquidity }, n) => {
  if (liquidity.length === 0) return
  const { pair } = at.pair
  const channels = channelsOf(at).liq.filter(out.isWanted)
  if (channels.length === 0) return
  liquidity.forEach((event, index) => {
    const mark = cursor(n + index)
    const item = liquidityItem(at, { ...event, timeS: update.timeS, blockNumber: update.number })
    const tx = { ...item, time: update.timeS }
    const result = JSON.stringify({ id: pair, topic: 'liq', tx, cursor: mark }, unknownAsEmpty)
    out.publish(channels, { topic: 'liq', n: n + index, result, mergeKey: mark, sentTime: true })
  })
}

/** Pushes have no null: unknown values are empty. */
const unknownAsEmpty = (_name: string, value: unknown): unknown => (value === null ? '' : value)
