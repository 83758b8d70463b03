/** The native coin in contracts' own words, and the token that stands for it in events. */
import type { ChainContracts } from './protocol.js'

/** Uniswap V4, four.meme. */
const ZERO = `0x${'0'.repeat(40)}`
/** Curve. */
const ALL_E = `0x${'e'.repeat(40)}`

export function tradedToken(address: string, { wrappedNative }: Pick<ChainContracts, 'wrappedNative'>): string {
  return address === ZERO || address === ALL_E ? (wrappedNative ?? address) : address
}
