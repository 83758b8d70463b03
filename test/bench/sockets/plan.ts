/** Subscriptions of each socket, from a seed: all topics, busy and quiet pairs of every chain. */
import { INTERVALS } from '../../../services/core/domain/chains.js'
import { channelsOf } from './expected.js'

export type Listed = { chain: string; token: string; pair: string; swapsADay: number }
export type Plan = readonly (readonly unknown[])[]

type Random = () => number

/**
 * Of 20 subscriptions, some are candles and prices of any pair (at most one push per block), the others swaps and
 * liquidity events of the quieter half. The load then grows linearly with the sockets, not with their square.
 */
export function planSockets(sockets: number, each: number, listed: readonly Listed[], random: Random): Plan[] {
  const quiet = [...listed].sort((a, b) => a.swapsADay - b.swapsADay).slice(0, Math.ceil(listed.length / 2))
  const any = () => pick(listed, random)
  const makers = [
    () => subscribeKline(any(), random),
    () => subscribeKline(any(), random),
    () => subscribeTx(pick(quiet, random)),
    () => subscribePrice([any(), any()], random),
    () => subscribeLiq(any()),
    () => subscribeKline(any(), random),
    () => subscribeMultiKline([any(), any()], random),
    () => subscribeMultiTx(pick(quiet, random)),
    () => subscribePrice([any()], random),
    () => subscribeLiq(pick(quiet, random)),
  ]
  return Array.from({ length: sockets }, () => {
    const plan = new Map<string, unknown[]>()
    for (let n = 0; plan.size < each; n += 1) {
      const params = makers[n % makers.length]?.() ?? []
      plan.set(subscriptionKey(params), params)
    }
    return [...plan.values()]
  })
}

/** Equivalent params are one subscription: the server keeps only the last one of a socket. */
function subscriptionKey(params: readonly unknown[]): string {
  const channels = [...channelsOf(params).values()].flat()
  return `${params[0]} ${[...new Set(channels)].sort().join(' ')}`
}

const subscribeTx = ({ pair, chain }: Listed) => ['tx', pair, chain]
const subscribeLiq = ({ pair, chain }: Listed) => ['liq', pair, chain]
const subscribeMultiTx = ({ token, chain }: Listed) => ['multi_tx', token, chain]
const subscribeKline = ({ pair, chain }: Listed, random: Random) => ['kline', pair, pick(INTERVALS, random), chain]
const subscribeMultiKline = (listed: readonly Listed[], random: Random) => [
  'multi_kline',
  ...listed.map(({ pair, chain }) => [pair, pick(INTERVALS, random), chain]),
]
const subscribePrice = (listed: readonly Listed[], random: Random) => [
  'price',
  listed.map(({ pair, token, chain }) => `${random() < 0.5 ? pair : token}-${chain}`),
]

function pick<T>(list: readonly T[], random: Random): T {
  const found = list[Math.floor(random() * list.length)]
  if (found === undefined) throw new Error('nothing to pick from')
  return found
}
