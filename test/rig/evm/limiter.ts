/** A provider's limits: requests per second, and blocks per query. */
import { fault, type ProxiedNode, type RpcRequest, type RunningProxy, startProxy } from './proxy.js'

/** `maxBlocks`: for `eth_getLogs`. */
export type Limits = { requestsPerS: number; maxBlocks?: number }
export type Limiter = RunningProxy & {
  /** All requests received, each of a batch counted. */
  readonly asked: number
  /** Requests answered with 429. */
  readonly refused: number
  /** The most requests within any second. */
  readonly mostPerS: number
}

const WINDOW_MS = 1000

export async function startLimiter(
  node: ProxiedNode,
  { requestsPerS, maxBlocks = Number.POSITIVE_INFINITY }: Limits,
): Promise<Limiter> {
  const counts = { asked: 0, refused: 0, mostPerS: 0 }
  let recent: number[] = []
  const proxy = await startProxy(node, {
    async pass({ requests, batch }, upstream) {
      const nowMs = performance.now()
      recent = recent.filter((atMs) => nowMs - atMs < WINDOW_MS)
      counts.asked += requests.length
      if (recent.length + requests.length > requestsPerS) {
        counts.refused += requests.length
        const message = `Your app has exceeded its capacity of ${requestsPerS} requests per second`
        const refusals = requests.map(({ id }) => fault(id, 429, message))
        return { kind: 'answer', status: 429, headers: { 'retry-after': '1' }, body: batch ? refusals : refusals[0] }
      }
      recent.push(...requests.map(() => nowMs))
      counts.mostPerS = Math.max(counts.mostPerS, recent.length)
      const tooWide = requests.map((request) => refusalOf(request, maxBlocks))
      const answers = await upstream(requests)
      const limited = answers.map((answer, at) => tooWide[at] ?? answer)
      return { kind: 'answer', body: batch ? limited : limited[0] }
    },
  })
  return {
    ...proxy,
    get asked() {
      return counts.asked
    },
    get refused() {
      return counts.refused
    },
    get mostPerS() {
      return counts.mostPerS
    },
  }
}

function refusalOf({ id, method, params }: RpcRequest, maxBlocks: number) {
  const [filter] = (params ?? []) as [{ fromBlock?: string; toBlock?: string }?]
  if (method !== 'eth_getLogs' || filter?.fromBlock === undefined) return undefined
  const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
  if (to - from + 1 <= maxBlocks) return undefined
  const hex = (number: number) => `0x${number.toString(16)}`
  return fault(
    id,
    -32600,
    `You can make eth_getLogs requests with up to a ${maxBlocks} block range. ` +
      `Based on your parameters, this block range should work: [${hex(from)}, ${hex(from + maxBlocks - 1)}]`,
  )
}
