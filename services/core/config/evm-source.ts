/** What is read of an EVM chain, and from which nodes. */
import type { KnownContract } from '../domain/evm-contracts.js'
import { ADDRESS_FORM } from './address-form.js'
import type { ChainSection } from './file-schema.js'
import { describeNodeSource, type NodeSource, nodeSource } from './node-source.js'

/** Pools are addresses, singletons' pool ids, or `<token>_fo`. Lower case. */
export type EvmSourceConfig = NodeSource & {
  family: 'evm'
  /** What the nodes must say they are, where it is known. */
  chainId?: number
  contracts: readonly KnownContract[]
}

type Facts = { chain: string; chainId?: number }

const POOL = {
  pattern: /^0x([0-9a-fA-F]{64}|[0-9a-fA-F]{40}(_fo)?)$/,
  form: 'a pool: its address (0x and 40 hexadecimal digits), its id (0x and 64), or a token and "_fo"',
}

export function evmSource(
  { chain, chainId }: Facts,
  section: ChainSection,
  contracts: readonly KnownContract[],
  problems: string[],
): EvmSourceConfig {
  const amms = [...new Set(contracts.map(({ amm }) => amm))].sort()
  return {
    family: 'evm',
    ...nodeSource(chain, section, { family: 'evm', pool: POOL, token: ADDRESS_FORM.evm, amms }, problems),
    ...(chainId === undefined ? {} : { chainId }),
    contracts,
  }
}

export const describeEvmSource = (source: EvmSourceConfig): Record<string, unknown> => ({
  ...describeNodeSource(source),
  contracts: source.contracts.length,
})
