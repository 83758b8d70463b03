import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { blocksTopic } from '../../services/core/log/port.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { type Checkpoints, memoryCheckpoints } from '../../services/ingest/checkpoints.js'
import { createIngest } from '../../services/ingest/main.js'
import { readPublished } from '../../services/ingest/resume-source.js'
import type { PublishedBlock } from '../../services/ingest/source.js'
import { heldBy } from '../rig/chains/log-contents.js'
import { openMovingChain } from '../rig/chains/moving-chain.js'
import { generateRecording } from '../rig/market/generate.js'
import { isRetract, type RecordingLine } from '../rig/reference/lines.js'

const opened: ReturnType<typeof openEmbedded>['log'][] = []
afterEach(async () => {
  for (const log of opened.splice(0)) await log.close()
})

function newLog() {
  const { log, registry } = openEmbedded({
    path: mkdtempSync(join(tmpdir(), 'dextape-published-')),
    maxValueBytes: 4000,
  })
  opened.push(log)
  return { log, codec: createCodec(registry) }
}

const block = (
  number: number,
  { hash = `h${number}`, parent = `h${number - 1}`, finalized = 0 } = {},
): RecordingLine => ({
  ...{ chain: 'eth', number, hash, parent_hash: parent, time: 1000 + number, finalized_number: finalized, events: [] },
})
const retract = (from: number, to: number): RecordingLine => ({
  ...{ kind: 'retract', chain: 'eth', from_number: from, from_hash: `h${from}`, to_number: to, to_hash: `h${to}` },
})

/** Plays lines as a growing chain until every line that became canonical is published, `trueLines` at a time. */
async function play(
  open: ReturnType<typeof newLog>,
  checkpoints: Checkpoints,
  lines: readonly RecordingLine[],
  trueLines: number,
): Promise<void> {
  const source = openMovingChain(
    { lines, family: 'evm', trueLines: () => trueLines, start: { kind: 'block', number: 0 } },
    'moving:eth',
  )
  const stop = new AbortController()
  const playing = createIngest({
    ...{ ...open, source, chain: 'eth', checkpoints, logger: silentLogger, progressMs: 60_000 },
  })
  const wanted = canonicalHashes(lines.slice(0, trueLines))
  const running = playing.run(stop.signal)
  while ((await heldBy(open, 'eth', 1)).hashes.at(-1) !== wanted.at(-1))
    await new Promise((next) => setTimeout(next, 5))
  stop.abort()
  expect(await running).toEqual({ kind: 'stopped' })
}

function canonicalHashes(lines: readonly RecordingLine[]): string[] {
  const hashes: string[] = []
  for (const line of lines) {
    if (isRetract(line)) hashes.length = hashes.indexOf(line.to_hash) + 1
    else hashes.push(line.hash)
  }
  return hashes
}

async function published(lines: readonly RecordingLine[]): Promise<string[]> {
  const open = newLog()
  const topic = blocksTopic('eth')
  await open.codec.prepare(topic, ['block', 'retract'])
  for (const line of lines) {
    const value = isRetract(line) ? open.codec.encodeRetract(topic, line) : open.codec.encodeBlock(topic, line as never)
    await open.log.append(topic, [{ key: 'eth', value, timestampMs: 0 }])
  }
  return (await readPublished(open.log, open.codec, topic)).map(({ hash }: PublishedBlock) => hash)
}

it('reads the end of a chain from the log: its last block and those below it, down to a final one', async () => {
  const chain = Array.from({ length: 20 }, (_, at) => block(at + 1, { finalized: Math.max(0, at - 4) }))
  expect(await published([])).toEqual([])
  expect(await published(chain.slice(0, 3))).toEqual(['h1', 'h2', 'h3'])
  expect(await published(chain)).toEqual(['h15', 'h16', 'h17', 'h18', 'h19', 'h20'])
  expect(await published([...chain, retract(20, 17)])).toEqual(['h12', 'h13', 'h14', 'h15', 'h16', 'h17'])
})

it('looks further back after a deep reorg', async () => {
  const chain = Array.from({ length: 300 }, (_, at) => block(at + 1))
  const lines = [...chain, retract(300, 2), block(3, { hash: 'x3', parent: 'h2' })]
  expect(await published(lines)).toEqual(['h1', 'h2', 'x3'])
})

it('resumes after the log’s last block when a crash lost its checkpoint and the chain reorged since', async () => {
  const lines = [block(1), block(2), block(3), block(4), retract(4, 2), block(3, { hash: 'x3', parent: 'h2' })]
  const open = newLog()
  const checkpoints = memoryCheckpoints()
  await play(open, checkpoints, lines, 2)
  const before = checkpoints.get('moving:eth')
  await play(open, checkpoints, lines, 4)
  // Blocks 3 and 4 are on the log, but the checkpoint that covers them was never written.
  await checkpoints.put('moving:eth', before ?? { ends: {}, chains: {} })
  await play(open, checkpoints, lines, 6)
  expect(await heldBy(open, 'eth', 1)).toEqual({ hashes: ['h1', 'h2', 'x3'], wrong: [], records: 6 })
})

it.each([1, 2, 3, 4, 5])('resumes from any point with any surviving checkpoint (seed %d)', async (seed) => {
  const retracts = { probability: 0.3, maxDepth: 6 }
  const lines = generateRecording({ seed, chain: 'eth', blocks: 40, options: { retracts } })
  const open = newLog()
  const kept = [memoryCheckpoints()]
  for (let trueLines = 1; trueLines <= lines.length; trueLines += 1 + ((seed * trueLines) % 5)) {
    // Every third start finds an old checkpoint, or none at all.
    const checkpoints =
      kept[trueLines % 3 === 0 ? (trueLines * 7) % kept.length : kept.length - 1] ?? memoryCheckpoints()
    const own = memoryCheckpoints()
    await own.put('moving:eth', checkpoints.get('moving:eth') ?? { ends: {}, chains: {} })
    await play(open, own, lines, trueLines)
    kept.push(own)
  }
  await play(open, kept.at(-1) ?? memoryCheckpoints(), lines, lines.length)
  expect(await heldBy(open, 'eth', 1)).toMatchObject({ hashes: canonicalHashes(lines), wrong: [] })
})
