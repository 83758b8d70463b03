/** A simulated chain with transactions of the real token programs: their accounts are known at each block, and a reorg restores them. */
import { encodeBase58 } from '../../../services/ingest/decode/solana/keys/base58.js'
import { readTokenAccount, type TokenAccount } from '../../../services/ingest/decode/solana/locks/token-account.js'
import { readMint } from '../../../services/ingest/decode/solana/token/mint.js'
import type { SolanaAccount } from '../../../services/ingest/sources/solana/slot-block.js'
import type { JsonTransaction } from '../../ingest/decode/solana/encodings.js'
import { type Call, type Machine, startMachine } from '../../ingest/decode/solana/token/machine.js'
import { createLedger, type Ledger, type LedgerOptions } from './ledger.js'
import { keyFrom, signatureFrom } from './seeded.js'

export type TokenChain = {
  readonly ledger: Ledger
  /** What it runs is in the next block. */
  readonly machine: Machine
  /** As of the end of a slot's block. */
  accountsAt(slot: number): ReadonlyMap<string, SolanaAccount>
  /** What each owner has of a token now, above 0. */
  held(mint: string): Map<string, bigint>
  /** Orphans every block above the slot, and what they did. */
  die(afterSlot: number, branch: string): void
}

type Accounts = ReadonlyMap<string, SolanaAccount>

export function createTokenChain(options: LedgerOptions): TokenChain {
  const machine = startMachine(keyFrom('who pays for all'))
  const touched = new Set<string>()
  const states = new Map<number, Accounts>()
  const now = new Map<string, SolanaAccount>()
  let waiting: ((recentBlockhash: string) => JsonTransaction)[] = []
  let count = 0

  const note = (address: string, account: SolanaAccount | null): void => {
    touched.add(address)
    if (account === null || account.lamports === 0n) now.delete(address)
    else now.set(address, account)
  }

  const ledger = createLedger({
    ...options,
    takeMore(recentBlockhash) {
      const taken = waiting.map((make) => make(recentBlockhash))
      waiting = []
      return taken
    },
  })
  states.set(ledger.tip.slot, new Map())
  ledger.onBlock(({ slot }) => states.set(slot, new Map(now)))

  const accountsAt = (slot: number): Accounts =>
    states.get(ledger.blocks.findLast((block) => block.slot <= slot)?.slot ?? -1) ?? new Map()

  return {
    ledger,
    machine: {
      ...machine,
      run(...calls) {
        const accounts = accountsOf(calls, machine.payer)
        const before = accounts.map(({ account }) => machine.account(account))
        machine.run(...calls)
        const after = accounts.map(({ account }) => machine.account(account))
        const programs = new Set(calls.map(({ programId }) => programId))
        for (const [place, { account }] of accounts.entries())
          if (!programs.has(account)) note(account, after[place] ?? null)
        count += 1
        const name = `${options.seed} token transaction ${count}`
        const decimalsOf = (mint: string) => {
          const account = machine.account(mint)
          return (account === null ? null : readMint(account, mint)?.decimals) ?? 0
        }
        const parts = { name, calls, accounts, before, after, decimalsOf }
        waiting.push((recentBlockhash) => transactionOf(parts, recentBlockhash))
      },
    },
    accountsAt,
    held(mint) {
      const held = new Map<string, bigint>()
      for (const account of now.values()) {
        const token = tokenOf(account)
        if (token?.mint !== mint || token.amount === 0n) continue
        held.set(token.owner, (held.get(token.owner) ?? 0n) + token.amount)
      }
      return held
    },
    die(afterSlot, branch) {
      ledger.die(afterSlot, { branch, sameSlots: count % 2 === 0 })
      for (const slot of states.keys()) if (slot > afterSlot) states.delete(slot)
      const kept = accountsAt(afterSlot)
      for (const address of touched) {
        const account = kept.get(address) ?? null
        if (account !== (now.get(address) ?? null)) machine.put(address, account ?? GONE)
        note(address, account)
      }
    },
  }
}

const read = new WeakMap<SolanaAccount, TokenAccount | null>()

/** Null: another account. An account is only read once. */
function tokenOf(account: SolanaAccount): TokenAccount | null {
  const known = read.get(account)
  if (known !== undefined) return known
  const token = isMint(account) ? null : readTokenAccount(account)
  read.set(account, token)
  return token
}

const isMint = (account: SolanaAccount): boolean => readMint(account, '') !== null
const GONE: SolanaAccount = { owner: keyFrom('nobody'), lamports: 0n, data: new Uint8Array() }

type Used = { account: string; role: string }

/** Signers first, then writable accounts, then the others; the payer before all. */
function accountsOf(calls: readonly Call[], payer: string): Used[] {
  const roles = new Map([[payer, 'sw']])
  for (const { programId, accounts } of calls) {
    for (const [account, role] of accounts) roles.set(account, (roles.get(account) ?? '') + role)
    roles.set(programId, roles.get(programId) ?? '')
  }
  const rank = (role: string) => (role.includes('s') ? 0 : 2) + (role.includes('w') ? 0 : 1)
  return [...roles]
    .map(([account, role]) => ({ account, role }))
    .sort((one, other) => rank(one.role) - rank(other.role) || (one.account === payer ? -1 : 0))
}

type Ran = {
  name: string
  calls: readonly Call[]
  accounts: readonly Used[]
  before: readonly (SolanaAccount | null)[]
  after: readonly (SolanaAccount | null)[]
  decimalsOf(mint: string): number
}

function transactionOf({ name, calls, accounts, before, after, decimalsOf }: Ran, recentBlockhash: string) {
  const keys = accounts.map(({ account }) => account)
  const countOf = (isCounted: (role: string) => boolean) => accounts.filter(({ role }) => isCounted(role)).length
  const signs = (role: string) => role.includes('s')
  const lamports = (state: Ran['before']) => state.map((account) => Number(account?.lamports ?? 0n))
  const tokens = (state: Ran['before']) =>
    state.flatMap((account, accountIndex) => {
      const token = account === null ? null : tokenOf(account)
      if (account === null || token === null) return []
      const decimals = decimalsOf(token.mint)
      const amount = token.amount.toString()
      const uiTokenAmount = { amount, decimals, uiAmount: null, uiAmountString: '' }
      return [{ accountIndex, mint: token.mint, owner: token.owner, programId: account.owner, uiTokenAmount }]
    })
  return {
    version: 'legacy' as const,
    transaction: {
      signatures: accounts.filter(({ role }) => signs(role)).map((_, at) => signatureFrom(`${name} ${at}`)),
      message: {
        header: {
          numRequiredSignatures: countOf(signs),
          numReadonlySignedAccounts: countOf((role) => signs(role) && !role.includes('w')),
          numReadonlyUnsignedAccounts: countOf((role) => !signs(role) && !role.includes('w')),
        },
        accountKeys: keys,
        recentBlockhash,
        instructions: calls.map(({ programId, accounts: used, data }) => ({
          programIdIndex: keys.indexOf(programId),
          accounts: used.map(([account]) => keys.indexOf(account)),
          data: encodeBase58(data),
          stackHeight: null,
        })),
      },
    },
    meta: {
      ...{ err: null, status: { Ok: null }, fee: 5000, computeUnitsConsumed: 150, innerInstructions: [] },
      ...{ logMessages: [], rewards: [], loadedAddresses: { writable: [], readonly: [] } },
      ...{ preBalances: lamports(before), postBalances: lamports(after) },
      ...{ preTokenBalances: tokens(before), postTokenBalances: tokens(after) },
    },
  } satisfies JsonTransaction
}
