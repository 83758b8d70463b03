/**
 * Keyed values with undo per block: besides the values, the map keeps what each recent block changed. Values in use are
 * in memory, the rest in LMDB; a commit is one transaction, so after a crash the values are those of some block that
 * can still be undone.
 */
import { deserialize, serialize } from 'node:v8'
import { open, type RootDatabase } from 'lmdb'

/** A block that was applied to the map. */
export type Step = {
  number: number
  hash: string
  timeS: number
  /** The block is on the log. */
  published: boolean
}

type Journal = Step & { undo: [key: string, value: unknown][] }

/** Published blocks that were undone, and the height below them. */
type Undone = { hashes: string[]; ground: number; commits: number }

export type JournaledMapOptions = {
  path: string
  /** Values held in memory besides those not written yet. */
  cachedValues?: number
}

const CACHED_VALUES = 200_000
const JOURNAL = 'journal/'
const VALUE = 'value/'
/** The key in existing data directories. */
const UNDONE = 'left'
const FIRST = 'first'
/** A checkpoint is never older than the commit before last. */
const COMMITS_REMEMBERED = 3

export class JournaledMap {
  private readonly db: RootDatabase<Buffer, string>
  private readonly cachedValues: number
  /** Null: known to be absent. Least recently used first. */
  private readonly cache = new Map<string, unknown>()
  private readonly dirty = new Set<string>()
  /** Never replaced: callers hold on to this list. */
  private readonly journals: Journal[]
  private unwritten: { put: Set<Journal>; dropped: Set<number> } = { put: new Set(), dropped: new Set() }
  private current: Journal | undefined
  private undone: Undone[]
  private firstNumber: number | undefined
  /** Blocks of the last two commits: the checkpoint is at one of them. */
  private committed: [number, number] = [0, 0]

  constructor({ path, cachedValues = CACHED_VALUES }: JournaledMapOptions) {
    this.db = open<Buffer, string>({ path, encoding: 'binary', noSubdir: false })
    this.cachedValues = cachedValues
    this.journals = [...this.db.getRange({ start: JOURNAL, end: `${JOURNAL}~` })].map(
      ({ value }) => deserialize(value) as Journal,
    )
    const undone = this.db.get(UNDONE)
    this.undone = undone === undefined ? [] : (deserialize(undone) as Undone[])
    const first = this.db.get(FIRST)
    this.firstNumber = first === undefined ? undefined : (deserialize(first) as number)
  }

  /** The first block ever applied. */
  get first(): number | undefined {
    return this.firstNumber
  }

  /**
   * The height below a published block that was undone recently; undefined if it was not. After a crash between this
   * commit and the retract on the log, the checkpoint still names the undone block.
   */
  groundOf(hash: string): number | undefined {
    return this.undone.find(({ hashes }) => hashes.includes(hash))?.ground
  }

  /** The blocks that can be rolled back to, oldest first; the last is the current one. */
  get steps(): readonly Step[] {
    return this.journals
  }

  get(key: string): unknown {
    let value = this.cache.get(key)
    if (value === undefined && !this.cache.has(key)) {
      const kept = this.db.get(VALUE + key)
      value = kept === undefined ? null : deserialize(kept)
    } else if (this.cache.size <= this.cachedValues) {
      // Nothing is evicted yet, so the order of use does not matter.
      return value
    } else {
      this.cache.delete(key)
    }
    this.cache.set(key, value)
    return value
  }

  /** What follows the prefix in every key with a value, in no order. Reads all of them from disk. */
  keysFrom(prefix: string): string[] {
    const start = VALUE + prefix
    const found = new Set<string>()
    for (const key of this.db.getKeys({ start })) {
      if (!key.startsWith(start)) break
      found.add(key.slice(start.length))
    }
    for (const key of this.dirty) {
      if (!key.startsWith(prefix)) continue
      if (this.get(key) === null) found.delete(key.slice(prefix.length))
      else found.add(key.slice(prefix.length))
    }
    return [...found]
  }

  set(key: string, value: unknown): void {
    const { current } = this
    if (current === undefined) throw new Error('a value was set outside of a block')
    current.undo.push([key, this.get(key)])
    this.put(key, value)
  }

  private put(key: string, value: unknown): void {
    if (this.cache.size > this.cachedValues) this.cache.delete(key)
    this.cache.set(key, value)
    this.dirty.add(key)
  }

  /** Starts a block: the following changes belong to it. */
  begin({ number, hash, timeS }: Omit<Step, 'published'>): void {
    // Only these fields: a whole block's logs would be stored with every step.
    this.current = { number, hash, timeS, published: false, undo: [] }
    this.journals.push(this.current)
    this.unwritten.put.add(this.current)
    this.firstNumber ??= number
    // Applied again: it is no longer undone.
    for (const each of this.undone) each.hashes = each.hashes.filter((undone) => undone !== hash)
  }

  end(published: boolean): void {
    const { current } = this
    this.current = undefined
    if (current === undefined) return
    current.published = published
    if (published || current.undo.length > 0) return
    this.journals.pop()
    this.unwritten.put.delete(current)
  }

  /** Undoes every block above `number`. */
  rollback(number: number): void {
    this.current = undefined
    const hashes: string[] = []
    for (let last = this.journals.at(-1); last !== undefined && last.number > number; last = this.journals.at(-1)) {
      for (const [key, value] of last.undo.reverse()) this.put(key, value)
      if (last.published) hashes.push(last.hash)
      this.journals.pop()
      this.drop(last)
    }
    if (hashes.length > 0) this.undone.push({ hashes, ground: number, commits: 0 })
  }

  /** Drops the undo of blocks at or below `finalNumber`, which no reorg reaches; the newest published one of them stays. */
  forget(finalNumber: number): void {
    const below = Math.min(finalNumber, this.committed[0])
    const ground = this.journals.findLastIndex(({ number, published }) => published && number <= below)
    if (ground > 0) for (const journal of this.journals.splice(0, ground)) this.drop(journal)
  }

  private drop(journal: Journal): void {
    this.unwritten.put.delete(journal)
    this.unwritten.dropped.add(journal.number)
  }

  /**
   * Durable when it returns: a checkpoint of the block `at` may be written right after, and blocks above it can still
   * be undone. No reorg reaches blocks at or below `finalNumber`, so those since the last commit share one undo step.
   */
  commit(finalNumber = 0, at = this.journals.at(-1)?.number ?? 0): void {
    this.mergeUpTo(Math.min(finalNumber, at))
    const { put, dropped } = this.unwritten
    this.undone = this.undone
      .map((undone) => ({ ...undone, commits: undone.commits + 1 }))
      .filter(({ commits }) => commits <= COMMITS_REMEMBERED)
    if (this.dirty.size > 0 || put.size > 0 || dropped.size > 0) {
      this.db.transactionSync(() => {
        for (const key of this.dirty) {
          const value = this.cache.get(key)
          if (value === null || value === undefined) this.db.removeSync(VALUE + key)
          else this.db.putSync(VALUE + key, serialize(value))
        }
        for (const number of dropped) this.db.removeSync(journalKey(number))
        this.db.putSync(UNDONE, serialize(this.undone))
        if (this.firstNumber !== undefined) this.db.putSync(FIRST, serialize(this.firstNumber))
        for (const journal of put) this.db.putSync(journalKey(journal.number), serialize(journal))
      })
    }
    this.dirty.clear()
    this.unwritten = { put: new Set(), dropped: new Set() }
    this.committed = [this.committed[1], at]
    this.shrink()
  }

  private mergeUpTo(finalNumber: number): void {
    const first = this.journals.findIndex((journal) => this.unwritten.put.has(journal))
    const last = this.journals.findLastIndex(({ number, published }) => published && number <= finalNumber)
    const whole = this.journals[last]
    if (first === -1 || whole === undefined || last <= first) return
    const undo = new Map<string, unknown>()
    for (const journal of this.journals.slice(first, last + 1)) {
      for (const [key, value] of journal.undo) if (!undo.has(key)) undo.set(key, value)
      if (journal !== whole) this.unwritten.put.delete(journal)
    }
    whole.undo = [...undo]
    this.journals.splice(first, last - first)
  }

  private shrink(): void {
    for (const key of this.cache.keys()) {
      if (this.cache.size <= this.cachedValues) return
      this.cache.delete(key)
    }
  }

  clear(): void {
    this.db.clearSync()
    this.cache.clear()
    this.dirty.clear()
    this.journals.length = 0
    this.undone = []
    this.firstNumber = undefined
    this.unwritten = { put: new Set(), dropped: new Set() }
  }

  async close(): Promise<void> {
    await this.db.close()
  }
}

const journalKey = (number: number): string => `${JOURNAL}${number.toString().padStart(16, '0')}`

/** What following a chain does with a book, whatever its family keeps in it. */
export type ChainBook = Pick<
  JournaledMap,
  'begin' | 'end' | 'rollback' | 'groundOf' | 'forget' | 'commit' | 'clear' | 'close'
> & {
  readonly steps: JournaledMap['steps']
  /** The first block ever applied. */
  first(): number | undefined
}

export const chainBook = (map: JournaledMap): ChainBook => ({
  steps: map.steps,
  first: () => map.first,
  begin: (step) => map.begin(step),
  end: (published) => map.end(published),
  rollback: (number) => map.rollback(number),
  groundOf: (hash) => map.groundOf(hash),
  forget: (finalNumber) => map.forget(finalNumber),
  commit: (finalNumber, at) => map.commit(finalNumber, at),
  clear: () => map.clear(),
  close: () => map.close(),
})
