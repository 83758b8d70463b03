import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { fieldsOf, int, num, text } from '../views/field-formats.js'

/** Messages of our own beside the topics' pushes: topic words that older programs do not know and pass over. */
export type Notice = { name: string; summary: string; result: TSchema }

/** The id of the subscribe, as it was sent. */
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
  from: Type.String({ description: 'The cursor behind which pushes are missing' }),
  to: Type.String({ description: 'The cursor up to which they are missing' }),
  refill: Type.Union([Type.String(), Type.Null()], { description: 'The REST path that has them' }),
})

export const Conflated = Type.Object({
  topic: Type.Literal('conflated'),
  subscription: SubscriptionId,
  count: Type.Integer({ minimum: 1, description: 'Pushes that were merged into later ones' }),
})

export const Bye = Type.Object({ topic: Type.Literal('bye'), reason: text })

/** The interface's own main-pair switch message, on kline subscriptions; it has no topic. */
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
  { name: 'retract', summary: 'Swaps and liquidity events that a reorg took back', result: Retract },
  { name: 'switch_main_pair', summary: 'The main pair of a token changed', result: MainPairSwitch },
  { name: 'gap', summary: 'Pushes that cannot be replayed, and where they can be read', result: Gap },
  { name: 'conflated', summary: 'How many pushes were merged for a slow reader', result: Conflated },
  { name: 'bye', summary: 'Why the server closes the socket', result: Bye },
]

/** The `result` of a notice, encoded. */
export function noticeResult(notice: Static<typeof Retract | typeof Gap | typeof Conflated | typeof Bye>): string {
  return JSON.stringify(notice)
}

/** A notice about one subscription, whole. */
export function subscriptionNotice(notice: Static<typeof Gap | typeof Conflated>): string {
  return `{"id":${JSON.stringify(notice.subscription)},"jsonrpc":"2.0","result":${noticeResult(notice)}}`
}

export function byeText(reason: string): string {
  return `{"jsonrpc":"2.0","result":${noticeResult({ topic: 'bye', reason })}}`
}
