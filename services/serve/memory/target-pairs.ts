const NONE: readonly string[] = []

/** Which pairs have a token as their target, in the order they became known. */
export interface TargetPairs {
  /** A pair that was not there before. */
  add(target: string, pair: string): void
  remove(target: string, pair: string): void
  of(target: string): readonly string[]
  clear(): void
}

export function createTargetPairs(): TargetPairs {
  const byTarget = new Map<string, string[]>()
  return {
    add(target, pair) {
      const pairs = byTarget.get(target)
      if (pairs === undefined) byTarget.set(target, [pair])
      else pairs.push(pair)
    },
    remove(target, pair) {
      const left = (byTarget.get(target) ?? NONE).filter((one) => one !== pair)
      if (left.length === 0) byTarget.delete(target)
      else byTarget.set(target, left)
    },
    of: (target) => byTarget.get(target) ?? NONE,
    clear: () => byTarget.clear(),
  }
}
