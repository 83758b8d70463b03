/**
 * Stand-ins of Streamflow, Jupiter Lock, Raydium's burn & earn and of pools: their accounts in the layout of the public IDLs, on a VM
 * whose tokens are moved and burnt by the real token programs. Each lock tells what can be withdrawn, counted period by period.
 */

import { createHash } from 'node:crypto'
import { encodeBase58 } from '../../../../../services/ingest/decode/solana/keys/base58.js'
import type { AccountList } from '../../../../../services/ingest/decode/solana/locks/state-rounds.js'
import { associatedAccount } from '../../../../../services/ingest/decode/solana/locks/token-account.js'
import { TOKEN } from '../../../../../services/ingest/decode/solana/native-programs.js'
import type { SlotReader } from '../../../../../services/ingest/sources/solana/slot-block.js'
import { borsh, key } from '../anchor-calls.js'
import type { Machine } from '../token/machine.js'
import { createMint, mintTo, moveTokens, openAccount } from '../token/token-calls.js'

const { u8, u16, u32, u64, u128, i32, zeros } = borsh
const pubkey = borsh.key

export const PROGRAMS = {
  streamflow: 'strmRqUCoQUgGUan5YhzUZa6KqdzwX5L6FpUxfmKg5m',
  jupiter: 'LocpQgucEQHbqNABEYvBvwoxCPsSbG91A1QaQhQQqjn',
  raydiumLock: 'LockrWmn6K5twhz3y9w1dQERbmgSaRkfnTeTKbpofwE',
  v4: '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8',
  cpmm: 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C',
  pump: 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA',
  clmm: 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK',
}
/** Of Raydium's mainnet: `LOCK_CPMM_AUTH` of its SDK. */
export const CP_LOCK_AUTHORITY = '3f7GcQFG397GAaEnv51zR6tsTVihYRydnydDD1cXekxH'

export type Token = { program: string; mint: string; decimals: number; account: string; owner: string }

const account = (name: string) => createHash('sha256').update(`account:${name}`).digest().subarray(0, 8)

export type Terms = { cliffAt: number; cliffAmount: bigint; period: number; rate: bigint; periods: number }

/** What a recipient can withdraw in all at a time, period by period. */
export function released({ cliffAt, cliffAmount, period, rate, periods }: Terms, atS: number): bigint {
  if (atS < cliffAt) return 0n
  let sum = cliffAmount
  for (let n = 1; n <= periods && cliffAt + n * period <= atS; n += 1) sum += rate
  return sum
}

export const depositOf = ({ cliffAmount, rate, periods }: Terms): bigint => cliffAmount + rate * BigInt(periods)

export class World {
  private readonly listedAt = new Map<string, string[]>()

  constructor(readonly machine: Machine) {}

  /** A token whose maker has all of it. */
  token(name: string, raw: bigint, program = TOKEN, decimals = 6): Token {
    const [mint, maker] = [key(name), key('maker')]
    createMint(this.machine, mint, { program, decimals, mintAuthority: maker })
    const token = { program, mint, decimals, account: key(`${name} of its maker`), owner: maker }
    openAccount(this.machine, program, token.account, mint, maker)
    this.machine.run(mintTo(program, mint, token.account, maker, raw))
    return token
  }

  /** To the account of somebody, at the address where wallets look for it. */
  send(token: Token, owner: string, raw: bigint): string {
    const to = associatedAccount(owner, token.mint, token.program) ?? ''
    this.sendTo(token, to, owner, raw)
    return to
  }

  private sendTo(token: Token, to: string, owner: string, raw: bigint): void {
    if (this.machine.account(to) === null) openAccount(this.machine, token.program, to, token.mint, owner)
    this.machine.run(moveTokens(token, [token.account, to], token.owner, raw))
  }

  stream(name: string, token: Token, terms: Terms, over: Partial<StreamFlags> = {}): void {
    const flags = { canceledAt: 0, isCancelable: false, isRateOpen: false, isClosed: false, isBacked: true, ...over }
    const vault = key(`escrow of ${name}`)
    if (flags.isBacked) this.sendTo(token, vault, key(`authority of ${name}`), depositOf(terms))
    const endAt = terms.cliffAt + terms.period * terms.periods
    const data = Buffer.concat([
      ...[zeros(8), u8(4), u64(0n), u64(0n), u64(BigInt(flags.canceledAt)), u64(BigInt(endAt)), u64(0n)],
      ...[zeros(32 * 4), pubkey(token.mint), pubkey(vault), zeros(32 * 2), u64(0n), u64(0n), zeros(4)],
      ...[zeros(32 * 2), u64(0n), u64(0n), zeros(4), u64(BigInt(terms.cliffAt)), u64(depositOf(terms))],
      ...[u64(BigInt(terms.period)), u64(terms.rate), u64(BigInt(terms.cliffAt)), u64(terms.cliffAmount)],
      ...[u8(flags.isCancelable ? 1 : 0), u8(0), u8(0), u8(0), u8(1), u8(0), zeros(64), u64(0n), zeros(4)],
      ...[u8(0), u8(flags.isRateOpen ? 1 : 0), u32(126), zeros(126), u8(flags.isClosed ? 1 : 0), zeros(32), zeros(400)],
    ])
    this.put(key(name), PROGRAMS.streamflow, data)
  }

  escrow(name: string, token: Token, terms: Terms, cancelMode = 0): void {
    const address = key(name)
    this.send(token, address, depositOf(terms))
    const data = Buffer.concat([
      ...[account('VestingEscrow'), pubkey(key('recipient')), pubkey(token.mint), pubkey(token.owner), zeros(32)],
      ...[u8(255), u8(0), u8(cancelMode), u8(token.program === TOKEN ? 0 : 1), zeros(4)],
      ...[u64(BigInt(terms.cliffAt)), u64(BigInt(terms.period)), u64(terms.cliffAmount), u64(terms.rate)],
      ...[u64(BigInt(terms.periods)), u64(0n), u64(0n), u64(0n), zeros(8 + 80)],
    ])
    this.put(address, PROGRAMS.jupiter, data)
  }

  /** A pool whose shares were all issued to the maker. */
  pool(kind: 'v4' | 'cpmm' | 'pump', shares: Token, issued: bigint): string {
    const mints = [pubkey(shares.mint), pubkey(key('base')), pubkey(key('quote'))]
    const layouts = {
      v4: [zeros(464), pubkey(shares.mint), zeros(224), u64(issued), zeros(24)],
      cpmm: [account('PoolState'), zeros(32 * 4), ...mints, zeros(32 * 3), zeros(5), u64(issued), zeros(296)],
      pump: [account('Pool'), u8(255), u16(0), zeros(32 * 3), pubkey(shares.mint), zeros(64), u64(issued), zeros(33)],
    }
    const pool = key(`pool of ${shares.mint}`)
    this.put(pool, PROGRAMS[kind], Buffer.concat(layouts[kind]))
    return pool
  }

  clmmPool(name: string, at: { tick: number; liquidity: bigint; vaults: readonly [string, string] }): string {
    const sqrtPrice = BigInt(Math.round(1.0001 ** (at.tick / 2) * 2 ** 50)) << 14n
    const data = Buffer.concat([
      ...[account('PoolState'), u8(255), zeros(32 * 4), ...at.vaults.map(pubkey), zeros(32), u8(6), u8(9), u16(60)],
      ...[u128(at.liquidity), u128(sqrtPrice), i32(at.tick), zeros(1271)],
    ])
    this.put(key(name), PROGRAMS.clmm, data)
    return key(name)
  }

  lockPosition(name: string, pool: string, range: { lower: number; upper: number; liquidity: bigint }): void {
    const position = key(`position ${name}`)
    const content = [i32(range.lower), i32(range.upper), u128(range.liquidity), zeros(184)]
    const data = [account('PersonalPositionState'), u8(255), zeros(32), pubkey(pool), ...content]
    this.put(position, PROGRAMS.clmm, Buffer.concat(data))
    const lock = [account('LockedClmmPositionState'), u8(255), zeros(32), pubkey(pool), pubkey(position), zeros(136)]
    this.put(key(`lock ${name}`), PROGRAMS.raydiumLock, Buffer.concat(lock))
  }

  private put(address: string, owner: string, data: Buffer): void {
    this.machine.put(address, { owner, lamports: 10n ** 9n, data: Uint8Array.from(data) })
    this.listedAt.set(owner, [...(this.listedAt.get(owner) ?? []), address])
  }

  /** As nodes filter them (agave, `RpcFilterType`). */
  readonly listed: SlotReader['listed'] = async ({ programId, dataBytes, matches }: AccountList) =>
    [...new Set(this.listedAt.get(programId))].flatMap((address) => {
      const found = this.machine.account(address)
      if (found === null || (dataBytes !== undefined && found.data.length !== dataBytes)) return []
      const isMatch = matches.every(({ offset, bytes }) => {
        const size = bytes === '1' ? 1 : 32
        return encodeBase58(found.data.subarray(offset, offset + size)) === bytes
      })
      return isMatch ? [{ address, ...found }] : []
    })
}

type StreamFlags = {
  canceledAt: number
  isCancelable: boolean
  isRateOpen: boolean
  isClosed: boolean
  isBacked: boolean
}
