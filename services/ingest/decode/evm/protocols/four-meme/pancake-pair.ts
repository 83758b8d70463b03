/** Where Pancake V2's pair of two tokens is or will be: an address made of the factory, the tokens and the pair's code (CREATE2, EIP-1014). */
import { keccak_256 } from '@noble/hashes/sha3'

// pancake-swap-periphery: PancakeLibrary.sol, on BNB Smart Chain.
const FACTORY = 'ca143ce32fe78f1f7019d7d551a6402fc5350c73'
const CODE_HASH = '00fb7f630766e6a796048ea87d01acd3068e8ff67d078148a3fa3f4a84f69bd5'

export function pancakePairOf(tokens: readonly string[]): string {
  const salt = hashOf(
    tokens
      .map((token) => token.slice(2))
      .toSorted()
      .join(''),
  )
  return `0x${hashOf(`ff${FACTORY}${salt}${CODE_HASH}`).slice(24)}`
}

function hashOf(digits: string): string {
  return Buffer.from(keccak_256(Buffer.from(digits, 'hex'))).toString('hex')
}
