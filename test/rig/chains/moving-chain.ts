/**
 * A chain that plays a recording, with its reorgs: its lines happen one after another over time.
 * Its source faces the same moves of the head as a source of nodes, without a node.
 */
import { readFileSync } from 'node:fs'
import type { ChainStart } from '../../../services/core/config/index.js'
import type { ChainFamily } from '../../../services/core/domain/chains.js'
import { DextapeError } from '../../../services/core/domain/errors.js'
import type { Block } from '../../../services/core/domain/records.js'
import { sleep } from '../../../services/core/runtime/backoff.js'
import type { PublishedBlock, Source, SourceItem } from '../../../services/ingest/source.js'
import { fullEvent, isRetract, type RecordingLine } from '../reference/lines.js'

export type MovingPlan = {
  lines: readonly RecordingLine[]
  family: ChainFamily
  /** How many lines have happened so far. */
  trueLines: () => number
  start: ChainStart
}

type Position = { recent: PublishedBlock[] }

const POLL_MS = 5
/** Blocks emitted before the head is checked again. */
const STRIDE = 7

export function openMovingChain({ lines, family, trueLines, start }: MovingPlan, id: string): Source<Position> {
  const canonical: Block[] = []
  let read = 0

  function updateHead(): void {
    for (const end = Math.min(lines.length, trueLines()); read < end; read += 1) {
      const line = lines[read] as RecordingLine
      if (isRetract(line)) canonical.length = canonical.findIndex(({ hash }) => hash === line.to_hash) + 1
      else {
        const { kind: _, events, ...head } = line
        canonical.push({ ...head, part: 0, last_part: 0, events: events.map((event) => fullEvent(event, family)) })
      }
    }
  }

  const firstWanted = (): number => {
    if (start.kind === 'latest') return canonical.length - 1
    const isWanted = ({ number, time }: Block) =>
      start.kind === 'block' ? number >= start.number : time >= start.timeS
    const at = canonical.findIndex(isWanted)
    return at === -1 ? canonical.length : at
  }

  async function* items(from: Position | undefined, signal: AbortSignal): AsyncGenerator<SourceItem<Position>> {
    const recent = [...(from?.recent ?? [])]
    const position = () => {
      const kept = [...recent]
      return () => ({ recent: kept })
    }
    while (!signal.aborted) {
      updateHead()
      const head = recent.at(-1)
      const common = recent.findLastIndex((mark) => canonical.some(({ hash }) => hash === mark.hash))
      const stays = recent[common]
      if (head !== undefined && stays === undefined) throw tooDeep(head)
      if (head !== undefined && stays !== undefined && stays !== head) {
        recent.length = common + 1
        const { chain } = canonical[0] as Block
        const ends = { from_number: head.number, from_hash: head.hash, to_number: stays.number, to_hash: stays.hash }
        yield { kind: 'record', record: { kind: 'retract', retract: { chain, ...ends } }, position: position() }
      }
      const next = stays === undefined ? firstWanted() : canonical.findIndex(({ hash }) => hash === stays.hash) + 1
      for (const block of canonical.slice(Math.max(0, next), next + STRIDE)) {
        recent.push(markOf(block))
        yield { kind: 'record', record: { kind: 'block', block }, position: position() }
      }
      if (next + STRIDE < canonical.length) continue
      yield { kind: 'idle' }
      await sleep(POLL_MS, signal)
    }
  }

  return { id, name: id, items, positionAt: (_head, recent) => ({ recent: [...recent] }) }
}

const markOf = ({ number, hash, time, finalized_number }: Block): PublishedBlock => ({
  ...{ number, hash, timeS: time, finalizedNumber: finalized_number },
})

function tooDeep(head: PublishedBlock): DextapeError {
  return new DextapeError({
    code: 'reorg_too_deep',
    what: 'No published block is in the chain',
    where: { block: head.number },
  })
}

export const readLines = (path: string): RecordingLine[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordingLine)
