/** Subscriptions of a client and the pushes they received. */
import type { ContractMarket } from './market.js'

export type Result = Record<string, unknown>

/** A frame of either kind: a reply or a push. */
export type Frame = { id?: unknown; jsonrpc?: string; result?: Result; error?: object; sent_time?: number }

/** The parts of a client used here. */
export type Caller = {
  frames: readonly Frame[]
  call(method: string, params: unknown, id: number): Promise<Frame>
}

export type Subscription = { id: number; topic: string; params: unknown[]; ack: Frame }

export type RecordedPushes = {
  subscriptions: Subscription[]
  /** Sends every subscribe before waiting, so that few pushes are missed. */
  subscribeAll(wanted: readonly unknown[][]): Promise<void>
  /** Results of a subscription's pushes, in order, without notices such as retract. */
  results(subscription: Subscription): Result[]
  frames(subscription: Subscription): Frame[]
}

export function recordPushes(client: Caller): RecordedPushes {
  const subscriptions: Subscription[] = []
  const frames = ({ id }: Subscription): Frame[] => client.frames.filter((frame) => frame.id === id)
  return {
    subscriptions,
    async subscribeAll(wanted) {
      const made = wanted.map(async (params, at): Promise<Subscription> => {
        const id = subscriptions.length + 1 + at
        return { id, topic: String(params[0]), params, ack: await client.call('subscribe', params, id) }
      })
      subscriptions.push(...(await Promise.all(made)))
    },
    frames,
    results: (subscription) =>
      frames(subscription)
        .map(({ result }) => result ?? {})
        .filter(({ topic }) => topic === undefined || PUSHED.includes(String(topic))),
  }
}

const PUSHED = ['tx', 'liq', 'kline', 'price']

/** Pairs that compete to be the main pair of a token. */
export function rivalPairs(market: ContractMarket, chain: string): string[] {
  const token = market.token(chain, 'MEME')
  const pairs = market.pairs(chain).filter(({ token0, token1 }) => token0 === token || token1 === token)
  return pairs.slice(0, 3).map(({ pair }) => pair)
}

/** Subscriptions of one chain that cover every topic in every form of its params. */
export function wantedOf(market: ContractMarket, chain: string, intervals: readonly string[]): unknown[][] {
  const rivals = rivalPairs(market, chain)
  const [busiest = ''] = market.pairs(chain).map(({ pair }) => pair)
  const [first = '', second = ''] = rivals
  const pairs = [...new Set([busiest, ...rivals])]
  return [
    ...pairs.map((pair) => ['tx', pair, chain]),
    ...pairs.map((pair) => ['liq', pair, chain]),
    ['multi_tx', market.token(chain, 'MEME'), chain],
    ...intervals.map((interval) => ['kline', busiest, interval, chain]),
    ...pairs.filter((pair) => pair !== busiest).map((pair) => ['kline', pair, 'k1', chain]),
    ['multi_kline', [first, 'k15', chain], [second, 's1', chain]],
    ['price', [`${busiest}-${chain}`]],
    ['price', [`${market.token(chain, 'MEME')}-${chain}`, `${second}-${chain}`]],
  ]
}
