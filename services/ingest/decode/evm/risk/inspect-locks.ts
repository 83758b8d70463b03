/** Reads how much of a token, and of the shares of its pool, is burnt or held by lockers at a block. */
import type { KnownLocker } from '../../../../core/config/contracts/lockers.js'
import { BURN_ADDRESSES } from '../../../../core/domain/chains.js'
import { type Answer, answeredUint } from '../abi/view-calls.js'
import { balanceCall, supplyCall } from '../erc20.js'
import type { Call } from '../protocol.js'
import type { Inspection, StateRequest } from './inspect-token.js'
import { interfaceOf, type Lock } from './lockers.js'

export type HeldLock = Omit<Lock, 'unlockAtS'> & {
  locker: KnownLocker
  /** Null: the locker does not tell until when. */
  unlockAtS: number | null
}

/** Of a token, or of the shares of a pool. Raw amounts; null: not answered. */
export type Holding = { address: string; total: bigint | null; burnt: bigint | null; locks: readonly HeldLock[] | null }

export type LockInspection = {
  token: Holding
  /** Null: the pool's shares are no token (Uniswap V3), or there is no pool. */
  pair: Holding | null
}

const BURN = BURN_ADDRESSES.evm

export function* inspectLocks(
  token: string,
  pair: string | null,
  lockers: readonly KnownLocker[],
  nowS: number,
): Inspection<LockInspection> {
  const subjects = pair === null ? [token] : [token, pair]
  const held = yield requests(
    subjects.flatMap((subject) => [
      supplyCall(subject),
      ...[...BURN, ...lockers.map(({ address }) => address)].map((holder) => balanceCall(subject, holder)),
    ]),
  )
  const width = 1 + BURN.length + lockers.length
  const holdings = subjects.map((address, place): Holding & { vaults: Vault[] } => {
    const [total, ...balances] = held.slice(place * width, (place + 1) * width).map((answer) => answeredUint(answer))
    const burnt = balances.slice(0, BURN.length)
    const vaults = lockers.map((locker, index) => ({ address, locker, balance: balances[BURN.length + index] ?? null }))
    return { address, total: total ?? null, burnt: sumOf(burnt), locks: null, vaults }
  })
  const vaults = holdings.flatMap((holding) => holding.vaults.filter(({ balance }) => balance !== null && balance > 0n))
  const lists =
    vaults.length === 0
      ? []
      : yield requests(vaults.map(({ locker, address }) => interfaceOf(locker).list(locker.address, address)))
  const asked = vaults.map((vault, place) => ({
    ...vault,
    calls: interfaceOf(vault.locker).details(vault.locker.address, vault.address, lists[place]),
  }))
  const calls = asked.flatMap((vault) => vault.calls ?? [])
  const details = calls.length === 0 ? [] : yield requests(calls)
  let next = 0
  const locks = asked.map(({ calls: own, ...vault }) => {
    const answers = details.slice(next, next + (own?.length ?? 0))
    next += own?.length ?? 0
    return { address: vault.address, locks: locksIn(vault, own === null ? null : answers, nowS) }
  })
  const [tokenHolding, pairHolding = null] = holdings.map(({ vaults: own, ...holding }): Holding => {
    const isAnswered = own.every(({ balance }) => balance !== null)
    return {
      ...holding,
      locks: isAnswered ? locks.flatMap((one) => (one.address === holding.address ? one.locks : [])) : null,
    }
  })
  if (tokenHolding === undefined) throw new Error('a holding is missing')
  return { token: tokenHolding, pair: pairHolding }
}

type Vault = { address: string; locker: KnownLocker; balance: bigint | null }

/** A locker that lists no locks of a token, or not as its interface says, still has its balance. Never more than that is locked. */
function locksIn({ address, locker, balance }: Vault, answers: readonly Answer[] | null, nowS: number): HeldLock[] {
  const read = answers === null ? null : interfaceOf(locker).read(answers, address, nowS)
  let left = balance ?? 0n
  if (read === null) return [{ locker, amount: left, unlockAtS: null }]
  // The latest first: what is missing is taken from those that end sooner.
  const latestFirst = [...read].sort((a, b) => b.unlockAtS - a.unlockAtS)
  return latestFirst.flatMap(({ amount, unlockAtS }) => {
    const missing = amount > left ? amount - left : 0n
    left -= amount - missing
    return amount === missing ? [] : [{ locker, amount: amount - missing, unlockAtS }]
  })
}

const requests = (calls: readonly Call[]): StateRequest[] => calls.map(({ to, data }) => ({ kind: 'call', to, data }))

function sumOf(balances: readonly (bigint | null)[]): bigint | null {
  return balances.reduce<bigint | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0n)
}
