/** The first `limit` items in an order, without sorting all of them. */
export function firstOf<Item>(items: Iterable<Item>, limit: number, compare: (a: Item, b: Item) => number): Item[] {
  const kept: Item[] = []
  let last: Item | undefined
  for (const item of items) {
    if (last !== undefined && compare(item, last) >= 0) continue
    kept.push(item)
    if (kept.length < 2 * limit) continue
    kept.sort(compare).length = limit
    last = kept[limit - 1]
  }
  return kept.sort(compare).slice(0, limit)
}

/** Higher first, unknown last. */
export function descending(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
  return b - a
}

export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
