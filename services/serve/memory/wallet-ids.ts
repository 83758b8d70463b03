/** The id of an empty wallet: it counts for none. */
export const NO_WALLET = 0

/** Small numbers for the wallets of kept trades: each name is held once, as long as a trade uses it. */
export interface WalletIds {
  /** Counts as one more use. */
  use(wallet: string): number
  release(id: number): void
  clear(): void
  readonly size: number
}

export function createWalletIds(): WalletIds {
  const ids = new Map<string, number>()
  let names: string[] = ['']
  let uses: number[] = [0]
  let free: number[] = []

  function add(wallet: string): number {
    const id = free.pop() ?? names.length
    names[id] = wallet
    uses[id] = 0
    ids.set(wallet, id)
    return id
  }

  return {
    use(wallet) {
      if (wallet === '') return NO_WALLET
      const id = ids.get(wallet) ?? add(wallet)
      uses[id] = (uses[id] ?? 0) + 1
      return id
    },
    release(id) {
      if (id === NO_WALLET) return
      const left = (uses[id] ?? 0) - 1
      uses[id] = left
      if (left > 0) return
      ids.delete(names[id] ?? '')
      names[id] = ''
      free.push(id)
    },
    clear() {
      ids.clear()
      names = ['']
      uses = [0]
      free = []
    },
    get size() {
      return ids.size
    },
  }
}
