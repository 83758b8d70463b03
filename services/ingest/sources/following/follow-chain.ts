/**
 * A chain as a source: ranges up to the head, then block by block, each decoded and yielded with its position; reorgs
 * are detected by parent hashes and yielded as retracts. What differs between chain families is passed in.
 */
import type { ChainFacts } from '../../../core/domain/chains.js'
import type { Block, DeadLetter, Event, Retract } from '../../../core/domain/records.js'
import { isRetryable } from '../../../core/runtime/backoff.js'
import type { Logger } from '../../../core/runtime/logger.js'
import type { Source, SourceItem } from '../../source.js'
import { catchBookUp } from './catch-book-up.js'
import type { Progress } from './catch-up-progress.js'
import type { ChainNodes, Head, Header } from './chain-nodes.js'
import { type ChunkSize, inChunks } from './chunks.js'
import type { FinalityWatch } from './finality.js'
import type { ChainBook } from './journaled-map.js'
import { type HeadStep, SeenChain } from './seen-chain.js'

export type ChainPosition = Mark & {
  /** If the position came from the log: the blocks below it there, newest last. */
  recent?: readonly Mark[]
}

type Mark = { number: number; hash: string; timeS: number }

export type DecodedBlock = {
  events: Event[]
  lost: readonly DeadLetter[]
  /** Events that are only known after a reading; they end the block, which is published for them. */
  later?: (signal: AbortSignal) => Promise<readonly Event[]>
}

export interface BlockDecoder<B extends Header> {
  /**
   * Reads what these blocks need; each is then decoded between the book's `begin` and `end`. `parent`: the block before the first.
   * `isPublished`: false if the blocks are on the log already, and only the book has to follow.
   */
  prepare(
    blocks: readonly B[],
    parent: Header,
    signal: AbortSignal,
    isPublished?: boolean,
  ): Promise<(block: B) => DecodedBlock>
  /** Reads and fills in what decoding found missing. */
  complete?(decoded: readonly DecodedBlock[], signal: AbortSignal): Promise<void>
  /** Called after a reorg: drops what was cached from orphaned blocks. */
  forget?(): void
}

export type FollowedChain<B extends Header> = {
  chain: string
  name: string
  id: string
  nodes: ChainNodes<B>
  decoder: BlockDecoder<B>
  /** The decoder's state, with undo per block. */
  book: ChainBook
  /** The first block to publish, if nothing was published yet. */
  firstBlock(signal: AbortSignal): Promise<Header>
  finality: FinalityWatch
  progress: Progress
  /** A block's weight: ranges are cut to similar weights. */
  weightOf(block: B): number
  chunkSize: ChunkSize
  logger: Logger
  nowMs: () => number
}

type Item = SourceItem<ChainPosition>

/** This far behind the head, ranges are cheaper than single blocks. */
const RANGE_FROM_BLOCKS = 12
/** An empty block is published if the last one is this old, so that chain time advances without trades. */
const PUBLISH_EVERY_S = 10
/** A shorter chain is accepted after this long. */
const SHORTER_FOR_MS = 4000

export function followChain<B extends Header>(parts: FollowedChain<B>): Source<ChainPosition> {
  let run: ChainRun<B> | undefined
  return {
    id: parts.id,
    name: parts.name,
    items(from, signal, recent) {
      run = new ChainRun(parts, signal)
      return run.items(from, recent)
    },
    positionAt: (head, recent) => ({ ...markOf(head), recent: recent.map(markOf) }),
    reached: () => run?.reached,
    async close() {
      await parts.nodes.close()
      await parts.book.close()
    },
  }
}

class ChainRun<B extends Header> {
  private seen: SeenChain | undefined
  /** Published blocks that a reorg may return to, newest last. */
  private published: Mark[] = []
  private shorterSinceMs: number | undefined

  constructor(
    private readonly parts: FollowedChain<B>,
    private readonly signal: AbortSignal,
  ) {}

  async *items(from: ChainPosition | undefined, recent?: readonly Mark[]): AsyncGenerator<Item> {
    try {
      const first = await this.open(from, recent)
      if (first !== undefined) yield* this.publish(first.blocks, first.parent)
      for await (const head of this.parts.nodes.heads(this.signal)) {
        if (this.signal.aborted) return
        yield* this.advanceTo(head)
        yield { kind: 'idle' }
      }
    } catch (error) {
      if (!this.signal.aborted) throw error
    }
  }

  /** Moves the book to the log's last block; returns the first block to publish if the log has none. */
  private async open(
    from: ChainPosition | undefined,
    recent: readonly Mark[] = [],
  ): Promise<{ blocks: readonly B[]; parent: Header } | undefined> {
    const { book, nodes, firstBlock, logger, chain } = this.parts
    await this.parts.finality.refresh(this.signal)
    if (from === undefined) {
      book.clear()
      const start = await firstBlock(this.signal)
      const blocks = await nodes.blocks([start], this.signal)
      const parent = await this.parentOf(start)
      this.seen = new SeenChain(chain, [parent])
      return { blocks, parent }
    }
    // After a crash between the book's rollback and the retract on the log, the checkpoint names a block the book has undone.
    const ground = book.steps.some(({ hash }) => hash === from.hash) ? undefined : book.groundOf(from.hash)
    // The book is committed before blocks are published, so it may be ahead of the log.
    const isAhead = (book.steps.at(-1)?.number ?? 0) > from.number
    book.rollback(ground ?? from.number)
    const publishedStep = () => book.steps.findLast(({ published }) => published)
    if (isAhead && ground === undefined && publishedStep()?.hash !== from.hash) await this.catchBookUp(from, recent)
    const kept = book.steps.filter(({ published }) => published).map(markOf)
    const isKept = kept.at(-1)?.hash === from.hash || ground !== undefined
    if (!isKept) {
      // The log was written on another machine, or is of another generation: state is read again as needed.
      logger.info('no local state for this chain; pools and tokens are read again as they appear', { chain })
      book.clear()
    }
    // The log is the best source of what was published; a new book, or one of another machine, knows less.
    const fromLog = recent.at(-1)?.hash === from.hash ? recent.map(markOf) : undefined
    const below = fromLog ?? (isKept ? kept : (from.recent ?? []))
    this.published = [...below.filter(({ number }) => number < from.number), markOf(from)]
    const headers = this.published.map((mark) => ({ ...mark, parentHash: '' }))
    this.seen = new SeenChain(chain, headers as [Header, ...Header[]])
    return undefined
  }

  private async catchBookUp(to: Mark, recent: readonly Mark[]): Promise<void> {
    const { book, nodes, decoder, chunkSize, weightOf } = this.parts
    const prepare: typeof decoder.prepare = (blocks, parent, signal) => decoder.prepare(blocks, parent, signal, false)
    const onLog = new Set(recent.map(({ hash }) => hash))
    await catchBookUp({ book, nodes, prepare, chunkSize, weightOf }, to, onLog, this.signal)
  }

  private async parentOf({ number, parentNumber = number - 1, parentHash, timeS }: Header): Promise<Header> {
    const parent = await this.parts.nodes.headerByHash(parentHash, parentNumber, this.signal)
    return parent ?? { number: parentNumber, hash: parentHash, parentHash: '', timeS }
  }

  /** The last block read. */
  get reached(): number | undefined {
    return this.seen?.tip.number
  }

  private get chainSeen(): SeenChain {
    if (this.seen === undefined) throw new Error('the source was not opened')
    return this.seen
  }

  private async *advanceTo(given: Head): AsyncGenerator<Item> {
    for (let head = given; !this.signal.aborted; ) {
      await this.forgetFinal()
      const { tip } = this.chainSeen
      const behind = head.number - tip.number
      if ('hash' in head && behind <= RANGE_FROM_BLOCKS) {
        yield* this.stepTo(head)
        return
      }
      if (behind <= 0) return
      yield* this.catchUp(head.number, behind > RANGE_FROM_BLOCKS)
      // Nothing is readable yet: wait for the next head.
      if (this.chainSeen.tip === tip) return
      head = await this.parts.nodes.head(this.signal)
    }
  }

  /** Drops what no reorg can return to. */
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

  private async *catchUp(to: number, isLong: boolean): AsyncGenerator<Item> {
    const { nodes, progress, chunkSize: size, weightOf } = this.parts
    if (isLong) progress.target(to)
    const fetch = (from: number, last: number) => nodes.range(from, last, this.signal)
    for await (const blocks of inChunks({ from: this.chainSeen.tip.number + 1, to, fetch, size, weightOf })) {
      if (this.signal.aborted) return
      const [first] = blocks
      if (first === undefined) continue
      const { tip } = this.chainSeen
      if (first.parentHash !== tip.hash) {
        // The chain was reorganised meanwhile, or a block between the ranges is missing.
        yield* this.stepTo(first)
        return
      }
      yield* this.publish(blocks, tip)
      await this.forgetFinal()
      if (isLong) progress.at(this.chainSeen.tip.number)
    }
  }

  private async *stepTo(head: Header): AsyncGenerator<Item> {
    const step = await this.chainSeen.stepTo(head, this.parts.nodes, () => this.isShort(), this.signal)
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

  /** Undefined if the branch vanished before it was read: wait for the next head. */
  private async fetchStep({ headers }: Exclude<HeadStep, { kind: 'none' }>): Promise<B[] | undefined> {
    const { nodes } = this.parts
    try {
      return await nodes.blocks(headers, this.signal)
    } catch (error) {
      if (!isRetryable(error) || this.signal.aborted) throw error
      const last = headers.at(-1)
      const now = last === undefined ? null : await nodes.headerByNumber(last.number, this.signal)
      if (now?.hash === last?.hash) throw error
      return undefined
    }
  }

  private async *retractTo(ancestor: Header): AsyncGenerator<Item> {
    const { book, chain, logger, decoder } = this.parts
    const tip = this.published.at(-1)
    book.rollback(ancestor.number)
    decoder.forget?.()
    this.chainSeen.cutTo(ancestor)
    if (tip === undefined || tip.number <= ancestor.number) return
    this.published = this.published.filter(({ number }) => number <= ancestor.number)
    const ground = this.published.at(-1)
    if (ground === undefined) throw new Error('reorg without a published block below it')
    const retract: Retract = {
      ...{ chain, from_number: tip.number, from_hash: tip.hash },
      ...{ to_number: ground.number, to_hash: ground.hash },
    }
    logger.warn('reorg', { chain, from: tip.number, to: ground.number, depth: tip.number - ground.number })
    yield { kind: 'record', record: { kind: 'retract', retract }, position: () => this.mark(ground) }
  }

  /** Commits the book before the position is checkpointed; it may be ahead of the position. */
  private mark(position: Mark): ChainPosition {
    this.parts.book.commit(this.parts.finality.finalOf(this.chainSeen.tip.number), position.number)
    return position
  }

  /** `parent`: the block before the first. */
  private async *publish(blocks: readonly B[], parent: Header): AsyncGenerator<Item> {
    const { decoder } = this.parts
    const decode = await decoder.prepare(blocks, parent, this.signal)
    const decoded = blocks.map((block) => this.decode(block, decode))
    await decoder.complete?.(decoded, this.signal)
    await Promise.all(decoded.map((one) => one.later?.(this.signal).then((events) => one.events.push(...events))))
    for (const { block, before, isPublished, events, lost } of decoded) {
      if (!isPublished) continue
      const mark = markOf(block)
      // Dead letters go before their block: after a crash between them both come again.
      for (const letter of lost) yield { kind: 'dead', letter, position: () => this.mark(before ?? mark) }
      yield { kind: 'record', record: this.record(block, events, before), position: () => this.mark(mark) }
    }
  }

  /** `before`: the block published before it. */
  private decode(block: B, decode: (block: B) => DecodedBlock) {
    const { book } = this.parts
    book.begin(block)
    const { events, lost, later } = decode(block)
    const before = this.published.at(-1)
    const since = block.timeS - (before?.timeS ?? Number.NEGATIVE_INFINITY)
    const isPublished = events.length > 0 || lost.length > 0 || later !== undefined || since >= PUBLISH_EVERY_S
    book.end(isPublished)
    this.chainSeen.push(headerOf(block))
    if (isPublished) this.published.push(markOf(block))
    return { block, before, isPublished, events, lost, ...(later === undefined ? {} : { later }) }
  }

  private record(block: B, events: Block['events'], before: Mark | undefined) {
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
}

/** Header fields only: headers are kept for as long as a block may be orphaned. */
const headerOf = ({ number, hash, parentHash, timeS }: Header): Header => ({ number, hash, parentHash, timeS })
const markOf = ({ number, hash, timeS }: Mark): Mark => ({ number, hash, timeS })

/** Options for opening a chain of any family. */
export type OpenSourceOptions<Config> = {
  config: Config
  facts: ChainFacts
  /** A folder for this chain and generation. */
  bookPath: string
  logger: Logger
  progressMs: number
  signal: AbortSignal
  nowMs?: () => number
}
