/** Plausible but wrong answers. */
import type { Random } from '../market/random.js'
import type { RpcAnswer, RpcRequest, Upstream } from './proxy.js'

const MOST_BLOCKS_BEHIND = 5

/** Null: no lie is possible. */
export async function lieAbout(
  { id, method, params = [] }: RpcRequest,
  answer: RpcAnswer,
  random: Random,
  upstream: Upstream,
): Promise<RpcAnswer | null> {
  const { result } = answer
  if (method === 'eth_getLogs' && Array.isArray(result) && result.length > 0) {
    const isRange = (params[0] as { blockHash?: string }).blockHash === undefined
    return { ...answer, result: wrongLogs(result, isRange, random) }
  }
  if (method === 'eth_blockNumber')
    return { ...answer, result: hex(Math.max(0, Number(result) - random.int(1, MOST_BLOCKS_BEHIND))) }
  if (method !== 'eth_getBlockByNumber' || result === null) return null
  if (params[0] !== 'latest') return { ...answer, result: null }
  const { number } = result as { number: string }
  const behind = hex(Math.max(0, Number(number) - random.int(1, MOST_BLOCKS_BEHIND)))
  const [old] = await upstream([{ jsonrpc: '2.0', id, method, params: [behind, ...params.slice(1)] }])
  return old ?? null
}

/** Drops a random tail (of a single block: all logs), duplicates some, or reorders them. */
function wrongLogs(logs: readonly unknown[], isRange: boolean, random: Random): unknown[] {
  const kind = random.pick(isRange ? ['cut', 'cut', 'twice', 'shuffled'] : ['none', 'twice', 'shuffled'])
  if (kind === 'none') return []
  if (kind === 'cut') return logs.slice(0, random.int(0, logs.length - 1))
  if (kind === 'twice') return logs.flatMap((log) => (random.chance(0.3) ? [log, log] : [log]))
  return shuffled(logs, random)
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items]
  const mixed: T[] = []
  while (left.length > 0) mixed.push(...left.splice(random.int(0, left.length - 1), 1))
  return mixed
}

const hex = (number: number): string => `0x${number.toString(16)}`
