/** The contracts that are known of a chain: those built in, and under the same address the configured ones instead. */
import { normalAddress } from '../domain/chains.js'
import type { KnownContract } from '../domain/evm-contracts.js'
import { ADDRESS_FORM } from './address-form.js'
import { BUILT_IN_CONTRACTS } from './contracts/index.js'
import type { ChainSection } from './file-schema.js'

const { pattern, form } = ADDRESS_FORM.evm

export function knownContracts(chain: string, given: ChainSection['contracts'], problems: string[]): KnownContract[] {
  const byAddress = new Map((BUILT_IN_CONTRACTS.get(chain) ?? []).map((contract) => [contract.address, contract]))
  const checked = (key: string, address: string): string => {
    if (!pattern.test(address)) problems.push(`"chains.${chain}.contracts.${key}" must be ${form}, got "${address}"`)
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
