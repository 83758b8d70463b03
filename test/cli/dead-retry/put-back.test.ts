import { describe, expect, it } from 'vitest'
import { type DeadEvent, type LogGroup, nameOf, putBack, type Step } from '../../../services/cli/dead-retry/put-back.js'
import type { SourceRecord } from '../../../services/ingest/source.js'
import { blockAt, rawSwap, read } from '../../ingest/samples.js'
import { generateRecording } from '../../rig/market/generate.js'
import { createRandom } from '../../rig/market/random.js'
import { acceptedBlocks, type RecordingLine } from '../../rig/reference/lines.js'

function recordOf(value: unknown): SourceRecord {
  const line = read(value)
  if (line.kind === 'dead') throw new Error(line.letter.detail)
  return line.kind === 'block' ? { kind: 'block', block: line.block } : line
}

const block = (number: number, over = {}) => recordOf(blockAt(number, { finalized_number: 0, ...over }))
const fork = (number: number) => block(number, { hash: `0xf${number}` })
const retract = (from_hash: string, from_number: number, to_number: number) =>
  recordOf({ kind: 'retract', chain: 'eth', from_number, from_hash, to_number, to_hash: `0xb${to_number}` })

async function* groupsOf(records: readonly SourceRecord[]): AsyncGenerator<LogGroup<string>> {
  for (const record of records) yield { record, entries: [nameOf(record)] }
}

async function stepsOf(
  log: readonly SourceRecord[],
  dead: readonly SourceRecord[],
  events: readonly DeadEvent[] = [],
): Promise<Step<string>[]> {
  const waiting = dead.map((record, offset) => ({ record, offset }))
  const steps: Step<string>[] = []
  for await (const step of putBack(groupsOf(log), waiting, events, 3600)) steps.push(step)
  return steps
}

const namesOf = (steps: readonly Step<string>[]): string =>
  steps
    .flatMap((step) =>
      step.kind === 'kept' ? step.entries : step.kind === 'new' ? [`+${nameOf(step.record)}`] : [`*${step.block.hash}`],
    )
    .join(' ')

describe('records are put back', () => {
  it.each([
    ['between two blocks', [block(1), block(4)], [block(3), block(2)], '0xb1 +0xb2 +0xb3 0xb4'],
    ['at the end', [block(1)], [block(3), block(2)], '0xb1 +0xb2 +0xb3'],
    ['before the first', [block(3)], [block(2), block(1)], '+0xb1 +0xb2 0xb3'],
    ['into an empty topic', [], [block(2), block(1)], '+0xb1 +0xb2'],
    [
      'an orphaned block, before its retract',
      [block(1), retract('0xf2', 2, 1), block(2)],
      [fork(2)],
      '0xb1 +0xf2 0xf2>0xb1 0xb2',
    ],
    [
      'a retract, before the block that replaced the orphaned one',
      [block(1), fork(2), block(2)],
      [retract('0xf2', 2, 1)],
      '0xb1 0xf2 +0xf2>0xb1 0xb2',
    ],
  ])('%s', async (_, log, dead, expected) => {
    expect(namesOf(await stepsOf(log, dead))).toBe(expected)
  })

  it.each([
    ['a block that another one replaced', [block(1), block(2), block(3)], [fork(2)]],
    ['a block whose parent is missing', [block(1)], [block(3)]],
    ['one of two that fit the end', [block(1)], [block(2), fork(2)]],
    ['a block that is only next to a repeated record', [block(1), block(2), block(1), block(3)], [fork(3)]],
    ['a block far behind the time of the chain', [block(1)], [block(2, { time: 1_704_400_000 })]],
    ['a retract below finality', [block(1), block(2, { finalized_number: 2 })], [retract('0xb2', 2, 1)]],
  ])('but not %s', async (_, log, dead) => {
    expect(namesOf(await stepsOf(log, dead))).toBe(log.map(nameOf).join(' '))
  })

  it('so that any lines lost from a recording with reorgs give the same chain', async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const lines = generateRecording({
        ...{ seed, chain: 'eth', blocks: 40 },
        options: { swapsPerBlock: 0, nastiness: 0, retracts: { probability: 0.3, maxDepth: 5 } },
      })
      const random = createRandom(seed)
      const byName = new Map(lines.map((line) => [nameOf(recordOf({ ...line, events: [] })), line]))
      const log: SourceRecord[] = []
      const dead: SourceRecord[] = []
      for (const line of lines) (random.chance(0.2) ? dead : log).push(recordOf({ ...line, events: [] }))
      const names = namesOf(await stepsOf(log, dead))
        .replaceAll('+', '')
        .split(' ')
      const result = names.map((name) => byName.get(name) as RecordingLine)
      const hashes = (of: RecordingLine[]) => acceptedBlocks(of).map(({ hash }) => hash)
      expect(hashes(result), `seed ${seed}`).toEqual(hashes(lines))
    }
  })
})

describe('an event is put back', () => {
  const at = (log_index: number, offset: number): DeadEvent => {
    const line = read(blockAt(2, { events: [rawSwap({ log_index })] }))
    const event = line.kind === 'block' ? line.block.events[0] : undefined
    if (event === undefined) throw new Error('no event')
    return { offset, event, blockNumber: 2, timeS: 1_704_412_002 }
  }

  it('in its block, in order, if its position is free', async () => {
    const steps = await stepsOf([block(1), block(2), block(3)], [], [at(9, 0), at(7, 1), at(2, 2)])
    expect(namesOf(steps)).toBe('0xb1 *0xb2 0xb3')
    const changed = steps[1]
    expect(changed).toMatchObject({ kind: 'changed', offsets: [0, 2] })
    expect(changed?.kind === 'changed' && changed.block.events.map(({ log_index }) => log_index)).toEqual([2, 7, 9])
  })

  it('but not in a block of another time', async () => {
    const steps = await stepsOf([block(1), block(2)], [], [{ ...at(9, 0), timeS: 5 }])
    expect(namesOf(steps)).toBe('0xb1 0xb2')
  })
})
