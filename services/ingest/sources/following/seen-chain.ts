/** The blocks seen so far, by height: where a new head attaches to them, and which of them it orphans. */
import { DextapeError } from '../../../core/domain/errors.js'
import type { ChainNodes, Header } from './chain-nodes.js'

/** Enough to walk back in memory from any head to finality. */
const HEADERS_HELD = 8192

/** `append`: the headers continue the tip. `reorg`: they continue an older block, and the blocks above it are orphaned. */
export type HeadStep =
  | { kind: 'append'; headers: readonly Header[] }
  | { kind: 'reorg'; to: Header; headers: readonly Header[] }
  /** Nothing to do: known, behind, or a branch that was gone before it could be walked. */
  | { kind: 'none' }

type Asks = Pick<ChainNodes<Header>, 'headerByHash' | 'headerByNumber'>

export class SeenChain {
  private readonly byNumber = new Map<number, Header>()
  private last: Header

  /** Oldest first; heights may be missing between them. */
  constructor(
    private readonly chain: string,
    known: readonly [Header, ...Header[]],
  ) {
    this.last = known[0]
    for (const header of known) this.push(header)
  }

  get tip(): Header {
    return this.last
  }

  push(header: Header): void {
    this.byNumber.set(header.number, header)
    this.last = header
    if (this.byNumber.size <= HEADERS_HELD) return
    const oldest = this.byNumber.keys().next().value
    if (oldest !== undefined) this.byNumber.delete(oldest)
  }

  cutTo(header: Header): void {
    for (const number of this.byNumber.keys()) if (number > header.number) this.byNumber.delete(number)
    this.last = header
  }

  forgetBelow(number: number): void {
    for (const known of this.byNumber.keys()) {
      if (known >= number) return
      this.byNumber.delete(known)
    }
  }

  /** What a head means. `isShort`: no node has had a block at the tip's height for longer than nodes usually lag. */
  async stepTo(head: Header, asks: Asks, isShort: () => boolean, signal: AbortSignal): Promise<HeadStep> {
    if (this.byNumber.get(head.number)?.hash === head.hash) return { kind: 'none' }
    if (head.number > this.last.number) return this.walk(head, asks, signal)
    // Not higher, and not ours: a reorg only if the nodes have another block at the tip's height, or lastingly none.
    const atTip = await asks.headerByNumber(this.last.number, signal)
    if (atTip?.hash === this.last.hash) return { kind: 'none' }
    if (atTip !== null) return this.walk(atTip, asks, signal)
    return isShort() ? this.walk(head, asks, signal) : { kind: 'none' }
  }

  /** Walks from an unseen block down to a seen one. */
  private async walk(head: Header, asks: Asks, signal: AbortSignal): Promise<HeadStep> {
    const lowest = this.byNumber.keys().next().value ?? this.last.number
    const headers = [head]
    for (let child = head; ; ) {
      const below = child.parentNumber ?? child.number - 1
      const own = this.byNumber.get(below)
      if (own?.hash === child.parentHash) {
        const kind = own.hash === this.last.hash ? 'append' : 'reorg'
        return kind === 'append' ? { kind, headers } : { kind, to: own, headers }
      }
      if (below <= lowest) {
        const ground = this.byNumber.get(lowest)
        // One wrong answer must not stop the chain: it is a reorg below finality only if the nodes lost the lowest block.
        if (await this.isStillThere(ground, asks, signal)) return { kind: 'none' }
        throw tooDeep(this.chain, lowest, ground?.hash, head)
      }
      const parent = await asks.headerByHash(child.parentHash, below, signal)
      if (parent === null) return { kind: 'none' }
      headers.unshift(parent)
      child = parent
    }
  }

  private async isStillThere(ground: Header | undefined, asks: Asks, signal: AbortSignal): Promise<boolean> {
    if (ground === undefined) return false
    return (await asks.headerByNumber(ground.number, signal))?.hash === ground.hash
  }
}

function tooDeep(chain: string, lowest: number, hash: string | undefined, head: Header): DextapeError {
  return new DextapeError({
    code: 'reorg_below_finality',
    what: `Reorg below finality at block ${lowest}`,
    where: { chain, block: lowest },
    expected: `${lowest} ${hash ?? ''} below ${head.number} ${head.hash}`,
    got: 'a different block at that height',
    // Without --from the backfill starts where the live history does, so nothing older is lost.
    fix: `If the nodes are right, rewrite the history: dextape backfill --chain ${chain} (with its --rpc and scope options, unless they are configured). If a node is on a wrong fork, remove it from the configuration`,
  })
}
