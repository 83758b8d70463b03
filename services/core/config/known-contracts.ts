/** The contracts that are known of a chain: those built in, and under the same address the configured ones instead. */
import { normalAddress } from '../domain/chains.js'
import type { KnownContract } from '../domain/evm-contracts.js'
import { BUILT_IN_CONTRACTS } from './contracts/index.js'
import type { ChainSection } from './file-schema.js'

export const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/
export const ADDRESS_FORM = '0x and 40 hexadecimal digits'

export function knownContracts(chain: string, given: ChainSection['contracts'], problems: string[]): KnownContract[] {
  const byAddress = new Map((BUILT_IN_CONTRACTS.get(chain) ?? []).map((contract) => [contract.address, contract]))
  const checked = (key: string, address: string): string => {
    if (!EVM_ADDRESS.test(address))
      problems.push(`"chains.${chain}.contracts.${key}" must be an address (${ADDRESS_FORM}), got "${address}"`)
    return normalAddress('evm', address)
  }
  for (const [index, { address: asGiven, others, ...contract }] of (given ?? []).entries()) {
    const address = checked(`${index}.address`, asGiven)
    const roles = Object.entries(others ?? {}).map(([role, other]) => [role, checked(`${index}.others.${role}`, other)])
    byAddress.set(address, {
      ...contract,
      address,
      ...(others === undefined ? {} : { others: Object.fromEntries(roles) }),
    })
  }
  return [...byAddress.values()]
}
