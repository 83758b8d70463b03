/**
 * Some chains leave logs out of their blocks' blooms: Polygon's state-sync transactions, chains whose blooms are all zeros. Such a
 * log is believed where its transaction's receipt has it too.
 */
import type { EvmLog } from '../../../decode/evm/log.js'
import { blameOn } from '../../nodes/blame.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import type { FullHeader } from './check-headers.js'
import { quantity } from './hex.js'

export interface ReceiptWitness {
  /** Whether this chain was found to have no blooms at all. */
  trustsWithout(bloom: string): boolean
  /** False where a receipt does not have its log. */
  confirms(header: FullHeader, logs: readonly EvmLog[], asking: Asking): Promise<boolean>
}

type WireReceipt = { blockHash?: unknown; logs?: unknown }
type WireLog = { logIndex?: unknown; address?: unknown; topics?: unknown; data?: unknown } | null

const ZEROS = /^0x0+$/
/** So many blocks with logs and an empty bloom: the chain has none. */
const ENOUGH = 3

export function createReceiptWitness(pool: EndpointPool, chain: string): ReceiptWitness {
  let withoutBloom = 0
  return {
    trustsWithout: (bloom) => withoutBloom >= ENOUGH && ZEROS.test(bloom),
    async confirms(header, logs, asking) {
      const byTx = new Map<string, EvmLog[]>()
      for (const log of logs) byTx.set(log.txHash, [...(byTx.get(log.txHash) ?? []), log])
      const wanted = [...byTx]
      const found = await pool.ask(
        wanted.map(([txHash]) => ({ method: 'eth_getTransactionReceipt', params: [txHash] })),
        (result, place, endpoint) => {
          const [txHash, its] = wanted[place] as [string, EvmLog[]]
          if (result === null) throw blameOn(endpoint, chain)('lags', `no receipt of ${txHash}`, header.number)
          const { blockHash, logs: told } = result as WireReceipt
          const known = new Map((Array.isArray(told) ? told : []).map((log: WireLog) => [quantity(log?.logIndex), log]))
          return blockHash === header.hash && its.every((log) => isSame(log, known.get(log.logIndex)))
        },
        asking,
      )
      const confirmed = found.every((one) => one)
      if (confirmed && header.bloom !== null && ZEROS.test(header.bloom)) withoutBloom++
      return confirmed
    },
  }
}

function isSame({ address, topics, data }: EvmLog, told: WireLog | undefined): boolean {
  if (told === undefined || told === null) return false
  const text = (of: unknown[]) => of.join().toLowerCase()
  const theirs = [told.address, told.data, ...(Array.isArray(told.topics) ? told.topics : [])]
  return text(theirs) === text([address, data, ...topics])
}
