/** Reads how much of a token, and of the shares of its pool, is burnt or held by lockers at a block. */
import type { KnownLocker } from '../../../../core/config/contracts/lockers.js'
import { BURN_ADDRESSES } from '../../../../core/domain/chains.js'
import type { HeldLock, Holding, LockInspection } from '../../lock-facts.js'
import { type Answer, answeredUint } from '../abi/view-calls.js'
import { balanceCall, supplyCall } from '../erc20.js'
import { type Inspection, requestsOf } from './inspect-token.js'
import { interfaceOf, isTokenLocker, type TokenLocker } from './lockers.js'

/** Uniswap V2 and its forks give shares 18 decimals. */
const SHARE_DECIMALS = 18

const BURN = BURN_ADDRESSES.evm

export function* inspectLocks(
  token: string,
  pair: string | null,
  known: readonly KnownLocker[],
  nowS: number,
): Inspection<LockInspection> {
  const lockers = known.filter(isTokenLocker)
  const subjects = pair === null ? [token] : [token, pair]
  const held = yield requestsOf(
    subjects.flatMap((subject) => [
      supplyCall(subject),
      ...[...BURN, ...lockers.map(({ address }) => address)].map((holder) => balanceCall(subject, holder)),
    ]),
  )
  const width = 1 + BURN.length + lockers.length
  const balancesOf = (address: string) => {
    const from = subjects.indexOf(address) * width
    const [total = null, ...balances] = held.slice(from, from + width).map((answer) => answeredUint(answer))
    return { total, burnt: sumOf(balances.slice(0, BURN.length)), lockers: balances.slice(BURN.length) }
  }
  const vaults = subjects.flatMap((address) =>
    lockers.flatMap((locker, index): Vault[] => {
      const balance = balancesOf(address).lockers[index] ?? 0n
      return balance > 0n ? [{ address, locker, balance }] : []
    }),
  )
  const lists =
    vaults.length === 0
      ? []
      : yield requestsOf(vaults.map(({ locker, address }) => interfaceOf(locker).list(locker.address, address)))
  const asked = vaults.map((vault, place) => ({
    vault,
    calls: interfaceOf(vault.locker).details(vault.locker.address, vault.address, lists[place]),
  }))
  const calls = asked.flatMap((one) => one.calls ?? [])
  const details = calls.length === 0 ? [] : yield requestsOf(calls)
  let next = 0
  const locks = asked.flatMap(({ vault, calls: own }) => {
    const answers = own === null ? null : details.slice(next, next + own.length)
    next += own?.length ?? 0
    return locksIn(vault, answers, nowS).map((lock) => ({ address: vault.address, lock }))
  })
  const holdingOf = (address: string): Holding => {
    const { total, burnt, lockers: balances } = balancesOf(address)
    const isAnswered = balances.every((balance) => balance !== null)
    const own = locks.filter((one) => one.address === address).map(({ lock }) => lock)
    return {
      address,
      total,
      burnt,
      locks: isAnswered ? own : null,
      decimals: address === token ? null : SHARE_DECIMALS,
    }
  }
  return { token: holdingOf(token), pair: pair === null ? null : holdingOf(pair) }
}

type Vault = { address: string; locker: TokenLocker; balance: bigint }

/** A locker that lists no locks of a token, or not as its interface says, still has its balance. Never more than that is locked. */
function locksIn({ address, locker, balance }: Vault, answers: readonly Answer[] | null, nowS: number): HeldLock[] {
  const read = answers === null ? null : interfaceOf(locker).read(answers, address, nowS)
  let left = balance
  if (read === null) return [{ locker, amount: left, unlockAtS: null }]
  // The latest first: what is missing is taken from those that end sooner.
  const latestFirst = [...read].sort((a, b) => b.unlockAtS - a.unlockAtS)
  return latestFirst.flatMap(({ amount, unlockAtS }) => {
    const missing = amount > left ? amount - left : 0n
    left -= amount - missing
    return amount === missing ? [] : [{ locker, amount: amount - missing, unlockAtS }]
  })
}

function sumOf(balances: readonly (bigint | null)[]): bigint | null {
  return balances.reduce<bigint | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0n)
}
