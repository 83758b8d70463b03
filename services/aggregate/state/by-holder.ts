/** Values by token and holder. */

/** A slot: the entry's place + 1 (0: free), the token's number, the holder's number. */
const SLOT = 3
const FIRST_BITS = 6

/**
 * Flat and in the order they were added. Texts are numbered first: there are few, so their maps stay in the processor's cache, while a
 * map of holders for each token costs a miss at every step.
 */
export class ByHolder<Value> {
  private tokenNumbers = new Map<string, number>()
  private holderNumbers = new Map<string, number>()
  private tokens: string[] = []
  private holders: string[] = []
  private values: Value[] = []
  private slots = new Int32Array(SLOT * 2 ** FIRST_BITS)
  private shift = 32 - FIRST_BITS

  get size(): number {
    return this.values.length
  }

  get(token: string, holder: string): Value | undefined {
    const tokenNumber = this.tokenNumbers.get(token)
    const holderNumber = this.holderNumbers.get(holder)
    if (tokenNumber === undefined || holderNumber === undefined) return undefined
    const place = this.slots[this.slotOf(tokenNumber, holderNumber)] as number
    return place === 0 ? undefined : this.values[place - 1]
  }

  set(token: string, holder: string, value: Value): void {
    const { slots } = this
    const tokenNumber = numberOf(this.tokenNumbers, token)
    const holderNumber = numberOf(this.holderNumbers, holder)
    const slot = this.slotOf(tokenNumber, holderNumber)
    const place = slots[slot] as number
    if (place !== 0) {
      this.values[place - 1] = value
      return
    }
    this.tokens.push(token)
    this.holders.push(holder)
    slots[slot] = this.values.push(value)
    slots[slot + 1] = tokenNumber
    slots[slot + 2] = holderNumber
    if (this.size * 2 * SLOT > slots.length) this.grow()
  }

  /** Takes all values of another, which is then empty. */
  take(other: ByHolder<Value>): void {
    if (this.size === 0) this.become(other)
    else for (const [token, holder, value] of other.entries()) this.set(token, holder, value)
    other.clear()
  }

  clear(): void {
    this.become(new ByHolder())
  }

  *entries(): Generator<readonly [token: string, holder: string, value: Value]> {
    const { tokens, holders, values } = this
    for (let at = 0; at < values.length; at += 1)
      yield [tokens[at] as string, holders[at] as string, values[at] as Value]
  }

  /** Where an entry is, or would be. */
  private slotOf(tokenNumber: number, holderNumber: number): number {
    const { slots } = this
    const home = Math.imul(Math.imul(tokenNumber, 0x85ebca6b) ^ holderNumber, 0x9e3779b1) >>> this.shift
    for (let slot = home * SLOT; ; slot = slot + SLOT === slots.length ? 0 : slot + SLOT) {
      if (slots[slot] === 0 || (slots[slot + 1] === tokenNumber && slots[slot + 2] === holderNumber)) return slot
    }
  }

  private become(other: ByHolder<Value>): void {
    this.tokenNumbers = other.tokenNumbers
    this.holderNumbers = other.holderNumbers
    this.tokens = other.tokens
    this.holders = other.holders
    this.values = other.values
    this.slots = other.slots
    this.shift = other.shift
  }

  private grow(): void {
    const old = this.slots
    this.slots = new Int32Array(old.length * 2)
    this.shift -= 1
    for (let at = 0; at < old.length; at += SLOT) {
      if (old[at] === 0) continue
      const slot = this.slotOf(old[at + 1] as number, old[at + 2] as number)
      for (let field = 0; field < SLOT; field += 1) this.slots[slot + field] = old[at + field] as number
    }
  }
}

function numberOf(numbers: Map<string, number>, text: string): number {
  const known = numbers.get(text)
  if (known !== undefined) return known
  const next = numbers.size
  numbers.set(text, next)
  return next
}
