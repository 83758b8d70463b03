/**
 * A small Solana runtime: programs call each other, move tokens and lamports, and it records what a node would record
 * (solana.com/docs/rpc/json-structures): the message, the inner instructions with their stack heights, the logs and the balances.
 */
import { encodeBase58 } from '../../../../services/ingest/decode/solana/keys/base58.js'
import { SYSTEM, TOKEN, TOKEN_2022, WRAPPED_SOL } from '../../../../services/ingest/decode/solana/native-programs.js'
import type { JsonTransaction } from '../../../ingest/decode/solana/encodings.js'
import { compiledFrom } from '../recorded/parsed-layouts.js'
import { keyFrom, signatureFrom } from '../seeded.js'

const ASSOCIATED_TOKEN = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
const SIGNATURE_FEE = 5000n
const RENT = 2_039_280n
const MINT_RENT = 1_461_600n
/** Prefix of a self-call that carries an event (Anchor's `EVENT_IX_TAG_LE`). */
const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex')

export type Token = {
  mint: string
  decimals: number
  programId: string
  /** Token-2022: the part of each transfer that is withheld. */
  feeBasisPoints: bigint
}

export const SOL: Token = { mint: WRAPPED_SOL, decimals: 9, programId: TOKEN, feeBasisPoints: 0n }

type Call = { programId: string; accounts: readonly string[]; data: Uint8Array; height: number }
type Compiled = JsonTransaction['transaction']['message']['instructions'][number]
/** Null: the account does not exist. */
type Holding = { token: Token; owner: string; before: bigint | null; after: bigint | null }

export class Runtime {
  private readonly lamports = new Map<string, { before: bigint; after: bigint }>()
  private readonly holdings = new Map<string, Holding>()
  private readonly calls: { top: Call; inner: Call[] }[] = []
  private readonly logs: string[] = []
  private readonly callers: string[] = []

  /** `signers`: the fee payer first. */
  constructor(
    private readonly name: string,
    private readonly signers: readonly string[],
  ) {
    for (const signer of signers) this.fund(signer, 500_000_000_000_000n)
  }

  fund(account: string, lamports: bigint): void {
    this.lamports.set(account, { before: lamports, after: lamports })
  }

  /** A token account that exists before the transaction. */
  hold(account: string, token: Token, owner: string, amount: bigint): string {
    this.holdings.set(account, { token, owner, before: amount, after: amount })
    this.fund(account, RENT + (token.mint === WRAPPED_SOL ? amount : 0n))
    this.fund(token.mint, MINT_RENT)
    return account
  }

  /** The owner’s associated account of a token. */
  give(owner: string, token: Token, amount: bigint): string {
    return this.hold(keyFrom(`${token.mint} of ${owner}`), token, owner, amount)
  }

  balanceOf(account: string): bigint {
    return this.holdings.get(account)?.after ?? 0n
  }

  lamportsOf(account: string): bigint {
    return this.lamports.get(account)?.after ?? 0n
  }

  /** Calls and logs made in `body` belong to this call. */
  call(programId: string, accounts: readonly string[], data: Uint8Array, body: () => void = () => {}): void {
    const call = { programId, accounts, data, height: this.callers.length + 1 }
    const group = this.calls.at(-1)
    if (call.height === 1) this.calls.push({ top: call, inner: [] })
    else group?.inner.push(call)
    this.logs.push(`Program ${programId} invoke [${call.height}]`)
    this.callers.push(programId)
    body()
    this.callers.pop()
    if (programId !== SYSTEM) this.logs.push(`Program ${programId} consumed 4736 of 195264 compute units`)
    this.logs.push(`Program ${programId} success`)
  }

  /** The running program emits an event by a self-call. */
  emit(event: Uint8Array): void {
    const programId = this.callers.at(-1) ?? ''
    this.call(programId, [keyFrom(`event authority of ${programId}`)], Buffer.concat([EVENT_TAG, event]))
  }

  /** The running program emits an event in its logs. */
  logEvent(event: Uint8Array): void {
    this.logs.push(`Program data: ${Buffer.from(event).toString('base64')}`)
  }

  log(text: string): void {
    this.logs.push(`Program log: ${text}`)
  }

  /** `isChecked`: by the instruction that names the mint. Returns the amount that arrives. */
  transfer(source: string, destination: string, amount: bigint, isChecked = false): bigint {
    const { token, owner } = this.holding(source)
    const { mint, decimals, programId, feeBasisPoints } = token
    const fee = (amount * feeBasisPoints + 9_999n) / 10_000n
    const info = { source, destination, mint, authority: owner, amount: `${amount}`, tokenAmount: { amount, decimals } }
    this.native(programId, isChecked || programId === TOKEN_2022 ? 'transferChecked' : 'transfer', info)
    this.change(source, -amount)
    this.change(destination, amount - fee)
    return amount - fee
  }

  mintTo(token: Token, account: string, amount: bigint, mintAuthority: string): void {
    this.native(token.programId, 'mintTo', { mint: token.mint, account, mintAuthority, amount: `${amount}` })
    this.change(account, amount)
  }

  burn(account: string, amount: bigint): void {
    const { token, owner } = this.holding(account)
    this.native(token.programId, 'burn', { account, mint: token.mint, authority: owner, amount: `${amount}` })
    this.change(account, -amount)
  }

  /** By the system program. */
  sendLamports(source: string, destination: string, lamports: bigint): void {
    this.native(SYSTEM, 'transfer', { source, destination, lamports })
    this.moveLamports(source, destination, lamports)
  }

  /** From an account that the running program owns, without a call. */
  moveLamports(source: string, destination: string, lamports: bigint): void {
    this.addLamports(source, -lamports)
    this.addLamports(destination, lamports)
  }

  /** An associated token account, opened and paid for by its owner. */
  open(owner: string, token: Token): string {
    const account = keyFrom(`${token.mint} of ${owner}`)
    const { mint, programId } = token
    const wallet = { source: owner, account, wallet: owner, mint, systemProgram: SYSTEM, tokenProgram: programId }
    const { accounts, data } = compiledFrom(ASSOCIATED_TOKEN, { type: 'createIdempotent', info: wallet })
    if (!this.lamports.has(mint)) this.fund(mint, MINT_RENT)
    this.call(ASSOCIATED_TOKEN, accounts, data, () => {
      this.native(programId, 'getAccountDataSize', { mint })
      this.native(SYSTEM, 'createAccount', {
        ...{ source: owner, newAccount: account, lamports: RENT, space: 165, owner: programId },
      })
      this.moveLamports(owner, account, RENT)
      this.native(programId, 'initializeImmutableOwner', { account })
      this.native(programId, 'initializeAccount3', { account, mint, owner })
    })
    this.holdings.set(account, { token, owner, before: null, after: 0n })
    return account
  }

  /** Opens a wrapped SOL account with this amount. */
  wrap(owner: string, lamports: bigint): string {
    const account = this.open(owner, SOL)
    if (lamports === 0n) return account
    this.sendLamports(owner, account, lamports)
    this.native(TOKEN, 'syncNative', { account })
    this.holding(account).after = lamports
    return account
  }

  /** Sends all of its lamports to its owner. */
  close(account: string): void {
    const holding = this.holding(account)
    this.native(holding.token.programId, 'closeAccount', { account, destination: holding.owner, owner: holding.owner })
    this.moveLamports(account, holding.owner, this.lamportsOf(account))
    holding.after = null
  }

  /** `isVersioned`: accounts that do not sign are looked up in a table. */
  finish(isVersioned: boolean): JsonTransaction {
    const [payer = ''] = this.signers
    const fee = SIGNATURE_FEE * BigInt(this.signers.length)
    this.addLamports(payer, -fee)
    const { statics, loaded, readonlyStatics } = this.accountLists(isVersioned)
    const places = [...statics, ...loaded.writable, ...loaded.readonly]
    const compile = ({ programId, accounts, data, height }: Call): Compiled => ({
      programIdIndex: places.indexOf(programId),
      accounts: accounts.map((account) => places.indexOf(account)),
      data: encodeBase58(data),
      stackHeight: height === 1 ? null : height,
    })
    const lookedUp = { accountKey: keyFrom(`table of ${this.name}`), ...indexesOf(loaded) }
    return {
      version: isVersioned ? 0 : 'legacy',
      transaction: {
        signatures: this.signers.map((signer) => signatureFrom(`${this.name} ${signer}`)),
        message: {
          header: {
            numRequiredSignatures: this.signers.length,
            numReadonlySignedAccounts: 0,
            numReadonlyUnsignedAccounts: readonlyStatics,
          },
          accountKeys: statics,
          recentBlockhash: keyFrom(`blockhash of ${this.name}`),
          instructions: this.calls.map(({ top }) => compile(top)),
          ...(isVersioned ? { addressTableLookups: [lookedUp] } : {}),
        },
      },
      meta: {
        ...{ err: null, status: { Ok: null }, fee: Number(fee), computeUnitsConsumed: 90_000 },
        innerInstructions: this.calls.flatMap(({ inner }, index) =>
          inner.length === 0 ? [] : [{ index, instructions: inner.map(compile) }],
        ),
        logMessages: this.logs,
        preBalances: places.map((account) => Number(this.lamports.get(account)?.before ?? 1n)),
        postBalances: places.map((account) => Number(this.lamports.get(account)?.after ?? 1n)),
        preTokenBalances: this.tokenBalances(places, 'before'),
        postTokenBalances: this.tokenBalances(places, 'after'),
        ...{ rewards: [], loadedAddresses: loaded },
      },
    }
  }

  private native(programId: string, type: string, info: Record<string, unknown>): void {
    const { accounts, data } = compiledFrom(programId, { type, info })
    this.call(programId, accounts, data)
  }

  private holding(account: string): Holding {
    const holding = this.holdings.get(account)
    if (holding === undefined) throw new Error(`${account} is no token account`)
    return holding
  }

  private change(account: string, by: bigint): void {
    const holding = this.holding(account)
    const after = (holding.after ?? 0n) + by
    if (after < 0n) throw new Error(`${account} would hold ${after} of ${holding.token.mint}`)
    holding.after = after
    if (holding.token.mint === WRAPPED_SOL) this.addLamports(account, by)
  }

  private addLamports(account: string, by: bigint): void {
    const { before, after } = this.lamports.get(account) ?? { before: 0n, after: 0n }
    if (after + by < 0n) throw new Error(`${account} would have ${after + by} lamports`)
    this.lamports.set(account, { before, after: after + by })
  }

  private accountLists(isVersioned: boolean) {
    const tops = new Set(this.calls.map(({ top }) => top.programId))
    const all = new Set(this.calls.flatMap(({ top, inner }) => [top, ...inner]).flatMap((call) => [...call.accounts]))
    const programs = new Set(this.calls.flatMap(({ top, inner }) => [top, ...inner].map(({ programId }) => programId)))
    const mints = new Set([...this.holdings.values()].map(({ token }) => token.mint))
    const others = [...new Set([...all, ...programs])].filter((account) => !this.signers.includes(account))
    const isReadonly = (account: string) => programs.has(account) || mints.has(account)
    const isLoaded = (account: string) => isVersioned && !tops.has(account)
    const readonly = others.filter((account) => isReadonly(account) && !isLoaded(account))
    const writable = others.filter((account) => !isReadonly(account) && !isLoaded(account))
    return {
      statics: [...this.signers, ...writable, ...readonly],
      readonlyStatics: readonly.length,
      loaded: {
        writable: others.filter((account) => isLoaded(account) && !isReadonly(account)),
        readonly: others.filter((account) => isLoaded(account) && isReadonly(account)),
      },
    }
  }

  private tokenBalances(places: readonly string[], when: 'before' | 'after') {
    return places.flatMap((account, accountIndex) => {
      const holding = this.holdings.get(account)
      const amount = holding?.[when] ?? null
      if (holding === undefined || amount === null) return []
      const { token, owner } = holding
      const { mint, decimals, programId } = token
      const uiAmount = Number(amount) / 10 ** decimals
      const uiTokenAmount = { amount: `${amount}`, decimals, uiAmount, uiAmountString: `${uiAmount}` }
      return [{ accountIndex, mint, owner, programId, uiTokenAmount }]
    })
  }
}

function indexesOf({ writable, readonly }: { writable: readonly string[]; readonly: readonly string[] }) {
  return {
    writableIndexes: writable.map((_, at) => at),
    readonlyIndexes: readonly.map((_, at) => writable.length + at),
  }
}
