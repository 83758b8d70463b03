/**
 * Programs that hold tokens until a date, by their public layouts. Sources: `streamLayout`, `STREAM_STRUCT_OFFSET_*` and
 * `calculateUnlockedAmount` of streamflow-finance/js-sdk (packages/stream/solana); `VestingEscrow` and `get_max_unlocked_amount` of
 * jup-ag/jup-lock (programs/locker/src/state/vesting_escrow.rs).
 */
import { lockUntil } from '../../lock-facts.js'
import { accountDiscriminator, discriminatorOf } from '../instruction/read-instruction.js'
import { orNull } from '../token/metadata.js'
import { ByteReader } from '../wire/byte-reader.js'
import type { AccountList, ListedAccount } from './state-rounds.js'
import { associatedAccount } from './token-account.js'

/** What can still not be withdrawn, and the account that holds it. */
export type ProgramLock = {
  vault: string
  amount: bigint
  /** When all of it can be; null: somebody may bring the date forward. */
  unlockAtS: number | null
}

export type LockProgram = {
  name: string
  programId: string
  list(mint: string): AccountList
  /** None where nothing is locked, or somebody may cancel it. Null: not the program's layout. `program`: the mint's. */
  read(account: ListedAccount, mint: string, program: string, nowS: number): ProgramLock[] | null
}

const STREAM = { withdrawn: 17, mint: 177, escrow: 209, start: 409, rateChange: 539, closed: 671 }
/** One byte of zero in base58. */
const ZERO_BYTE = '1'

const streamflow: LockProgram = {
  name: 'Streamflow',
  programId: 'strmRqUCoQUgGUan5YhzUZa6KqdzwX5L6FpUxfmKg5m',
  list: (mint) => ({
    programId: streamflow.programId,
    matches: [
      { offset: STREAM.mint, bytes: mint },
      { offset: STREAM.closed, bytes: ZERO_BYTE },
    ],
  }),
  read: ({ data }, mint, _program, nowS) =>
    orNull(() => {
      const head = new ByteReader(data, STREAM.withdrawn)
      const [, canceledAt, endAt] = [head.u64(), head.u64(), head.u64()]
      const keys = new ByteReader(data, STREAM.mint)
      if (keys.pubkey() !== mint) return null
      const vault = keys.pubkey()
      const terms = new ByteReader(data, STREAM.start)
      const [startAt, deposited, period, rate] = [terms.u64(), terms.u64(), terms.u64(), terms.u64()]
      const [givenCliff, cliffAmount] = [terms.u64(), terms.u64()]
      const isCancelable = [terms.bool(), terms.bool()].includes(true)
      const isRateFixed = !new ByteReader(data, STREAM.rateChange).skip(1).bool()
      const state = new ByteReader(data, STREAM.closed)
      if (state.bool() || canceledAt > 0n || isCancelable) return []
      // Pauses delay releases: without them less is said to be locked, never more.
      const [changedAt, unlockedBefore] = [state.skip(16).u64(), state.u64()]
      const cliffAt = givenCliff > 0n ? givenCliff : startAt
      const [sinceAt, unlocked] = changedAt === 0n ? [cliffAt, cliffAmount] : [changedAt, unlockedBefore]
      const now = BigInt(nowS)
      const released =
        now < cliffAt ? 0n : now > endAt ? deposited : unlocked + releasedSince(now - sinceAt, period, rate)
      return lockUntil(deposited - released, endAt, nowS).map(({ amount, unlockAtS }) => ({
        ...{ vault, amount, unlockAtS: isRateFixed ? unlockAtS : null },
      }))
    }),
}

const ESCROW = accountDiscriminator('VestingEscrow')
const ESCROW_BYTES = 8 + 288
const ESCROW_MINT = 40
/** After the recipient, the mint, the creator and the base: two bytes that do not matter here. */
const ESCROW_CANCEL = 138

const jupiterLock: LockProgram = {
  name: 'Jupiter Lock',
  programId: 'LocpQgucEQHbqNABEYvBvwoxCPsSbG91A1QaQhQQqjn',
  list: (mint) => ({
    programId: jupiterLock.programId,
    dataBytes: ESCROW_BYTES,
    matches: [{ offset: ESCROW_MINT, bytes: mint }],
  }),
  read: ({ address, data }, mint, program, nowS) =>
    orNull(() => {
      if (data.length !== ESCROW_BYTES || discriminatorOf(data) !== ESCROW) return []
      if (new ByteReader(data, ESCROW_MINT).pubkey() !== mint) return null
      const terms = new ByteReader(data, ESCROW_CANCEL)
      const isCancelable = terms.u8() !== 0
      const [cliffAt, frequency, cliffAmount] = [terms.skip(5).u64(), terms.u64(), terms.u64()]
      const [rate, periods] = [terms.u64(), terms.u64()]
      const canceledAt = terms.skip(16).u64()
      const vault = associatedAccount(address, mint, program)
      if (isCancelable || canceledAt > 0n || vault === null) return []
      const now = BigInt(nowS)
      const passed = now < cliffAt || frequency === 0n ? 0n : (now - cliffAt) / frequency
      const released = now < cliffAt ? 0n : cliffAmount + atMost(passed, periods) * rate
      const deposited = cliffAmount + periods * rate
      const lastAt = cliffAt + (rate === 0n ? 0n : periods * frequency)
      return lockUntil(deposited - released, lastAt, nowS).map((lock) => ({ vault, ...lock }))
    }),
}

const atMost = (value: bigint, limit: bigint): bigint => (value > limit ? limit : value)

function releasedSince(passed: bigint, period: bigint, rate: bigint): bigint {
  return passed <= 0n || period === 0n ? 0n : (passed / period) * rate
}

export const LOCK_PROGRAMS: readonly LockProgram[] = [streamflow, jupiterLock]
