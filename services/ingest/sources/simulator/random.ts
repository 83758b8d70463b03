/**
 * Seeded pseudo-random numbers (sfc32), one stream per slot and transaction: draws from one never shift another. Only integer and basic float arithmetic: the same on every machine.
 */
export type Random = {
  /** Starts the stream identified by these four words. */
  start(seed: number, chain: number, slot: number, ordinal: number): void
  /** 32 random bits, unsigned. */
  word(): number
  /** In [0, 1). */
  next(): number
  /** Integer, both ends inclusive. */
  int(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  /** Bell-shaped: mean 0, variance 1, within ±3.5. */
  bell(): number
  /** Log-normal with mean 1. */
  skewed(sigma: number): number
}

const WARM_UP = 10

export function createRandom(): Random {
  let a = 0
  let b = 0
  let c = 0
  let counter = 1
  function word(): number {
    const mixed = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + mixed
    c |= 0
    return mixed >>> 0
  }
  const next = (): number => word() / 4_294_967_296
  const int = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  const bell = (): number => (next() + next() + next() + next() - 2) * 1.7320508075688772
  return {
    start(seed, chain, slot, ordinal) {
      a = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b)
      b = Math.imul(chain, 0xc2b2ae35) ^ Math.floor(slot / 4_294_967_296)
      c = slot | 0
      counter = Math.imul(ordinal, 0x27d4eb2f) | 1
      for (let round = 0; round < WARM_UP; round += 1) word()
    },
    word,
    next,
    int,
    chance: (probability) => next() < probability,
    pick(items) {
      const item = items[int(0, items.length - 1)]
      if (item === undefined) throw new Error('Cannot pick from an empty list')
      return item
    },
    bell,
    skewed: (sigma) => exponential(sigma * bell() - (sigma * sigma) / 2),
  }
}

/** e^x from additions and multiplications alone: Math.exp may differ in its last bit between engines. */
export function exponential(x: number): number {
  const small = x / 256
  let power = 1 + small * (1 + (small / 2) * (1 + (small / 3) * (1 + (small / 4) * (1 + small / 5))))
  for (let doubling = 0; doubling < 8; doubling += 1) power *= power
  return power
}

/** A word from a name, to separate the streams of chains and kinds. */
export function wordOf(name: string): number {
  let mixed = 0x811c9dc5
  for (const letter of name) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193)
  return mixed >>> 0
}
