/** Records on the log that nobody can read, put there beside a running `up`: each is a dead letter, and the chain goes on behind it. */
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

/** No Avro at all, a schema nobody registered, nothing; beside them one cut short behind a good header, and one that is no block. */
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

/** The bytes each letter keeps, by the place they had. */
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
  // The log is looked at once a second.
  const status = await up.until(CHAIN, 'has its letters', ({ dead_letters }) => dead_letters === letters.length)
  expect(status).toMatchObject({ stopped: null, gaps: 0 })
  const kept = await keptBytes()
  expect(unreadable.map((_, at) => kept.get(placeOf(at)))).toEqual(unreadable)
}

test('each has its reason and its place on the log', expectLetters)

test('a record that reads well but is no block is not dropped in silence', async () => {
  expect((await keptBytes()).get(placeOf(unreadable.length))).toEqual(misplaced)
})

test('metrics count them', async () => {
  const metrics = await up.metrics()
  const own = onLog(await deadLetters(CHAIN, commands()))
  for (const reason of new Set(own.map((letter) => letter.reason))) {
    const count = own.filter((letter) => letter.reason === reason).length
    expect(metrics.get(`dextape_dead_letters_total{chain="${CHAIN}",reason="${reason}"}`)).toBe(count)
  }
  expect(metrics.get(`dextape_chain_stopped{chain="${CHAIN}"}`)).toBe(0)
})

test('the blocks behind them count as if they were not there', async () => {
  expect(await pairDifferences(up, played)).toEqual([])
  expect(await tokenDifferences(up, played)).toEqual([])
})

test('after a restart there are no more of them', async () => {
  await up.stop()
  up = await startUp(plan)
  await up.applied(CHAIN, lines.length)
  await expectLetters()
})
