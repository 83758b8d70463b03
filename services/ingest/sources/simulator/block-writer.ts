/** Gathers a block's events and gives them their places. */
import type { ChainFamily } from '../../../core/domain/chains.js'
import type { Event } from '../../../core/domain/records.js'
import { spellTxHash } from './addresses.js'
import type { Random } from './random.js'

export type Place = { tx_index: number; log_index: number; sub: number; tx_hash: string }

export type BlockWriter = {
  /** The next events belong to a transaction of its own. */
  transaction(): void
  /** The place of the next event. */
  place(): Place
  readonly events: Event[]
  swaps: number
}

export function createBlockWriter(family: ChainFamily, random: Random): BlockWriter {
  let txIndex = -1
  let logIndex = -1
  let txHash = ''
  return {
    transaction() {
      txIndex += 1
      txHash = spellTxHash(family, random)
      // EVM logs are numbered through the block; on Solana a transaction's instructions start again.
      if (family !== 'evm') logIndex = -1
    },
    place() {
      logIndex += 1
      return { tx_index: txIndex, log_index: logIndex, sub: 0, tx_hash: txHash }
    },
    events: [],
    swaps: 0,
  }
}
