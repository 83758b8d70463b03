/** The native coin in contracts' own words, and the token that stands for it in events. */
import { ZERO_ADDRESS } from '../../../core/domain/chains.js'
import type { ChainContracts } from './protocol.js'

/** Uniswap V4, four.meme. */
/** Curve. */
const ALL_E = `0x${'e'.repeat(40)}`

export function tradedToken(address: string, { wrappedNative }: Pick<ChainContracts, 'wrappedNative'>): string {
  return address === ZERO_ADDRESS || address === ALL_E ? (wrappedNative ?? address) : address
}
