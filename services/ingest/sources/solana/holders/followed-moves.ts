/** Which accounts of a token moved in each block since a first one; follows the chain through reorgs. */

type Block = { number: number; hash: string; moved: ReadonlySet<string> }

export class FollowedMoves {
  private readonly blocks: Block[]
  /** Accounts that moved after `since`; undefined: to be collected. */
  private after: { since: number; accounts: Set<string> } | undefined

  constructor(first: Omit<Block, 'moved'>) {
    this.blocks = [{ number: first.number, hash: first.hash, moved: new Set() }]
  }

  /** False if the chain no longer contains the first block. */
  follow(
    { number, hash, parentHash }: { number: number; hash: string; parentHash: string },
    moved: Block['moved'],
  ): boolean {
    const parent = this.blocks.findLastIndex((block) => block.hash === parentHash)
    if (parent === -1) return false
    if (parent < this.blocks.length - 1) {
      this.blocks.length = parent + 1
      this.after = undefined
    }
    this.blocks.push({ number, hash, moved })
    if (this.after !== undefined && number > this.after.since)
      for (const account of moved) this.after.accounts.add(account)
    return true
  }

  /** Accounts that moved in blocks above this slot. */
  movedAfter(slot: number): ReadonlySet<string> {
    if (this.after?.since === slot) return this.after.accounts
    const accounts = new Set<string>()
    for (const { number, moved } of this.blocks) if (number > slot) for (const account of moved) accounts.add(account)
    this.after = { since: slot, accounts }
    return accounts
  }
}
