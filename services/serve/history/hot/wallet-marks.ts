/** Of which wallets trades must be read again, by the seq of the update that may last have changed them. */
export class WalletMarks {
  private readonly changed = new Map<string, number>()
  /** Of all of them: a reorg removed trades of some. */
  private allSeq = NEVER

  note(wallet: string, seq: number): void {
    this.changed.set(wallet, seq)
  }

  noteAll(seq: number): void {
    this.allSeq = seq
  }

  has(wallet: string): boolean {
    return this.allSeq !== NEVER || this.changed.has(wallet)
  }

  /** These were read when the store had everything up to `storedSeq`. `newSeq`: of the last update that may have changed one not followed before. */
  read(wallets: readonly string[], storedSeq: number, isNew: (wallet: string) => boolean, newSeq: number): void {
    for (const wallet of wallets) {
      const ownSeq = this.changed.get(wallet) ?? (isNew(wallet) ? newSeq : NEVER)
      const lastSeq = Math.max(ownSeq, this.allSeq)
      if (lastSeq > storedSeq) this.changed.set(wallet, lastSeq)
      else this.changed.delete(wallet)
    }
    if (this.allSeq <= storedSeq) this.allSeq = NEVER
  }

  /** Forgets those that are not followed any longer. */
  keep(isFollowed: (wallet: string) => boolean): void {
    for (const wallet of this.changed.keys()) if (!isFollowed(wallet)) this.changed.delete(wallet)
  }
}

/** Below any update's seq, and what a store without updates has. */
const NEVER = -1
