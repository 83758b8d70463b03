/** Subscriptions of the contract's client and what they heard. */
import type { ContractMarket } from './market.js'

export type Result = Record<string, unknown>

/** A frame of either kind: a reply or a push. */
export type Frame = { id?: unknown; jsonrpc?: string; result?: Result; error?: object; sent_time?: number }

/** What of a client is used here. */
export type Caller = {
  frames: readonly Frame[]
  call(method: string, params: unknown, id: number): Promise<Frame>
}

export type Subscription = { id: number; topic: string; params: unknown[]; ack: Frame }

export type Heard = {
  subscriptions: Subscription[]
  /** Sends them all before it waits, so that little of what is played passes unheard. */
  subscribeAll(wanted: readonly unknown[][]): Promise<void>
  /** What a subscription's pushes said, in order; ours (retract and the like) left out. */
  results(subscription: Subscription): Result[]
  frames(subscription: Subscription): Frame[]
}

export function hearThrough(client: Caller): Heard {
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

/** The two pairs of a token that compete for being its main one are among the most traded. */
export function rivalPairs(market: ContractMarket, chain: string): string[] {
  const token = market.token(chain, 'MEME')
  const pairs = market.pairs(chain).filter(({ token0, token1 }) => token0 === token || token1 === token)
  return pairs.slice(0, 3).map(({ pair }) => pair)
}

/** Everything worth hearing of one chain, each topic in every form its params have. */
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
