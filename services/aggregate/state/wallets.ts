/** When each wallet last traded: the base of exact distinct counts. Names are interned while a table refers to them. */

/** Maps names to small integers, with a use count: an unused name is freed. */
export class WalletNames {
  private readonly ids = new Map<string, number>()
  private readonly names: string[] = []
  private readonly uses: number[] = []
  private readonly free: number[] = []

  idOf(name: string): number {
    const known = this.ids.get(name)
    if (known !== undefined) return known
    const id = this.free.pop() ?? this.names.length
    this.names[id] = name
    this.uses[id] = 0
    this.ids.set(name, id)
    return id
  }

  nameOf(id: number): string {
    return this.names[id] as string
  }

  use(id: number): void {
    this.uses[id] = (this.uses[id] as number) + 1
  }

  release(id: number): void {
    const uses = (this.uses[id] as number) - 1
    this.uses[id] = uses
    if (uses > 0) return
    this.ids.delete(this.nameOf(id))
    this.names[id] = ''
    this.free.push(id)
  }

  get size(): number {
    return this.ids.size
  }
}

/** So small that the engine keeps the table inside its object. */
const FIRST_CAPACITY = 4
const SLOT = 3

/** Open addressing: slots of (wallet id + 1, last buy, last sell); 0 for never. */
export class WalletTable {
  private slots = new Uint32Array(FIRST_CAPACITY * SLOT)
  private shift = 32 - Math.log2(FIRST_CAPACITY)
  size = 0
  private sweepAt = 64

  constructor(private readonly names: WalletNames) {}

  /** Where a wallet is, until the table changes; below 0: it never traded. */
  find(id: number): number {
    let slot = this.home(id)
    for (;;) {
      const mark = this.slots[slot] as number
      if (mark === id + 1) return slot
      if (mark === 0) return -1
      slot = this.after(slot)
    }
  }

  lastBuy(slot: number): number {
    return slot < 0 ? 0 : (this.slots[slot + 1] as number)
  }

  lastSell(slot: number): number {
    return slot < 0 ? 0 : (this.slots[slot + 2] as number)
  }

  /** `found`: of `find`. A wallet that never bought and never sold is removed. */
  set(id: number, buyS: number, sellS: number, found = this.find(id)): void {
    let slot = found
    if (buyS === 0 && sellS === 0) {
      if (slot >= 0) this.delete(slot)
      return
    }
    if (slot < 0) {
      if ((this.size + 1) * 2 * SLOT > this.slots.length) this.resize(this.slots.length * 2)
      slot = this.insertSlot(id)
      this.slots[slot] = id + 1
      this.size += 1
      this.names.use(id)
    }
    this.slots[slot + 1] = buyS
    this.slots[slot + 2] = sellS
  }

  /** Removes wallets last seen before `timeS`, only after the table has doubled: the cost per insert stays constant. */
  sweep(timeS: number): void {
    if (this.size < this.sweepAt) return
    const gone: number[] = []
    this.each((id, buyS, sellS) => {
      if (buyS < timeS && sellS < timeS) gone.push(id)
    })
    for (const id of gone) this.delete(this.find(id))
    const needed = Math.max(FIRST_CAPACITY, 2 ** Math.ceil(Math.log2(this.size * 2 + 1)))
    if (needed * SLOT < this.slots.length / 2) this.resize(needed * SLOT)
    this.sweepAt = this.size * 2 + 64
  }

  each(visit: (id: number, buyS: number, sellS: number) => void): void {
    for (let slot = 0; slot < this.slots.length; slot += SLOT) {
      const mark = this.slots[slot] as number
      if (mark !== 0) visit(mark - 1, this.slots[slot + 1] as number, this.slots[slot + 2] as number)
    }
  }

  /** Releases the names; the table must not be used afterwards. */
  dispose(): void {
    this.each((id) => this.names.release(id))
    this.size = 0
  }

  clone(): WalletTable {
    const copy = new WalletTable(this.names)
    this.each((id, buyS, sellS) => copy.set(id, buyS, sellS))
    return copy
  }

  private home(id: number): number {
    return (Math.imul(id + 1, 0x9e3779b1) >>> this.shift) * SLOT
  }

  private insertSlot(id: number): number {
    let slot = this.home(id)
    while (this.slots[slot] !== 0) slot = this.after(slot)
    return slot
  }

  private after(slot: number): number {
    const next = slot + SLOT
    return next === this.slots.length ? 0 : next
  }

  /** Backward-shift deletion keeps probe chains whole without tombstones. */
  private delete(slot: number): void {
    this.names.release((this.slots[slot] as number) - 1)
    this.size -= 1
    let hole = slot
    let next = this.after(hole)
    for (;;) {
      const mark = this.slots[next] as number
      if (mark === 0) break
      const home = this.home(mark - 1)
      const reachable = hole <= next ? home <= hole || home > next : home <= hole && home > next
      if (reachable) {
        this.slots.copyWithin(hole, next, next + SLOT)
        hole = next
      }
      next = this.after(next)
    }
    this.slots[hole] = 0
  }

  private resize(length: number): void {
    const old = this.slots
    this.slots = new Uint32Array(length)
    this.shift = 32 - Math.log2(length / SLOT)
    for (let from = 0; from < old.length; from += SLOT) {
      const mark = old[from] as number
      if (mark === 0) continue
      const slot = this.insertSlot(mark - 1)
      this.slots[slot] = mark
      this.slots[slot + 1] = old[from + 1] as number
      this.slots[slot + 2] = old[from + 2] as number
    }
  }
}
