/** What is read from an EVM chain, and from which nodes. */
import { normalAddress } from '../domain/chains.js'
import type { KnownContract } from '../domain/exchanges.js'
import { ADDRESS_FORM } from './chain-facts.js'
import { type CheckBudgetConfig, checkBudgetOf } from './check-budget.js'
import { type KnownLocker, LOCKERS } from './contracts/lockers.js'
import { POOL_FACTORIES } from './contracts/pool-factories.js'
import { POSITION_MANAGERS } from './contracts/position-managers.js'
import { SINGLETONS } from './contracts/singletons.js'
import type { ChainSection } from './file-schema.js'
import { describeNodeSource, type NodeSource, nodeSource } from './node-source.js'

/** Pools are addresses, pool ids of singletons, or `<token>_fo`. Lower case. */
export type EvmSourceConfig = NodeSource & {
  family: 'evm'
  /** The chain id the nodes must report, where it is known. */
  chainId?: number
  contracts: readonly KnownContract[]
  /** Undefined: the contracts of tokens are not checked. */
  risk?: TokenChecks
}

export type TokenChecks = CheckBudgetConfig & {
  /** Whether blocks of the past are checked too, which needs nodes that keep their state. */
  history: boolean
  /** Contracts that hold tokens and shares of pools until a date. Undefined: locks are not read. */
  lockers?: readonly KnownLocker[]
  /** Contracts whose positions (ERC-721) are believed. */
  positionManagers?: readonly string[]
}

/** Every built-in contract, by chain. */
export const BUILT_IN_CONTRACTS: ReadonlyMap<string, readonly KnownContract[]> = new Map(
  [...new Set([...Object.keys(POOL_FACTORIES), ...Object.keys(SINGLETONS)])].map((chain) => [
    chain,
    [...(POOL_FACTORIES[chain] ?? []), ...(SINGLETONS[chain] ?? [])],
  ]),
)

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
    ...checksOf(chain, section, problems),
  }
}

function checksOf(chain: string, section: ChainSection, problems: string[]): Pick<EvmSourceConfig, 'risk'> {
  const { risk = 'live' } = section
  const lockers = knownLockers(chain, section.lockers, problems)
  if (risk === 'off') return {}
  return {
    risk: {
      ...checkBudgetOf(section),
      history: risk === 'all',
      lockers,
      positionManagers: POSITION_MANAGERS[chain] ?? [],
    },
  }
}

/** The built-in ones, replaced by configured ones of the same address. */
function knownLockers(chain: string, given: ChainSection['lockers'], problems: string[]): KnownLocker[] {
  const byAddress = new Map((LOCKERS[chain] ?? []).map((locker) => [locker.address, locker]))
  for (const [index, { address: asGiven, kind, name = kind }] of (given ?? []).entries()) {
    const { pattern, form } = ADDRESS_FORM.evm
    if (!pattern.test(asGiven))
      problems.push(`"chains.${chain}.lockers.${index}.address" must be ${form}, got "${asGiven}"`)
    const address = normalAddress('evm', asGiven)
    byAddress.set(address, { address, kind, name })
  }
  return [...byAddress.values()]
}

export const describeEvmSource = (source: EvmSourceConfig): Record<string, unknown> => ({
  ...describeNodeSource(source),
  contracts: source.contracts.length,
  risk: source.risk === undefined ? 'off' : source.risk.history ? 'all' : 'live',
})

/** The known contracts of a chain: the built-in ones, replaced by configured ones of the same address. */
export function knownContracts(chain: string, given: ChainSection['contracts'], problems: string[]): KnownContract[] {
  const { pattern, form } = ADDRESS_FORM.evm
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
