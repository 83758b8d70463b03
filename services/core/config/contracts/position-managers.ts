/**
 * Contracts that own the positions of Uniswap V3 and Pancake V3 pools and give each a token (ERC-721), by chain. Each address was found
 * in two independent public places: the deployments of the exchange's documentation, and other projects' configurations. Only
 * these are believed: any contract can claim that a position of its own is burnt.
 */
const UNISWAP = '0xc36442b4a4522e871399cd717abdd847ab11fe88'

export const POSITION_MANAGERS: Readonly<Record<string, readonly string[]>> = {
  eth: [UNISWAP],
  // Pancake's and Uniswap's.
  bsc: ['0x46a15b0b27311cedf172ab29e4f4766fbe7f4364', '0x7b8a01b39d58278b5de7e48c8449c9f4f5170613'],
  base: ['0x03a520b32c04bf3beef7beb72e919cf822ed34f1'],
  arbitrum: [UNISWAP],
  optimism: [UNISWAP],
  polygon: [UNISWAP],
}
