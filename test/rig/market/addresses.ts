/** Addresses and hashes in each family's format, derived from a label. */
import { createHash } from 'node:crypto'
import type { ChainFamily } from '../../../services/core/domain/chains.js'

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export function addressOf(family: ChainFamily, label: string): string {
  const digest = createHash('sha256').update(label).digest()
  return family === 'evm' ? `0x${digest.toString('hex').slice(0, 40)}` : base58(digest)
}

export function hashOf(family: ChainFamily, label: string): string {
  const digest = createHash('sha256').update(label).digest()
  return family === 'evm' ? `0x${digest.toString('hex')}` : base58(digest)
}

function base58(bytes: Uint8Array): string {
  let left = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  while (left > 0n) {
    text = (BASE58[Number(left % 58n)] ?? '') + text
    left /= 58n
  }
  return text.padStart(32, '1')
}
