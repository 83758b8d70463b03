/**
 * Some chains leave logs out of their blocks' blooms: Polygon's state-sync transactions, chains whose blooms are all zeros. Such a
 * log is believed where its transaction's receipt has it too.
 */
import type { EvmLog } from '../../../decode/evm/log.js'
import { blameOn } from './blame.js'
import type { FullHeader } from './check-headers.js'
import type { Asking, EndpointPool } from './endpoint-pool.js'
import { quantity } from './hex.js'

export interface ReceiptWitness {
  /** Whether this chain was found to have no blooms at all. */
  trustsWithout(bloom: string): boolean
  /** Throws a fault where a receipt does not have its log. */
  confirm(header: FullHeader, logs: readonly EvmLog[], asking: Asking): Promise<void>
}

type WireReceipt = { blockHash?: unknown; logs?: unknown }

const ZEROS = /^0x0+$/
/** So many blocks with logs and an empty bloom: the chain has none. */
const ENOUGH = 3

export function createReceiptWitness(pool: EndpointPool, chain: string): ReceiptWitness {
  let withoutBloom = 0
  return {
    trustsWithout: (bloom) => withoutBloom >= ENOUGH && ZEROS.test(bloom),
    async confirm(header, logs, asking) {
      const byTx = new Map<string, EvmLog[]>()
      for (const log of logs) byTx.set(log.txHash, [...(byTx.get(log.txHash) ?? []), log])
      const wanted = [...byTx]
      await pool.ask(
        wanted.map(([txHash]) => ({ method: 'eth_getTransactionReceipt', params: [txHash] })),
        (result, place, endpoint) => {
          const [txHash, its] = wanted[place] as [string, EvmLog[]]
          const blame = blameOn(endpoint, chain)
          if (result === null) throw blame('lags', `no receipt of ${txHash}`, header.number)
          const { blockHash, logs: told } = result as WireReceipt
          const indexes = new Set(Array.isArray(told) ? told.map((log) => quantity(log?.logIndex)) : [])
          if (blockHash !== header.hash || !its.every(({ logIndex }) => indexes.has(logIndex)))
            throw blame('lies', 'a log that neither the block’s bloom nor its receipt has', header.number)
        },
        asking,
      )
      if (header.bloom !== null && ZEROS.test(header.bloom)) withoutBloom++
    },
  }
}
