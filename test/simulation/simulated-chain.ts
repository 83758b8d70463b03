/** A chain's node: its blocks come, and go again in reorgs, whoever watches. */
import type { PublishedBlock, Source, SourceItem } from '../../services/ingest/source.js'
import { chainRecordOf } from '../rig/aggregate/fold-lines.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import type { Random } from '../rig/market/random.js'
import { isRetract, type RecordingBlock } from '../rig/reference/lines.js'
import type { SimulatedProcess } from './faults.js'
import type { VirtualTime } from './virtual-time.js'

export type SimulatedChain = {
  readonly chain: string
  /** The canonical blocks now. */
  readonly blocks: readonly RecordingBlock[]
  readonly isComplete: boolean
  /** Once its head moves. */
  moved(): Promise<void>
  /** Plays the whole chain, block by block. */
  play(time: VirtualTime, random: Random): Promise<void>
}

/** Most bugs show on few blocks; some need a long history. */
const LENGTHS = [
  [6, (random: Random) => random.int(6, 14)],
  [3, (random: Random) => random.int(15, 30)],
  [1, (random: Random) => random.int(30, 60)],
] as const

export function createSimulatedChain(chain: string, seed: number, random: Random): SimulatedChain {
  const lines = generateRecording({
    ...{ seed, chain, blocks: random.weighted(LENGTHS)(random) },
    options: {
      ...{ swapsPerBlock: random.int(1, 4), secondsPerBlock: random.pick([2, 12, 40]), wallets: 8 },
      retracts: { probability: random.pick([0, 0.1, 0.25]), maxDepth: random.pick([1, 3, 8]) },
    },
  })
  let blocks: RecordingBlock[] = []
  let waiting: (() => void)[] = []
  let isComplete = false
  return {
    chain,
    get blocks() {
      return blocks
    },
    get isComplete() {
      return isComplete
    },
    moved: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
      }),
    async play(time, pace) {
      for (const line of lines) {
        // A reorg replaces blocks at once: nobody sees the chain without its new head for long.
        await time.delay(
          isRetract(line)
            ? 0
            : pace.weighted([
                [6, pace.int(20, 400)],
                [1, 0],
                [1, pace.int(1000, 5000)],
              ]),
        )
        if (isRetract(line)) blocks = blocks.slice(0, blocks.findIndex(({ hash }) => hash === line.to_hash) + 1)
        else blocks = [...blocks, line]
        const woken = waiting
        waiting = []
        for (const wake of woken) wake()
      }
      isComplete = true
    },
  }
}

type Position = { number: number; hash: string }

/** Reads a node as the real sources do: it follows the head, and retracts what it published and the node no longer has. */
export function openSimulatedSource(node: SimulatedChain, process: SimulatedProcess): Source<Position> {
  const facts = marketMoney(node.chain)

  async function* items(
    from: Position | undefined,
    signal: AbortSignal,
    recent: readonly PublishedBlock[] = [],
  ): AsyncGenerator<SourceItem<Position>> {
    let head = from
    const published: Position[] = recent.map(({ number, hash }) => ({ number, hash }))
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    while (!signal.aborted) {
      const moved = node.moved()
      const blocks = await process.ask({ part: 'source', apply: () => node.blocks })
      const place = head === undefined ? -1 : blocks.findIndex(({ hash }) => hash === head?.hash)
      if (head !== undefined && place < 0) {
        const stays = published.findLastIndex(({ hash }) => blocks.some((block) => block.hash === hash))
        const to = published[stays]
        if (to === undefined) throw new Error(`no published block of ${node.chain} is on the chain any more`)
        published.length = stays + 1
        const retract = {
          ...{ chain: node.chain, from_number: head.number, from_hash: head.hash },
          ...{ to_number: to.number, to_hash: to.hash },
        }
        head = to
        yield { kind: 'record', record: { kind: 'retract', retract }, position: () => to }
        continue
      }
      const next = blocks[place + 1]
      if (next !== undefined) {
        const at = { number: next.number, hash: next.hash }
        head = at
        published.push(at)
        yield { kind: 'record', record: chainRecordOf(next, facts), position: () => at }
        continue
      }
      yield { kind: 'idle' }
      await Promise.race([moved, aborted])
      if (!process.life.isAlive) await new Promise<never>(() => {})
    }
  }

  return {
    id: `node/${node.chain}`,
    name: `simulated node of ${node.chain}`,
    items,
    positionAt: ({ number, hash }) => ({ number, hash }),
  }
}
