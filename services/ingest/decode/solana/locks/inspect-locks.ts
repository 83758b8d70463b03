/** Reads how much of a token, and of the shares of its pool, is burnt or held by lockers now. */
import { BURN_ADDRESSES } from '../../../../core/domain/chains.js'
import { FOR_EVER_S, type HeldLock, type Holding, type LockInspection, type PoolHolding } from '../../lock-facts.js'
import { activeLiquidity, coveredPart, type Position } from '../../position-shares.js'
import { readMint } from '../token/mint.js'
import {
  BURN_AND_EARN,
  type ClmmPool,
  CP_AUTHORITY,
  lockedPositions,
  readClmmPool,
  readLockedPosition,
  readPosition,
} from './burn-and-earn.js'
import { LOCK_PROGRAMS, type ProgramLock } from './lock-programs.js'
import { type PoolShares, readPoolShares } from './pool-shares.js'
import type { ListedAccount, StateAnswers, StateInspection } from './state-rounds.js'
import { associatedAccount, readTokenAccount } from './token-account.js'

export type SolanaLocks = LockInspection & {
  /** The mint of the pool's shares; null: it has none. */
  sharesMint: string | null
}

/** A transaction with one of them may change locks. */
export const LOCKER_PROGRAMS: readonly string[] = [BURN_AND_EARN, ...LOCK_PROGRAMS].map(({ programId }) => programId)

const BURN = BURN_ADDRESSES.solana

/** Null: not a mint. */
export function* inspectLocks(token: string, pool: string | null, nowS: number): StateInspection<SolanaLocks | null> {
  const first = yield { accounts: pool === null ? [token] : [token, pool], lists: [] }
  const account = first.account(token)
  const mint = account === null ? null : readMint(account, token)
  if (mint === null) return null
  const poolAccount = first.account(pool)
  const shares = poolAccount === null ? null : readPoolShares(poolAccount)
  const ranges = poolAccount === null ? null : readClmmPool(poolAccount)
  const subjects: Subject[] = [{ mint: token, program: mint.program }, ...(shares === null ? [] : [shares])]
  const held = subjects.map(placesOf)
  const second = yield {
    accounts: [
      ...held.flatMap(({ burnt, locked }) => [...burnt, locked]),
      ...(shares === null ? [] : [shares.mint]),
      ...(ranges?.vaults ?? []),
    ],
    lists: [
      ...subjects.flatMap((subject) => LOCK_PROGRAMS.map((program) => program.list(subject.mint))),
      ...(ranges === null || pool === null ? [] : [lockedPositions(pool)]),
    ],
  }
  const found = subjects.map((subject, place) => locksIn(subject, second, place * LOCK_PROGRAMS.length, nowS))
  const positions = ranges === null ? [] : positionsIn(second.list(subjects.length * LOCK_PROGRAMS.length))
  const last = yield {
    accounts: [...found.flatMap((locks) => (locks ?? []).map(({ vault }) => vault)), ...(positions ?? [])],
    lists: [],
  }
  const holdings = subjects.map((subject, place): Holding => {
    const [places, locks] = [held[place], found[place] ?? null]
    const locked = balanceAt(second, places?.locked ?? null, subject.mint)
    const permanent = locked === null ? [] : [lockedForEver(CP_AUTHORITY, locked)]
    return {
      address: subject.mint,
      total: mint.supplyRaw,
      burnt: (places?.burnt ?? []).reduce((sum, address) => sum + (balanceAt(second, address, subject.mint) ?? 0n), 0n),
      locks: [...permanent, ...(locks ?? []).flatMap((lock) => backed(lock, last, subject.mint))],
      ...{ isPartial: locks === null, decimals: null },
    }
  })
  const [ofToken, ofShares] = holdings
  if (ofToken === undefined) return null
  const pair =
    ranges === null
      ? sharesHolding(shares, ofShares, second)
      : rangeHolding(pool ?? '', ranges, positions, second, last)
  return { token: ofToken, pair, sharesMint: shares?.mint ?? null }
}

type Subject = { mint: string; program: string }

/** Accounts of burn addresses, and that of Raydium's lock. */
function placesOf({ mint, program }: Subject): { burnt: string[]; locked: string } {
  const at = (owner: string) => associatedAccount(owner, mint, program) ?? ''
  return { burnt: BURN.map(at), locked: at(CP_AUTHORITY) }
}

const lockedForEver = (address: string, amount: bigint): HeldLock => ({
  ...{ locker: { name: BURN_AND_EARN.name, address }, amount, unlockAtS: FOR_EVER_S },
})

type FoundLock = ProgramLock & { name: string }

/** Null: the nodes do not list them, or one is not understood. */
function locksIn({ mint, program }: Subject, answers: StateAnswers, from: number, nowS: number): FoundLock[] | null {
  const found: FoundLock[] = []
  for (const [place, { name, programId, read }] of LOCK_PROGRAMS.entries()) {
    const listed = answers.list(from + place)
    if (listed === null) return null
    for (const account of listed) {
      // Anybody can copy the bytes, but only the program can own the account.
      const locks = account.owner === programId ? read(account, mint, program, nowS) : []
      if (locks === null) return null
      found.push(...locks.map((lock) => ({ name, ...lock })))
    }
  }
  return found
}

/** As much of it as its vault really has. */
function backed({ name, vault, amount, unlockAtS }: FoundLock, answers: StateAnswers, mint: string): HeldLock[] {
  const account = answers.account(vault)
  const held = account === null ? null : readTokenAccount(account)
  if (held === null || held.mint !== mint || held.amount === 0n) return []
  return [{ locker: { name, address: held.owner }, amount: held.amount < amount ? held.amount : amount, unlockAtS }]
}

function balanceAt(answers: StateAnswers, address: string | null, mint: string): bigint | null {
  const account = answers.account(address)
  const held = account === null ? null : readTokenAccount(account)
  return held === null || held.mint !== mint || held.amount === 0n ? null : held.amount
}

/** What the pool issued and its mint no longer has was burnt. */
function sharesHolding(
  shares: PoolShares | null,
  holding: Holding | undefined,
  answers: StateAnswers,
): PoolHolding | null {
  const account = answers.account(shares?.mint ?? null)
  if (shares === null || holding === undefined || account === null) return null
  const mint = readMint(account, shares.mint)
  if (mint === null) return null
  const gone = shares.issued > mint.supplyRaw ? shares.issued - mint.supplyRaw : 0n
  return { ...holding, total: mint.supplyRaw + gone, burnt: (holding.burnt ?? 0n) + gone, decimals: mint.decimals }
}

/** Accounts of locked positions; null: the nodes do not list them. */
function positionsIn(listed: readonly ListedAccount[] | null): string[] | null {
  return listed === null ? null : listed.flatMap((account) => readLockedPosition(account) ?? [])
}

function rangeHolding(
  pool: string,
  { vaults, ...ranges }: ClmmPool,
  accounts: readonly string[] | null,
  second: StateAnswers,
  last: StateAnswers,
): PoolHolding | null {
  if (accounts === null) return null
  const positions = accounts.flatMap((address): Position[] => {
    const account = last.account(address)
    const position = account === null ? null : readPosition(account, pool)
    return position === null ? [] : [position]
  })
  const [reserve0, reserve1] = vaults.map((vault) => {
    const account = second.account(vault)
    return account === null ? null : (readTokenAccount(account)?.amount ?? null)
  })
  const active = positions.reduce((sum, position) => sum + activeLiquidity(position, ranges.tick), 0n)
  return {
    ...{ address: pool, total: ranges.liquidity, burnt: 0n, decimals: 0 },
    locks: active === 0n ? [] : [lockedForEver(BURN_AND_EARN.programId, active)],
    covered: coveredPart({ ...ranges, reserves: [reserve0 ?? null, reserve1 ?? null] }, positions),
  }
}
