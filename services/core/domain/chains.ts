/** Facts of a chain: its family (address form, square-root prices) and which tokens rank as quotes. */
export type ChainFamily = 'evm' | 'solana'

export type ChainMoney = {
  /** The USD anchor: worth 1 by definition. */
  anchor?: string
  stables: readonly string[]
  /** The wrapped native coin. */
  native?: string
  majors: readonly string[]
}

export type ChainFacts = ChainMoney & {
  chain: string
  family: ChainFamily
  /** The chain id where the family has one. */
  chainId?: number
  title: string
  /** Tokens with a known audit. */
  audited?: readonly string[]
  /** Logo URLs by token address, from token lists. */
  logos?: ReadonlyMap<string, string>
}

export const INTERVALS = ['s1', 'k1', 'k5', 'k15', 'k30', 'k60', 'k120', 'k240', 'k1440', 'k10080'] as const
export type Interval = (typeof INTERVALS)[number]

export const WINDOWS = ['1m', '5m', '15m', '1h', '4h', '24h'] as const
export type WindowName = (typeof WINDOWS)[number]
/** The windows updates carry: to the minute. The others, to the second, are counted from the last minutes' trades. */
export const UPDATE_WINDOWS = ['15m', '1h', '4h', '24h'] as const satisfies readonly WindowName[]

/** On EVM chains: no one, or the native coin where a currency is meant. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/** No one has the keys of these addresses, so their balances are burnt. */
export const BURN_ADDRESSES: Record<ChainFamily, readonly string[]> = {
  evm: [ZERO_ADDRESS, `0x${'0'.repeat(36)}dead`],
  solana: ['1nc1nerator11111111111111111111111111111111'],
}

/** EVM addresses ignore case; Solana's do not. */
export function normalAddress(family: ChainFamily, address: string): string {
  return family === 'evm' ? address.toLowerCase() : address
}
