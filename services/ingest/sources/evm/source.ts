/**
 * An EVM chain as a source: ranges up to the head, then block by block, each decoded and given with its place; a reorg is found by
 * parent hashes and given as a retract.
 */
import type { DextapeError } from '../../../core/domain/errors.js'
import type { Block, Retract } from '../../../core/domain/records.js'
import { isRetryable } from '../../../core/runtime/backoff.js'
import type { Logger } from '../../../core/runtime/logger.js'
import { decodeBlock } from '../../decode/evm/block/decode-block.js'
import { type DecodeRules, mayBeInScope, venueRef } from '../../decode/evm/block/rules.js'
import type { EvmBlock, EvmLog } from '../../decode/evm/log.js'
import { BadLog, type Refusal } from '../../decode/evm/protocol.js'
import type { Source, SourceItem } from '../../source.js'
import { type ChunkSize, firstChunkSize, inChunks } from '../following/chunks.js'
import type { FinalityWatch } from '../following/finality.js'
import type { Progress } from '../following/progress.js'
import { type HeadStep, SeenChain } from '../following/seen-chain.js'
import type { KeptBook } from './book/kept-book.js'
import type { ChainReader, CheckedBlock, Header, LogFilter } from './chain-reader.js'
import { deadLetterOf } from './dead-letter.js'
import { type BlockToLearn, learnFor } from './learn.js'

export type EvmPosition = Mark & {
  /** Where the log itself told the position: what it holds below, newest last. */
  recent?: readonly Mark[]
}

type Mark = { number: number; hash: string; timeS: number }

export type EvmSourceParts = {
  chain: string
  name: string
  id: string
  reader: ChainReader
  rules: DecodeRules
  filter: LogFilter
  book: KeptBook
  /** The first block to publish, where nothing was published yet. */
  firstBlock(signal: AbortSignal): Promise<Header>
  finality: FinalityWatch
  progress: Progress
  logger: Logger
  nowMs: () => number
}

type Item = SourceItem<EvmPosition>

/** So far behind the head, ranges are cheaper than blocks one by one. */
const RANGE_FROM_BLOCKS = 12
/** Chain time must not stand still because nobody trades: an empty block is published when the last one is so old. */
const PUBLISH_EVERY_S = 10
/** A chain that became shorter than what was seen is believed after this. */
const SHORTER_FOR_MS = 4000
const REFUSALS_HELD = 500_000

export function createEvmSource(parts: EvmSourceParts): Source<EvmPosition> {
  let run: EvmRun | undefined
  return {
    id: parts.id,
    name: parts.name,
    items(from, signal, recent) {
      run = new EvmRun(parts, signal)
      return run.items(from, recent)
    },
    positionAt: (head, recent) => ({ ...markOf(head), recent: recent.map(markOf) }),
    reached: () => run?.reached,
    async close() {
      await parts.reader.close()
      await parts.book.close()
    },
  }
}

class EvmRun {
  private readonly refusals = new Map<string, Refusal>()
  private readonly chunkSize: ChunkSize = firstChunkSize()
  private prunedTold = false
  private seen: SeenChain | undefined
  /** Published blocks that a reorg may go back to, newest last. */
  private published: Mark[] = []
  private shorterSinceMs: number | undefined

  constructor(
    private readonly parts: EvmSourceParts,
    private readonly signal: AbortSignal,
  ) {}

  async *items(from: EvmPosition | undefined, recent?: readonly Mark[]): AsyncGenerator<Item> {
    try {
      const first = await this.open(from, recent)
      if (first !== undefined) yield* this.publish([first.block], first.parent)
      for await (const head of this.parts.reader.heads(this.signal)) {
        if (this.signal.aborted) return
        yield* this.advanceTo(head)
        yield { kind: 'idle' }
      }
    } catch (error) {
      if (!this.signal.aborted) throw error
    }
  }

  /** Puts the book where the log is; the first block to publish where the log has none. */
  private async open(
    from: EvmPosition | undefined,
    recent: readonly Mark[] = [],
  ): Promise<{ block: EvmBlock; parent: Header } | undefined> {
    const { book, reader, filter, firstBlock, logger, chain } = this.parts
    await this.parts.finality.refresh(this.signal)
    if (from === undefined) {
      book.clear()
      const start = await firstBlock(this.signal)
      const [block] = await this.withSenders([await reader.block(start.hash, filter, this.signal)])
      const parent = await this.parentOf(start)
      this.seen = new SeenChain(chain, [parent])
      return block === undefined ? undefined : { block, parent }
    }
    // A crash after the book went back, before the retract was on the log: the checkpoint tells a block the book has left.
    const ground = book.steps.some(({ hash }) => hash === from.hash) ? undefined : book.groundOf(from.hash)
    book.rollback(ground ?? from.number)
    const kept = book.steps.filter(({ published }) => published).map(markOf)
    // Committed before the blocks are published, it may know a block that no checkpoint tells of.
    const isKept = kept.at(-1)?.hash === from.hash || ground !== undefined
    if (!isKept) {
      // Another machine's, or another generation's: what the chain tells is read again when it is met.
      logger.info('what was known of the chain is not here; it is learned again as it is met', { chain })
      book.clear()
    }
    // The log knows best what is on it; a book of another machine's chain, or one begun since, knows less.
    const told = recent.at(-1)?.hash === from.hash ? recent.map(markOf) : undefined
    const below = told ?? (isKept ? kept : (from.recent ?? []))
    this.published = [...below.filter(({ number }) => number < from.number), markOf(from)]
    const headers = this.published.map((mark) => ({ ...mark, parentHash: '' }))
    this.seen = new SeenChain(chain, headers as [Header, ...Header[]])
    return undefined
  }

  private async parentOf({ number, parentHash, timeS }: Header): Promise<Header> {
    const parent = await this.parts.reader.headerByHash(parentHash, this.signal)
    return parent ?? { number: number - 1, hash: parentHash, parentHash: '', timeS }
  }

  /** The last block read. */
  get reached(): number | undefined {
    return this.seen?.tip.number
  }

  private get chainSeen(): SeenChain {
    if (this.seen === undefined) throw new Error('the source was not opened')
    return this.seen
  }

  private async *advanceTo(given: Header): AsyncGenerator<Item> {
    const { reader, progress } = this.parts
    for (let head = given; !this.signal.aborted; ) {
      await this.forgetFinal()
      const behind = head.number - this.chainSeen.tip.number
      if (behind <= RANGE_FROM_BLOCKS) {
        yield* this.stepTo(head)
        return
      }
      progress.target(head.number)
      yield* this.catchUp(head.number)
      head = await reader.head(this.signal)
    }
  }

  /** What is final is never gone back to, nor below it. */
  private async forgetFinal(): Promise<void> {
    const { book, finality } = this.parts
    await finality.refresh(this.signal)
    const final = finality.finalOf(this.chainSeen.tip.number)
    book.forget(final)
    const ground = this.published.findLastIndex(({ number }) => number <= final)
    if (ground > 0) this.published.splice(0, ground)
    const [lowest] = this.published
    if (lowest !== undefined) this.chainSeen.forgetBelow(lowest.number)
  }

  private async *catchUp(to: number): AsyncGenerator<Item> {
    const { reader, filter, progress } = this.parts
    const fetch = async (from: number, last: number) =>
      this.withSenders(await reader.blocks(from, last, filter, this.signal))
    for await (const blocks of inChunks({ from: this.chainSeen.tip.number + 1, to, fetch, size: this.chunkSize })) {
      const [first] = blocks
      if (first === undefined || this.signal.aborted) return
      const { tip } = this.chainSeen
      if (first.parentHash !== tip.hash) {
        // The chain moved under the ranges, or while nobody looked.
        yield* this.stepTo(first)
        return
      }
      yield* this.publish(blocks, tip)
      await this.forgetFinal()
      progress.at(this.chainSeen.tip.number)
    }
  }

  private async *stepTo(head: Header): AsyncGenerator<Item> {
    const step = await this.chainSeen.stepTo(head, this.parts.reader, () => this.isShort(), this.signal)
    if (step.kind === 'none') return
    this.shorterSinceMs = undefined
    const blocks = await this.fetchStep(step)
    if (blocks === undefined) return
    if (step.kind === 'reorg') yield* this.retractTo(step.to)
    yield* this.publish(blocks, this.chainSeen.tip)
  }

  private isShort(): boolean {
    const now = this.parts.nowMs()
    this.shorterSinceMs ??= now
    return now - this.shorterSinceMs >= SHORTER_FOR_MS
  }

  /** Undefined: the branch is gone before it could be read; the next head tells more. */
  private async fetchStep({ headers }: Exclude<HeadStep, { kind: 'none' }>): Promise<EvmBlock[] | undefined> {
    const { reader, filter } = this.parts
    try {
      return await this.withSenders(
        await Promise.all(headers.map(({ hash }) => reader.block(hash, filter, this.signal))),
      )
    } catch (error) {
      if (!isRetryable(error) || this.signal.aborted) throw error
      const last = headers.at(-1)
      const now = last === undefined ? null : await reader.headerByNumber(last.number, this.signal)
      if (now?.hash === last?.hash) throw error
      return undefined
    }
  }

  private async *retractTo(ancestor: Header): AsyncGenerator<Item> {
    const { book, chain, logger } = this.parts
    const tip = this.published.at(-1)
    book.rollback(ancestor.number)
    this.refusals.clear()
    this.chainSeen.cutTo(ancestor)
    if (tip === undefined || tip.number <= ancestor.number) return
    this.published = this.published.filter(({ number }) => number <= ancestor.number)
    const ground = this.published.at(-1)
    if (ground === undefined) throw new Error('a reorg without a published block below it')
    const retract: Retract = {
      ...{ chain, from_number: tip.number, from_hash: tip.hash },
      ...{ to_number: ground.number, to_hash: ground.hash },
    }
    logger.warn('reorg', { chain, from: tip.number, to: ground.number, depth: tip.number - ground.number })
    yield { kind: 'record', record: { kind: 'retract', retract }, position: () => this.mark(ground) }
  }

  /** Everything up to this item is decoded into the book, which is written down before the position is. */
  private mark(position: Mark): EvmPosition {
    this.parts.book.commit(this.parts.finality.finalOf(this.chainSeen.tip.number))
    return position
  }

  /** `parent`: the block before the first. */
  private async *publish(blocks: readonly EvmBlock[], parent: Header): AsyncGenerator<Item> {
    const { book, reader, rules } = this.parts
    const toLearn = blocks.map((block, index): BlockToLearn => ({ block, parent: blocks[index - 1] ?? parent }))
    if (this.refusals.size > REFUSALS_HELD) this.refusals.clear()
    const deps = { reader, rules, refusals: this.refusals, onPruned: (error: DextapeError) => this.tellPruned(error) }
    const learned = await learnFor(toLearn, book, deps, this.signal)
    for (const block of blocks) {
      book.begin(block)
      const { events, lost } = decodeBlock(block, book, learned, rules)
      const before = this.published.at(-1)
      const since = block.timeS - (before?.timeS ?? Number.NEGATIVE_INFINITY)
      const isPublished = events.length > 0 || lost.length > 0 || since >= PUBLISH_EVERY_S
      book.end(isPublished)
      this.chainSeen.push(headerOf(block))
      if (!isPublished) continue
      const mark = markOf(block)
      for (const log of lost) {
        const letter = deadLetterOf(log, this.parts.chain, this.parts.name, block.timeS)
        // The letter goes before its block: after a crash between them both come again.
        yield { kind: 'dead', letter, position: () => this.mark(before ?? mark) }
      }
      this.published.push(mark)
      yield { kind: 'record', record: this.record(block, events, before), position: () => this.mark(mark) }
    }
  }

  private record(block: EvmBlock, events: Block['events'], before: Mark | undefined) {
    const record: Block = {
      chain: this.parts.chain,
      number: block.number,
      hash: block.hash,
      parent_hash: before?.hash ?? block.parentHash,
      time: block.timeS,
      finalized_number: this.parts.finality.finalOf(block.number),
      part: 0,
      last_part: 0,
      events,
    }
    return { kind: 'block' as const, block: record }
  }

  private tellPruned(error: DextapeError): void {
    if (this.prunedTold) return
    this.prunedTold = true
    this.parts.logger.warn('a node has forgotten the state of old blocks: what only the state tells stays unknown', {
      chain: this.parts.chain,
      error,
    })
  }

  private async withSenders(blocks: readonly CheckedBlock[]): Promise<EvmBlock[]> {
    const wanted = blocks.flatMap((block) => {
      const txHashes = [...new Set(block.logs.filter((log) => this.needsSender(log)).map(({ txHash }) => txHash))]
      return txHashes.length === 0 ? [] : [{ block, txHashes }]
    })
    const senders = wanted.length === 0 ? new Map() : await this.parts.reader.senders(wanted, this.signal)
    return blocks.map((block) => ({ ...block, senders }))
  }

  private needsSender(log: EvmLog): boolean {
    try {
      const ref = venueRef(log, this.parts.rules)
      return ref !== null && !this.refusals.has(ref.id) && mayBeInScope(this.parts.rules.scope, ref.id)
    } catch (error) {
      if (error instanceof BadLog) return false
      throw error
    }
  }
}

/** Without the logs: headers are held for as long as a block may be orphaned. */
const headerOf = ({ number, hash, parentHash, timeS }: Header): Header => ({ number, hash, parentHash, timeS })
const markOf = ({ number, hash, timeS }: Mark): Mark => ({ number, hash, timeS })
