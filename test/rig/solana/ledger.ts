/**
 * A simulated Solana chain: some slots are skipped, blocks are linked by hash, and some are orphaned.
 * It depends only on the seed and the calls made, so it can be repeated.
 */
import type { JsonTransaction } from '../../ingest/decode/solana/encodings.js'
import { type BranchState, blockContent, type ContentOptions, FIRST_STATE } from './block-content.js'
import type { PoolTrade } from './moving-pool.js'
import { keyFrom, randomFrom } from './seeded.js'

export type LedgerBlock = {
  slot: number
  parentSlot: number
  blockhash: string
  previousBlockhash: string
  blockTimeS: number
  blockHeight: number
  transactions: readonly JsonTransaction[]
  /** Trades of the moving pool, in order. */
  trades: readonly PoolTrade[]
  state: BranchState
}

export type LedgerOptions = Partial<ContentOptions> & {
  seed: number
  firstSlot?: number
  /** Time of the first slot. */
  firstTimeS?: number
  skipChance?: number
  /** Distance of the final slot from the head: 32 slots on mainnet. */
  finalAfterSlots?: number
  /** More transactions of the next block. */
  takeMore?: (recentBlockhash: string) => readonly JsonTransaction[]
}

export type Ledger = {
  /** Blocks of the current chain, lowest first. */
  readonly blocks: readonly LedgerBlock[]
  readonly tip: LedgerBlock
  /** The last block that can no longer be orphaned. */
  readonly finalizedSlot: number
  blockAt(slot: number): LedgerBlock | undefined
  /** Advances time, by at least `blocks` blocks if given. Returns the new blocks. */
  advance(step?: { slots: number } | { blocks: number }): LedgerBlock[]
  /**
   * Orphans every block above the slot; later blocks are of another branch. `sameSlots`: it starts in the slot of the first
   * orphaned block, else after the last.
   */
  die(afterSlot: number, how: { branch: string; sameSlots: boolean }): void
  /** Called with every new block. Returns a function that unsubscribes. */
  onBlock(listener: (block: LedgerBlock) => void): () => void
}

export const SLOT_MS = 400
export const FIRST_SLOT = 300_000_000
const FIRST_TIME_S = 1_730_000_000
const HEIGHT_BELOW_SLOT = 21_000_000

export function createLedger(options: LedgerOptions): Ledger {
  const { seed, firstSlot = FIRST_SLOT, firstTimeS = FIRST_TIME_S, skipChance = 0.15, finalAfterSlots = 32 } = options
  const { transactions = [1, 5], weights = {}, isRepeated = () => true, takeMore = () => [] } = options
  const content: ContentOptions = { transactions, weights, isRepeated }
  let branch = 'main'
  let nextSlot = firstSlot
  let blocks: LedgerBlock[] = []
  let bySlot = new Map<number, LedgerBlock>()
  const listeners = new Set<(block: LedgerBlock) => void>()

  function addBlock(slot: number): LedgerBlock {
    const parent = blocks.at(-1)
    const previousBlockhash = parent?.blockhash ?? keyFrom(`${seed} before all`)
    const name = `${seed} ${branch} ${slot} ${previousBlockhash}`
    const random = randomFrom(name)
    const own = blockContent(name, previousBlockhash, parent?.state ?? FIRST_STATE, random, content)
    const block: LedgerBlock = {
      slot,
      parentSlot: parent?.slot ?? slot - 1,
      blockhash: keyFrom(`block ${name}`),
      previousBlockhash,
      blockTimeS: firstTimeS + Math.floor(((slot - firstSlot) * SLOT_MS) / 1000),
      blockHeight: (parent?.blockHeight ?? firstSlot - HEIGHT_BELOW_SLOT) + 1,
      ...own,
      transactions: [...own.transactions, ...takeMore(previousBlockhash)],
    }
    blocks.push(block)
    bySlot.set(slot, block)
    for (const listener of listeners) listener(block)
    return block
  }

  function* nextSlots(): Generator<LedgerBlock | null> {
    for (;;) {
      const slot = nextSlot++
      const isSkipped = blocks.length > 0 && randomFrom(`${seed} ${branch} skip ${slot}`).chance(skipChance)
      yield isSkipped ? null : addBlock(slot)
    }
  }

  addBlock(nextSlot++)
  const tip = (): LedgerBlock => {
    const last = blocks.at(-1)
    if (last === undefined) throw new Error('a chain without a block')
    return last
  }
  const finalizedSlot = (): number => {
    const [first] = blocks
    const limit = tip().slot - finalAfterSlots
    return blocks.findLast(({ slot }) => slot <= limit)?.slot ?? first?.slot ?? 0
  }

  return {
    get blocks() {
      return blocks
    },
    get tip() {
      return tip()
    },
    get finalizedSlot() {
      return finalizedSlot()
    },
    blockAt: (slot) => bySlot.get(slot),
    advance(step = { slots: 1 }) {
      const added: LedgerBlock[] = []
      let slots = 0
      for (const block of nextSlots()) {
        slots += 1
        if (block !== null) added.push(block)
        if ('slots' in step ? slots >= step.slots : added.length >= step.blocks) return added
      }
      return added
    },
    die(afterSlot, how) {
      if (afterSlot < finalizedSlot()) throw new Error(`slot ${afterSlot} is below what is final`)
      const firstDead = blocks.find(({ slot }) => slot > afterSlot)
      if (firstDead !== undefined && how.sameSlots) nextSlot = firstDead.slot
      blocks = blocks.filter(({ slot }) => slot <= afterSlot)
      bySlot = new Map(blocks.map((block) => [block.slot, block]))
      branch = how.branch
    },
    onBlock(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
