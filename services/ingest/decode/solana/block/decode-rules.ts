/** What to decode: the chain's programs, and the scope. */
import type { Scope } from '../../scope.js'
import type { Pool, Program } from '../program-decoder.js'

export type SolanaRules = {
  scope: Scope
  /** Money tokens: too widely held for balances to be followed unless named. */
  money: ReadonlySet<string>
  programOf(programId: string): Program | undefined
  areLocksFollowed: boolean
  /** Whether it is a program that holds tokens until a date, and locks are followed. */
  isLocker(programId: string): boolean
}

export function createSolanaRules(
  options: Pick<SolanaRules, 'scope' | 'money'> & { programs: readonly Program[]; lockers?: readonly string[] },
): SolanaRules {
  const { scope, money, programs, lockers = [] } = options
  const byId = new Map(programs.flatMap((program) => program.programIds.map((id) => [id, program] as const)))
  const starts = new Uint8Array(LETTERS * LETTERS)
  for (const id of [...byId.keys(), ...lockers]) starts[startOf(id)] = 1
  // Called for every account of every transaction; hardly any starts like a program's address.
  return {
    ...{ scope, money, areLocksFollowed: lockers.length > 0 },
    programOf: (id) => (starts[startOf(id)] === 1 ? byId.get(id) : undefined),
    isLocker: (id) => starts[startOf(id)] === 1 && lockers.includes(id),
  }
}

/** ASCII. */
const LETTERS = 128

function startOf(key: string): number {
  return key.charCodeAt(0) * LETTERS + key.charCodeAt(1)
}

export function isPoolWanted({ pools, tokens, amms }: Scope, { pool, amm, token0, token1 }: Pool): boolean {
  // A pool of a token against itself has no price.
  if (token0 === token1) return false
  if (pools.has(pool)) return true
  if (amms.size > 0 && !amms.has(amm)) return false
  if (pools.size === 0 && tokens.size === 0) return true
  return tokens.has(token0) || tokens.has(token1)
}

/** `isTraded`: whether a pool of it was published before. */
export function areBalancesWanted({ scope, money }: SolanaRules, mint: string, isTraded: boolean): boolean {
  if (scope.holders?.has(mint) === true) return true
  if (scope.balances === 'off') return false
  return scope.balances === 'all' || scope.tokens.has(mint) || (isTraded && !money.has(mint))
}
