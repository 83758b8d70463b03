/**
 * The public interfaces of lockers. Sources: UNCX's UniswapV2Locker and DefiLlama's adapters (`getNumLocksForToken`, `tokenLocks`),
 * PinkSale's PinkLock and PinkLock02 (`totalLockCountForToken`, `getLocksForToken`, the release of a vesting lock), Team Finance's
 * LockToken (`getDepositDetails`, events) and its versions that list the deposits of a token (`getDepositsByTokenAddress`).
 */
import type { KnownLocker, LockerKind } from '../../../../core/config/contracts/lockers.js'
import { lockUntil } from '../../lock-facts.js'
import { selectorOf, topicOf } from '../abi/keccak.js'
import {
  type Answer,
  addressWord,
  answeredAddress,
  answeredBool,
  answeredTuples,
  answeredUint,
  answeredUints,
  callOf,
  uintWord,
} from '../abi/view-calls.js'
import type { Call } from '../protocol.js'

/** What can still not be withdrawn. */
export type Lock = {
  amount: bigint
  /** When all of it can be. */
  unlockAtS: number
}

type LockerInterface = {
  /** Tells how many locks of the token there are, or which. */
  list(locker: string, token: string): Call
  /** Asks for the newest of them; null: the list was not answered. */
  details(locker: string, token: string, list: Answer): Call[] | null
  /** Null: an answer is not what its interface says. */
  read(answers: readonly Answer[], token: string, nowS: number): Lock[] | null
}

/** More locks of one token are not read: the list is then incomplete. */
export const MOST_LOCKS = 50

const NUM_LOCKS = selectorOf('getNumLocksForToken(address)')
const TOKEN_LOCKS = selectorOf('tokenLocks(address,uint256)')
const LOCK_COUNT = selectorOf('totalLockCountForToken(address)')
const LOCKS_FOR_TOKEN = selectorOf('getLocksForToken(address,uint256,uint256)')
const TOKEN_DEPOSITS = selectorOf('getDepositsByTokenAddress(address)')
const DEPOSIT = selectorOf('getDepositDetails(uint256)')

/** Lock date, amount, initial amount, unlock date, id, owner. */
const uncx: LockerInterface = {
  list: (locker, token) => callOf(locker, NUM_LOCKS, addressWord(token)),
  details(locker, token, list) {
    const count = answeredUint(list)
    if (count === null) return null
    return newest(count).map((index) => callOf(locker, TOKEN_LOCKS, addressWord(token), uintWord(index)))
  },
  read(answers, _token, nowS) {
    const locks = answers.map((answer) => ({ amount: answeredUint(answer, 1), unlockAt: answeredUint(answer, 3) }))
    return everyLock(locks, nowS)
  },
}

/** Id, token, owner, amount, lock date, then the date (version 1), or that of the first release and how the rest follows. */
const pinkLock = (isVesting: boolean): LockerInterface => ({
  list: (locker, token) => callOf(locker, LOCK_COUNT, addressWord(token)),
  details(locker, token, list) {
    const count = answeredUint(list)
    if (count === null) return null
    const [first, last] = [newest(count)[0], newest(count).at(-1)]
    if (first === undefined || last === undefined) return []
    return [callOf(locker, LOCKS_FOR_TOKEN, addressWord(token), uintWord(first), uintWord(last))]
  },
  read([answer], _token, nowS) {
    if (answer === undefined) return []
    const rows = answeredTuples(answer, isVesting ? 10 : 6, isVesting)
    return rows === null ? null : rows.flatMap((row) => (isVesting ? vestingLock(row, nowS) : plainLock(row, nowS)))
  },
})

function plainLock([, , , amount = 0n, , unlockAt = 0n]: readonly bigint[], nowS: number): Lock[] {
  return lockUntil(amount, unlockAt, nowS)
}

const BASIS_POINTS = 10_000n

function vestingLock(row: readonly bigint[], nowS: number): Lock[] {
  const [, , , amount = 0n, , firstAt = 0n, firstBps = 0n, cycle = 0n, cycleBps = 0n, withdrawn = 0n] = row
  if (firstBps === 0n || cycle === 0n || cycleBps === 0n) return lockUntil(amount - withdrawn, firstAt, nowS)
  const cycles = (BASIS_POINTS - firstBps + cycleBps - 1n) / cycleBps
  const passed = BigInt(nowS) < firstAt ? -1n : (BigInt(nowS) - firstAt) / cycle
  const released = passed < 0n ? 0n : (amount * (firstBps + passed * cycleBps)) / BASIS_POINTS
  const due = released > withdrawn ? released - withdrawn : 0n
  return lockUntil(amount - withdrawn - due, firstAt + cycles * cycle, nowS)
}

/** Token, who may withdraw, amount, unlock time, whether it was withdrawn. */
const teamFinance: LockerInterface = {
  list: (locker, token) => callOf(locker, TOKEN_DEPOSITS, addressWord(token)),
  details(locker, _token, list) {
    const ids = answeredUints(list)
    return ids === null ? null : ids.slice(-MOST_LOCKS).map((id) => callOf(locker, DEPOSIT, uintWord(id)))
  },
  read(answers, token, nowS) {
    const deposits = answers.map((answer) => {
      const isOfToken = answeredAddress(answer) === token
      const isWithdrawn = answeredBool(answer, 4)
      const amount = !isOfToken || isWithdrawn === null ? null : isWithdrawn ? 0n : answeredUint(answer, 2)
      return { amount, unlockAt: answeredUint(answer, 3) }
    })
    return everyLock(deposits, nowS)
  },
}

/** A locker of tokens; the others hold positions. */
export type TokenLocker = KnownLocker & { kind: Exclude<LockerKind, 'uncx-v3' | 'uncx-v4'> }

export const isTokenLocker = (locker: KnownLocker): locker is TokenLocker =>
  locker.kind !== 'uncx-v3' && locker.kind !== 'uncx-v4'

const INTERFACES: Readonly<Record<TokenLocker['kind'], LockerInterface>> = {
  ...{ uncx, pinklock: pinkLock(true), 'pinklock-v1': pinkLock(false), 'team-finance': teamFinance },
}

export const interfaceOf = ({ kind }: Pick<TokenLocker, 'kind'>): LockerInterface => INTERFACES[kind]

/** What lockers report. Each names the token among its topics or the words of its data. */
export const LOCK_TOPICS: readonly string[] = [
  ...['onDeposit(address,address,uint256,uint256,uint256)', 'onWithdraw(address,uint256)'],
  ...['LockAdded(uint256,address,address,uint256,uint256)', 'LockUpdated(uint256,address,address,uint256,uint256)'],
  ...['LockRemoved(uint256,address,address,uint256,uint256)'],
  'LockVested(uint256,address,address,uint256,uint256,uint256)',
  ...['Deposit(uint256,address,address,uint256,uint256)', 'LogTokenWithdrawal(uint256,address,address,uint256)'],
].map(topicOf)

function newest(count: bigint): bigint[] {
  const first = count > BigInt(MOST_LOCKS) ? count - BigInt(MOST_LOCKS) : 0n
  return Array.from({ length: Number(count - first) }, (_, index) => first + BigInt(index))
}

function everyLock(found: readonly { amount: bigint | null; unlockAt: bigint | null }[], nowS: number): Lock[] | null {
  const locks: Lock[] = []
  for (const { amount, unlockAt } of found) {
    if (amount === null || unlockAt === null) return null
    locks.push(...lockUntil(amount, unlockAt, nowS))
  }
  return locks
}
