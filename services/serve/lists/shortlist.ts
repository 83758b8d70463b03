/** The first items in an order, of as many as are offered, without sorting all of them. */
export interface Shortlist<Item> {
  offer(item: Item): void
  items(): Item[]
}

export function createShortlist<Item>(limit: number, compare: (a: Item, b: Item) => number): Shortlist<Item> {
  const kept: Item[] = []
  let last: Item | undefined
  return {
    offer(item) {
      if (last !== undefined && compare(item, last) >= 0) return
      kept.push(item)
      if (kept.length < 2 * limit) return
      kept.sort(compare).length = limit
      last = kept[limit - 1]
    },
    items: () => kept.sort(compare).slice(0, limit),
  }
}

/** Higher first, unknown last. */
export function descending(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
  return b - a
}

export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
