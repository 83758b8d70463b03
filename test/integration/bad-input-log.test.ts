/** Unreadable records on the log of a running `up`: each becomes a dead letter, and the chain continues after it. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { blocksTopic, deadTopic } from '../../services/core/log/port.js'
import { type Played, pairDifferences, playedBy, tokenDifferences } from '../rig/http/against-reference.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { deadLetters, type ListedLetter } from '../rig/http/dead-letters.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { environmentOf, startUp, type Up, type UpPlan } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'

const CHAIN = 'eth'
const FIRST = 30
const lines = generateRecording({ seed: 71, chain: CHAIN, blocks: 60, options: { nastiness: 0 } })

/** Not Avro, an unregistered schema, and empty. The test adds a truncated record and one that is not a block. */
const UNREADABLE = {
  garbage: Buffer.from('this is no record'),
  schema: Buffer.from([0, 0, 0x7f, 0xff, 0xff, 1, 2, 3]),
  empty: Buffer.alloc(0),
}

const folder = scratchFolder()
let up: Up
let plan: UpPlan
let played: Played
let unreadable: Buffer[]
let misplaced: Buffer

beforeAll(async () => {
  played = playedBy(lines, marketMoney(CHAIN))
  plan = { folder, events: writeRecording(folder, 'first.jsonl', lines.slice(0, FIRST)), chains: [marketMoney(CHAIN)] }
  up = await startUp(plan)
  await up.applied(CHAIN, FIRST)

  const { log, registry } = openEmbedded({ path: join(up.dataDir, 'log') })
  const [record] = await log.read(blocksTopic(CHAIN), { from: 3, maxRecords: 1 })
  const cut = Buffer.from(record?.value.subarray(0, 40) ?? [])
  const codec = createCodec(registry)
  const letter = { chain: CHAIN, reason: 'lost', detail: '', source: 'x', raw: Buffer.from('x'), at: 1_704_412_800 }
  misplaced = Buffer.from(codec.encodeDeadLetter(deadTopic(CHAIN), letter))
  unreadable = [...Object.values(UNREADABLE), cut]
  const entries = [...unreadable, misplaced].map((value) => ({ key: CHAIN, value, timestampMs: 1_704_412_800_000 }))
  expect(await log.append(blocksTopic(CHAIN), entries)).toBe(FIRST)
  await log.close()

  const rest = writeRecording(folder, 'rest.jsonl', lines.slice(FIRST))
  const imported = await runCommand(['topics', 'import', rest], { cwd: folder, env: environmentOf(plan) })
  expect(imported).toMatchObject({ code: 0 })
  await up.applied(CHAIN, lines.length)
})

afterAll(async () => {
  await up.stop()
  removeScratchFolders()
})

const commands = () => ({ cwd: folder, env: environmentOf(plan) })
const placeOf = (at: number): string => `${blocksTopic(CHAIN)}@${FIRST + at}`
const onLog = (letters: readonly ListedLetter[]): ListedLetter[] =>
  letters.filter(({ source }) => unreadable.some((_, at) => source === placeOf(at)))

/** The bytes kept in each dead letter, by their position on the log. */
async function keptBytes(): Promise<Map<string, Buffer>> {
  const { log, registry } = openEmbedded({ path: join(up.dataDir, 'log') })
  const codec = createCodec(registry)
  const records = await log.read(deadTopic(CHAIN), { from: 0 })
  await codec.learn(records.map(({ value }) => value))
  const decoded = records.map(({ value, offset }) => codec.decodeLogRecord(value, { topic: deadTopic(CHAIN), offset }))
  await log.close()
  return new Map(decoded.flatMap((one) => (one.kind === 'dead' ? [[one.dead.source, Buffer.from(one.dead.raw)]] : [])))
}

async function expectLetters(): Promise<void> {
  const letters = await deadLetters(CHAIN, commands())
  const own = onLog(letters)
  expect(own.map(({ source }) => source)).toEqual(unreadable.map((_, at) => placeOf(at)))
  for (const letter of own) expect(letter).toMatchObject({ chain: CHAIN, reason: expect.stringMatching(/^[a-z_]+$/) })
  // The log is polled once a second.
  const status = await up.until(CHAIN, 'has its letters', ({ dead_letters }) => dead_letters === letters.length)
  expect(status).toMatchObject({ stopped: null, gaps: 0 })
  const kept = await keptBytes()
  expect(unreadable.map((_, at) => kept.get(placeOf(at)))).toEqual(unreadable)
}

test('records the reason and log position of each', expectLetters)

test('reports a readable record that is not a block', async () => {
  expect((await keptBytes()).get(placeOf(unreadable.length))).toEqual(misplaced)
})

test('counts them in the metrics', async () => {
  const metrics = await up.metrics()
  const own = onLog(await deadLetters(CHAIN, commands()))
  for (const reason of new Set(own.map((letter) => letter.reason))) {
    const count = own.filter((letter) => letter.reason === reason).length
    expect(metrics.get(`dextape_dead_letters_total{chain="${CHAIN}",reason="${reason}"}`)).toBe(count)
  }
  expect(metrics.get(`dextape_chain_stopped{chain="${CHAIN}"}`)).toBe(0)
})

test('applies the blocks after them as if they were not there', async () => {
  expect(await pairDifferences(up, played)).toEqual([])
  expect(await tokenDifferences(up, played)).toEqual([])
})

test('adds no dead letters after a restart', async () => {
  await up.stop()
  up = await startUp(plan)
  await up.applied(CHAIN, lines.length)
  await expectLetters()
})
