import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { fieldsOf, int, num, text } from '../views/field-formats.js'

/** Messages beside the topics' pushes; older clients ignore their unknown topic names. */
export type Notice = { name: string; summary: string; result: TSchema }

/** The id of the subscribe request. */
const SubscriptionId = Type.Union([Type.String(), Type.Number(), Type.Null()])

export const Retract = Type.Object({
  topic: Type.Literal('retract'),
  id: Type.String({ description: 'Pair address' }),
  chain: text,
  to_block: int,
  ids: Type.Array(Type.String({ description: 'id of a swap or liquidity event' })),
  cursor: text,
})

export const Gap = Type.Object({
  topic: Type.Literal('gap'),
  subscription: SubscriptionId,
  chain: text,
  from: Type.String({ description: 'Cursor of the last push before the gap' }),
  to: Type.String({ description: 'Cursor of the last missing push' }),
  refill: Type.Union([Type.String(), Type.Null()], { description: 'REST path to read the missing data from' }),
})

export const Conflated = Type.Object({
  topic: Type.Literal('conflated'),
  subscription: SubscriptionId,
  count: Type.Integer({ minimum: 1, description: 'Pushes merged into later ones' }),
})

export const Bye = Type.Object({ topic: Type.Literal('bye'), reason: text })

/** The interface's main-pair switch message, sent on kline subscriptions; it has no topic. */
export const MainPairSwitch = Type.Object({
  data: Type.Object({
    chain: text,
    event: Type.Literal('switch_main_pair'),
    ...fieldsOf(['id', 'new_main_pair', 'old_main_pair', 'tag', 'token'], text),
    new_main_pair_data: Type.Object({
      ...fieldsOf(['amm', 'chain', 'pair', 'tag', 'target_token', 'token0_address', 'token0_symbol'], text),
      ...fieldsOf(['token1_address', 'token1_symbol'], text),
      ...fieldsOf(['init_reserve0', 'init_reserve1'], num),
      ...fieldsOf(['reserve0', 'reserve1', 'tvl'], Type.Union([num, Type.Null()])),
      ...fieldsOf(['token0_decimal', 'token1_decimal'], Type.Union([int, Type.Null()])),
    }),
  }),
  status: Type.Literal('ok'),
  cursor: text,
})

export const NOTICES: readonly Notice[] = [
  { name: 'retract', summary: 'Swaps and liquidity events removed by a reorg', result: Retract },
  { name: 'switch_main_pair', summary: 'The main pair of a token changed', result: MainPairSwitch },
  { name: 'gap', summary: 'Pushes that cannot be replayed, and the REST path to read them from', result: Gap },
  { name: 'conflated', summary: 'Number of pushes merged for a slow client', result: Conflated },
  { name: 'bye', summary: 'The server closes the socket, with the reason', result: Bye },
]

/** Encodes the `result` of a notice. */
export function noticeResult(notice: Static<typeof Retract | typeof Gap | typeof Conflated | typeof Bye>): string {
  return JSON.stringify(notice)
}

/** Encodes a notice about one subscription. */
export function subscriptionNotice(notice: Static<typeof Gap | typeof Conflated>): string {
  return `{"id":${JSON.stringify(notice.subscription)},"jsonrpc":"2.0","result":${noticeResult(notice)}}`
}

export function byeText(reason: string): string {
  return `{"jsonrpc":"2.0","result":${noticeResult({ topic: 'bye', reason })}}`
}
