/** All accounts of a token as of one final slot, by owner, and whether they are all of its supply. */
import { setImmediate } from 'node:timers/promises'
import { DextapeError } from '../../../../core/domain/errors.js'
import type { HolderList } from '../../../decode/solana/block/read-holders.js'
import type { ListedAccount } from '../../../decode/solana/locks/state-rounds.js'
import { HELD_BYTES, readTokenAccount, readWithheld } from '../../../decode/solana/locks/token-account.js'
import { type Mint, readMint } from '../../../decode/solana/token/mint.js'
import type { AccountLister } from '../rpc/account-lister.js'

export type TokenNodes = Pick<AccountLister, 'account' | 'tokenAccounts'>

/** Blocks are read between. */
const AT_ONCE = 5_000
/** A supply that changes all the time is seldom known as of the slot of the list. */
const ATTEMPTS = 5

export async function readTokenAccounts(
  { chain, token }: { chain: string; token: string },
  nodes: TokenNodes,
  minSlot: number,
  signal: AbortSignal,
): Promise<HolderList> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await mintAt(minSlot)
    const { program, extensions } = before.mint
    const firstBytes = extensions.transferFee === null ? { firstBytes: HELD_BYTES } : {}
    const list = { programId: program, mint: token, ...firstBytes }
    const { slot, value: accounts } = await nodes.tokenAccounts(list, before.slot, signal)
    const after = await mintAt(slot)
    const issued = [before, after].find((one) => one.slot === slot) ?? (isSame(before.mint, after.mint) ? after : null)
    if (issued === null && attempt < ATTEMPTS) continue
    const { owners, heldRaw } = await byOwner(accounts)
    const supplyRaw = issued === null ? null : issued.mint.supplyRaw
    const withheldRaw = issued?.mint.extensions.transferFee?.withheldRaw ?? 0n
    return { token, slot, decimals: before.mint.decimals, owners, heldRaw: heldRaw + withheldRaw, supplyRaw }
  }

  async function mintAt(slot: number): Promise<{ slot: number; mint: Mint }> {
    const { slot: at, value } = await nodes.account(token, slot, signal)
    const mint = value === null ? null : readMint(value, token)
    if (mint !== null) return { slot: at, mint }
    throw new DextapeError({
      code: 'holders_not_mint',
      what: `Token ${token} is not a mint any more`,
      where: { chain },
      fix: `Remove it: dextape scope remove --chain ${chain} --holders ${token}`,
    })
  }

  async function byOwner(accounts: readonly ListedAccount[]): Promise<Pick<HolderList, 'owners' | 'heldRaw'>> {
    const owners = new Map<string, Map<string, bigint>>()
    let heldRaw = 0n
    for (const [place, account] of accounts.entries()) {
      if (place % AT_ONCE === AT_ONCE - 1) await setImmediate()
      const held = readTokenAccount(account)
      if (held?.mint !== token) throw notOfToken(account.address)
      heldRaw += held.amount + readWithheld(account.data)
      if (held.amount === 0n) continue
      const ofOwner = owners.get(held.owner)
      if (ofOwner === undefined) owners.set(held.owner, new Map([[account.address, held.amount]]))
      else ofOwner.set(account.address, held.amount)
    }
    return { owners, heldRaw }
  }

  function notOfToken(address: string): DextapeError {
    return new DextapeError({
      code: 'node_lies',
      what: `A node listed ${address} as an account of ${token}, which it is not`,
      where: { chain },
      retry: true,
    })
  }
}

const isSame = (one: Mint, other: Mint): boolean =>
  one.supplyRaw === other.supplyRaw &&
  one.extensions.transferFee?.withheldRaw === other.extensions.transferFee?.withheldRaw
