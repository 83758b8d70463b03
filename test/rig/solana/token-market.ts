/** A token that is minted, moved, burnt and given away at random, by the real token programs. */

import { readTokenAccount } from '../../../services/ingest/decode/solana/locks/token-account.js'
import { TOKEN, TOKEN_2022 } from '../../../services/ingest/decode/solana/native-programs.js'
import type { Call } from '../../ingest/decode/solana/token/machine.js'
import {
  burn,
  closeAccount,
  createMint,
  extensions,
  giveAccount,
  harvestFees,
  mintTo,
  moveTokens,
  openAccount,
} from '../../ingest/decode/solana/token/token-calls.js'
import type { Random } from '../market/random.js'
import { keyFrom } from './seeded.js'
import { createTokenChain, type TokenChain } from './token-chain.js'

const FINAL_AFTER_SLOTS = 6
const OWNERS = 40
const MAKER = keyFrom('the maker')
/** Withheld fees, with type and length. */
const FEE_BYTES = 12

/** A token with accounts of its own, some owners having several. */
export class TokenMarket {
  readonly chain: TokenChain
  readonly mint: string
  /** What each owner has at each block, orphaned ones too, by hash. */
  readonly heldAt = new Map<string, ReadonlyMap<string, bigint>>()
  private readonly owners: readonly string[]
  private branches = 0

  constructor(
    seed: number,
    readonly program: string,
    readonly random: Random,
  ) {
    this.mint = keyFrom(`${seed} the token`)
    this.owners = [MAKER, ...Array.from({ length: OWNERS }, (_, n) => keyFrom(`${seed} owner ${n}`))]
    const firstTimeS = Math.floor(Date.now() / 1000) - 60
    const quiet = { transactions: [0, 0] as const, skipChance: 0.2 }
    this.chain = createTokenChain({ seed, firstTimeS, finalAfterSlots: FINAL_AFTER_SLOTS, ...quiet })
    const { machine, ledger } = this.chain
    ledger.onBlock(({ blockhash }) => this.heldAt.set(blockhash, this.chain.held(this.mint)))
    const fees = program === TOKEN ? [] : [extensions.transferFee(MAKER, 250, 1_000n)]
    createMint(machine, this.mint, { program, decimals: 6, mintAuthority: MAKER, extensions: fees })
    this.open(MAKER, 0)
    machine.run(mintTo(program, this.mint, this.accountOf(MAKER, 0), MAKER, 1_000_000_000n))
    ledger.advance({ blocks: 1 })
  }

  private accountOf = (owner: string, n: number): string => keyFrom(`account ${n} of ${owner} of ${this.mint}`)

  private open(owner: string, n: number): string {
    const account = this.accountOf(owner, n)
    if (this.chain.machine.account(account)?.owner !== this.program)
      openAccount(this.chain.machine, this.program, account, this.mint, owner, this.program === TOKEN ? 0 : FEE_BYTES)
    return account
  }

  /** May fail, for want of tokens or of the account, and then moves nothing. */
  private attempt(...calls: Call[]): void {
    try {
      this.chain.machine.run(...calls)
    } catch {}
  }

  private act(): void {
    const { random, program, mint, owners } = this
    const [owner, other] = [random.pick(owners.slice(1)), random.pick(owners)]
    const [from, amount] = [this.accountOf(owner, random.int(0, 2)), BigInt(random.int(1, 100_000))]
    const token = { program, mint, decimals: 6 }
    const kind = random.int(0, 11)
    if (kind <= 4)
      this.attempt(moveTokens(token, [this.accountOf(MAKER, 0), this.open(other, random.int(0, 2))], MAKER, amount))
    else if (kind <= 7) this.attempt(moveTokens(token, [from, this.open(other, random.int(0, 2))], owner, amount))
    else if (kind === 8) this.attempt(burn(program, from, mint, owner, amount))
    else if (kind === 9) this.attempt(giveAccount(program, from, owner, other))
    else if (kind === 10) this.attempt(mintTo(program, mint, from, MAKER, amount))
    else this.empty(from, owner)
  }

  /** Whoever gives all away and closes the account holds nothing any more. */
  private empty(account: string, owner: string): void {
    const { program, mint, chain } = this
    const data = chain.machine.account(account)?.data
    if (data === undefined || data.length < 72) return
    const all = Buffer.from(data).readBigUInt64LE(64)
    if (program === TOKEN_2022) this.attempt(harvestFees(mint, account))
    const move = moveTokens({ program, mint, decimals: 6 }, [account, this.accountOf(MAKER, 0)], owner, all)
    this.attempt(move, closeAccount(program, account, MAKER, owner))
  }

  /** No block is without a move: empty ones may stay unpublished. */
  mine(blocks: number): void {
    for (let block = 0; block < blocks; block += 1) {
      for (let n = this.random.int(0, 3); n > 0; n -= 1) this.act()
      const to = this.open(this.owners[1] ?? '', 0)
      const token = { program: this.program, mint: this.mint, decimals: 6 }
      this.chain.machine.run(moveTokens(token, [this.accountOf(MAKER, 0), to], MAKER, 1n))
      this.chain.ledger.advance({ blocks: 1 })
    }
  }

  mintMore(raw: bigint): void {
    this.chain.machine.run(mintTo(this.program, this.mint, this.accountOf(MAKER, 0), MAKER, raw))
  }

  /** One of the owners gives all away; returns who. */
  leave(): string {
    const { chain, mint, program } = this
    const [owner = ''] = [...chain.held(mint).keys()].filter((one) => one !== MAKER && one !== this.owners[1])
    for (const [address, account] of chain.accountsAt(chain.ledger.tip.slot)) {
      const token = account.owner === program ? readTokenAccount(account) : null
      if (token?.mint === mint && token.owner === owner) this.empty(address, owner)
    }
    if (chain.held(mint).has(owner)) throw new Error(`${owner} still has tokens`)
    return owner
  }

  /** Never below the first block that is read. */
  reorg(first: number): void {
    const { ledger } = this.chain
    const open = ledger.blocks.filter(({ slot }) => slot >= Math.max(first, ledger.finalizedSlot))
    const depth = this.random.int(1, 3)
    const ancestor = open.at(-1 - depth)
    if (ancestor === undefined) return
    const { slot: orphaned } = ledger.tip
    this.branches += 1
    this.chain.die(ancestor.slot, `branch ${this.branches}`)
    // A reader asks for blocks when there is a higher one.
    while (ledger.tip.slot <= orphaned) this.mine(1)
  }
}
