import type { Candle, LiquidityEvent, PairDetail, PushResults, Swap, TokenDetail } from './generated/interface.js'

export type Interval = 's1' | 'k1' | 'k5' | 'k15' | 'k30' | 'k60' | 'k120' | 'k240' | 'k1440' | 'k10080'

/** What to subscribe to. A pair `*` is every pair of the chain (plan unlimited). */
export type SubscribeParams =
  | readonly ['tx' | 'liq', pair: string, chain: string]
  | readonly ['multi_tx', token: string, chain: string]
  | readonly ['kline', pair: string, interval: Interval, chain: string]
  | readonly ['multi_kline', ...series: (readonly [pair: string, interval: Interval, chain: string])[]]
  | readonly ['price', ids: readonly string[]]
  | readonly ['wallet', address: string, chain: string]
  | readonly ['signal', chain: string]

export type Topic = SubscribeParams[0]

type GapPlace = { chain: string; from: string; to: string }

/**
 * Pushes that are missing and that the client could not read by REST; `error` says why. The `refill` of a
 * wallet or of signals is a path that the client does not read.
 */
export type Gap = GapPlace & { topic: 'gap'; refill: string | null; error?: Error }

/** Missing data that the client read by REST, in pages. Items that were already delivered are left out. */
export type Refill<Of extends string, Item> = GapPlace & {
  topic: 'refill'
  of: Of
  /** Pair id or token id. */
  id: string
  /** Delivered items that a reorg inside the gap removed or replaced: remove them before adding `items`. */
  retracted: string[]
  items: Item[]
}

/** The server merged pushes because this client's network was slow. */
export type Conflated = { topic: 'conflated'; count: number }
export type SwitchMainPair = PushResults['switch_main_pair']['data'] & { topic: 'switch_main_pair'; cursor: string }

type ItemsByTopic = {
  tx: PushResults['tx'] | PushResults['retract'] | Refill<'swaps', Swap>
  multi_tx: PushResults['multi_tx'] | PushResults['retract'] | Refill<'swaps', Swap>
  liq: PushResults['liq'] | PushResults['retract'] | Refill<'liquidity', LiquidityEvent>
  kline: PushResults['kline'] | SwitchMainPair | Refill<'candles', Candle>
  multi_kline: PushResults['multi_kline'] | SwitchMainPair | Refill<'candles', Candle>
  signal: PushResults['signal'] | PushResults['retract']
  wallet: PushResults['wallet'] | PushResults['retract']
  price: PushResults['price'] | Refill<'pair', PairDetail> | Refill<'token', TokenDetail>
}

/** What a subscription to a topic delivers. */
export type Item<Name extends Topic = Topic> = ItemsByTopic[Name] | Gap | Conflated

export type Started = {
  /** Positions at the start, one per chain. */
  cursor: string[]
  /** Ids that have not been seen yet. */
  unknown: string[]
}

/**
 * Two subscriptions with the same name here are one to the server, if they share a socket: it ignores case on EVM chains, the
 * order of items, and whether one series is `kline` or `multi_kline`.
 */
export function serverNameOf(params: SubscribeParams): string {
  const [topic, ...args] = params
  const items = topic === 'multi_kline' || topic === 'price' ? args.flat(topic === 'price' ? 1 : 0) : [args]
  const names = items.map((item) => JSON.stringify(item).toLowerCase()).sort()
  return `${topic === 'multi_kline' ? 'kline' : topic} ${[...new Set(names)].join(' ')}`
}

export const chainOfCursor = (cursor: string): string => cursor.split(':')[1] ?? ''
