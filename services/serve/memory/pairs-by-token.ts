const NONE: readonly string[] = []

/** Which pairs have a token on one side (as target, or as quote), in the order they became known. */
export interface PairsByToken {
  /** A pair that was not there before. */
  add(token: string, pair: string): void
  remove(token: string, pair: string): void
  of(token: string): readonly string[]
  clear(): void
}

export function createPairsByToken(): PairsByToken {
  const byToken = new Map<string, string[]>()
  return {
    add(token, pair) {
      const pairs = byToken.get(token)
      if (pairs === undefined) byToken.set(token, [pair])
      else pairs.push(pair)
    },
    remove(token, pair) {
      const left = (byToken.get(token) ?? NONE).filter((one) => one !== pair)
      if (left.length === 0) byToken.delete(token)
      else byToken.set(token, left)
    },
    of: (token) => byToken.get(token) ?? NONE,
    clear: () => byToken.clear(),
  }
}
