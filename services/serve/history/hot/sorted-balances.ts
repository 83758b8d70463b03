import type { Balance } from '../balances.js'

/** The largest balances of a token, largest first. All holders that are not in it have less than its floor. */
export class SortedBalances {
  private sorted: Balance[]
  private readonly byHolder: Map<string, Balance>
  /** No holder that is not kept comes before it; undefined: all holders are kept. */
  private floor: Balance | undefined

  /** `balances`: the largest ones, in order. */
  constructor(
    balances: readonly Balance[],
    isAll: boolean,
    private readonly most: number,
  ) {
    this.sorted = [...balances]
    this.byHolder = new Map(balances.map((balance) => [balance.holder, balance]))
    this.floor = isAll ? undefined : balances.at(-1)
  }

  get size(): number {
    return this.sorted.length
  }

  /** The first `count`; undefined: too few are left, and others may follow. */
  first(count: number): readonly Balance[] | undefined {
    return this.floor !== undefined && this.sorted.length < count ? undefined : this.sorted.slice(0, count)
  }

  /** Takes over changed balances. */
  apply(changed: readonly Balance[]): void {
    for (const balance of changed) this.put(balance)
    if (this.sorted.length > 2 * this.most) this.cut()
  }

  private put(balance: Balance): void {
    const known = this.byHolder.get(balance.holder)
    if (known?.balanceRaw === balance.balanceRaw) return
    if (known !== undefined) {
      this.byHolder.delete(balance.holder)
      this.sorted = this.sorted.filter((one) => one !== known)
    }
    if (!isHeld(balance) || (this.floor !== undefined && compareBalances(balance, this.floor) > 0)) return
    this.byHolder.set(balance.holder, balance)
    const at = this.sorted.findIndex((one) => compareBalances(balance, one) < 0)
    this.sorted = at < 0 ? [...this.sorted, balance] : this.sorted.toSpliced(at, 0, balance)
  }

  private cut(): void {
    for (const { holder } of this.sorted.slice(this.most)) this.byHolder.delete(holder)
    this.sorted = this.sorted.slice(0, this.most)
    this.floor = this.sorted.at(-1)
  }
}

/** As the store sorts them: raw integers have no leading zeros, so longer means larger. */
export function compareBalances(a: Balance, b: Balance): number {
  if (a.balanceRaw.length !== b.balanceRaw.length) return b.balanceRaw.length - a.balanceRaw.length
  if (a.balanceRaw !== b.balanceRaw) return a.balanceRaw < b.balanceRaw ? 1 : -1
  return a.holder < b.holder ? -1 : a.holder > b.holder ? 1 : 0
}

const isHeld = ({ balanceRaw }: Balance): boolean => balanceRaw !== '0' && !balanceRaw.startsWith('-')
