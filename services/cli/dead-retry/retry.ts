/**
 * `dextape dead retry`: publishes dead letters that are valid now as new records. What belongs at the end of the chain is
 * appended. What belongs into its past makes a new generation, a copy of the live one with it in place: a record of the log
 * is never changed, and the tables stay a function of the log.
 */
import { type Config, chainFacts } from '../../core/config/index.js'
import { lockBackfill, lockDataDir } from '../../core/data-dir/lock.js'
import { DextapeError } from '../../core/domain/errors.js'
import { createAssembler } from '../../core/log/parts.js'
import { blocksTopic, deadTopic, type EventLog, type LogEntry, type LogRecord } from '../../core/log/port.js'
import { firstBlock, type OpenLog, rawRecords } from '../../core/log/topic-records.js'
import type { Output } from '../../core/runtime/output.js'
import { createHealth } from '../../core/runtime/part-health.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { createShutdown } from '../../core/runtime/shutdown.js'
import { encodeLetter, encodeRecord } from '../../ingest/encode-records.js'
import type { SourceRecord } from '../../ingest/source.js'
import { UNKNOWN_CHAIN } from '../../ingest/validate/read-line.js'
import { openPlatform } from '../../processes/platform/open-platform.js'
import type { Platform } from '../../processes/platform/platform.js'
import { deadTopics, lettersOf } from '../../serve/operator/dead-letters.js'
import { highestGeneration } from '../backfill/backfill-generations.js'
import { configOfExistingData, createdDir, existingDir, type GlobalOptions, loggerOf, type World } from '../context.js'
import {
  blockKey,
  type DeadEvent,
  type DeadRecord,
  type LogGroup,
  nameOf,
  placeOf,
  putBack,
  type Step,
} from './put-back.js'
import { type LetterContext, readLetter } from './read-letter.js'

export type RetryOptions = GlobalOptions & { dryRun?: boolean }

/** Bytes of one append. */
const BATCH_BYTES = 4 * 1024 * 1024

export async function retryDead(world: World, chain: string, options: RetryOptions): Promise<number> {
  const config = configOfExistingData(world, options)
  const logger = loggerOf(world, config)
  const isEmbedded = config.log.kind === 'embedded'
  const dataDir = isEmbedded ? existingDir(config) : createdDir(config)
  // A source that is writing would continue after a block that is no longer the last one.
  const locks = isEmbedded && options.dryRun !== true ? [lockDataDir(dataDir), lockBackfill(dataDir, chain)] : []
  const shutdown = createShutdown(logger)
  try {
    const health = createHealth({ parts: ['log'], logger })
    const platform = await openPlatform({ config, dir: () => dataDir, logger, health, signal: shutdown.signal })
    try {
      return await retryLetters(
        { platform, config, out: world.out, nowMs: world.nowMs },
        chain,
        options.dryRun === true,
      )
    } finally {
      await platform.close()
    }
  } finally {
    for (const lock of locks) lock.release()
    shutdown.done()
  }
}

export type RetryDeps = {
  platform: Pick<Platform, 'log' | 'codec' | 'generations' | 'origin'>
  config: Pick<Config, 'chains' | 'fold'>
  out: Output
  nowMs: () => number
}

export async function retryLetters(
  { platform, config, out, nowMs }: RetryDeps,
  chain: string,
  isDryRun: boolean,
): Promise<number> {
  const { log, generations } = platform
  await generations.load()
  if (generations.unfinishedOf(chain) !== undefined) throw unfinished(chain)
  const live = generations.liveOf(chain)
  const topic = blocksTopic(chain, live)
  const { start, end } = await log.info(topic)
  const origin = await platform.origin()
  const context: LetterContext = {
    chain,
    family: (name) => chainFacts(config, name).family,
    seed: origin?.origin === 'simulated' ? origin.seed : undefined,
  }
  const found = await readLetters(platform, context)
  const groups = () => groupsOf(platform, topic, start, end)
  await refuseKnown(groups(), found)

  const steps = () => putBack(groups(), found.records, found.events, config.fold.maxTimeBackS)
  const plan = await planOf(steps())
  for (const { offset } of [...found.records, ...found.events])
    if (!plan.used.has(offset))
      found.refuse(offset, 'it does not continue a block of the log, nor is it missing between two')
  await report(out, found, plan.used.size)
  if (plan.used.size === 0) return EXIT.ok

  const target = plan.isAtEnd ? live : (await highestGeneration(platform, generations, chain)) + 1
  const many = `${plan.used.size} ${plan.used.size === 1 ? 'letter' : 'letters'} of ${chain}`
  if (isDryRun) {
    await out.line(`Would publish ${many} ${plan.isAtEnd ? `at the end of ${topic}` : `in generation ${target}`}.`)
    return EXIT.ok
  }
  const writer = await openWriter(platform, chain, blocksTopic(chain, target))
  // As in ingest: no block without the dead letters of its omitted events.
  await writer.letters(found.dead.filter(({ offset }) => plan.used.has(offset)).map(({ letter }) => letter))
  for await (const step of steps()) if (!plan.isAtEnd || step.kind === 'new') await writer.add(step)
  await writer.flush()
  if (plan.isAtEnd) {
    await out.line(`Published ${many} at the end of ${topic}.`)
    return EXIT.ok
  }
  if ((await log.info(topic)).end !== end || generations.liveOf(chain) !== live) throw overtaken(chain, topic)
  const first = await firstBlock(platform, blocksTopic(chain, target))
  await generations.makeLive(chain, {
    ...{ generation: target, from: { kind: 'block', number: first?.number ?? 0 }, made: nowMs() },
  })
  await out.line(`Published ${many} in generation ${target}, which is live now (was generation ${live}).`)
  const drop = `dextape backfill --chain ${chain} --drop-old`
  await out.line(`Processes fold it in a new epoch. Delete the old one with \`${drop}\`.`)
  return EXIT.ok
}

type Found = {
  records: DeadRecord[]
  events: DeadEvent[]
  /** Events of the records that are still invalid, by the letter of their line. */
  dead: { offset: number; letter: Parameters<typeof encodeLetter>[0] }[]
  refusals: Map<string, number>
  refuse(offset: number, why: string): void
}

/** Letters of lines that named no chain are numbered below 0, to tell them from the chain's. */
async function readLetters(open: Pick<Platform, 'log' | 'codec'>, context: LetterContext): Promise<Found> {
  const refusals = new Map<string, number>()
  const found: Found = {
    ...{ records: [], events: [], dead: [], refusals },
    refuse: (_, why) => refusals.set(why, (refusals.get(why) ?? 0) + 1),
  }
  const names = new Set<string>()
  for (const chain of [context.chain, UNKNOWN_CHAIN])
    for (const topic of await deadTopics(open.log, chain))
      for await (const { offset: at, letter } of lettersOf(open, topic, 0)) {
        const offset = chain === UNKNOWN_CHAIN ? -1 - at : at
        const read = readLetter(letter, context)
        if (read.kind === 'refused') found.refuse(offset, read.why)
        else if (read.kind === 'event') found.events.push({ offset, ...read })
        else if (read.kind === 'record') {
          // A file that was imported twice left two letters of the line.
          if (names.has(nameOf(read.record))) found.refuse(offset, 'another letter holds the same record')
          else found.records.push({ offset, record: read.record })
          names.add(nameOf(read.record))
          for (const dead of read.dead) found.dead.push({ offset, letter: dead })
        }
      }
  return found
}

/** Takes out what an earlier retry published, and events whose block cannot be told. */
async function refuseKnown(groups: AsyncIterable<LogGroup<LogEntry>>, found: Found): Promise<void> {
  const wanted = new Set(found.records.map(({ record }) => nameOf(record)))
  const hashes = new Map<string, Set<string>>()
  for (const { blockNumber, timeS } of found.events) hashes.set(blockKey({ number: blockNumber, timeS }), new Set())
  const published = new Set<string>()
  const places = new Map<string, Set<string>>()
  for await (const { record } of groups) {
    if (record === undefined) continue
    if (wanted.has(nameOf(record))) published.add(nameOf(record))
    if (record.kind !== 'block') continue
    const key = blockKey({ number: record.block.number, timeS: record.block.time })
    if (hashes.get(key)?.add(record.block.hash) === undefined) continue
    places.set(key, new Set(record.block.events.map(placeOf)))
  }
  found.records = found.records.filter(({ offset, record }) => {
    const isNew = !published.has(nameOf(record))
    if (!isNew) found.refuse(offset, 'the log has it already')
    return isNew
  })
  found.events = found.events.filter(({ offset, blockNumber, timeS, event }) => {
    const key = blockKey({ number: blockNumber, timeS })
    const blocks = hashes.get(key)?.size ?? 0
    const isTaken = places.get(key)?.has(placeOf(event)) === true
    if (blocks === 1 && !isTaken) return true
    if (blocks === 0) found.refuse(offset, 'its block is not on the log')
    else
      found.refuse(
        offset,
        isTaken ? 'its block has an event at its position already' : 'two blocks have its number and time',
      )
    return false
  })
}

type Plan = { used: Set<number>; isAtEnd: boolean }

async function planOf(steps: AsyncIterable<Step<LogEntry>>): Promise<Plan> {
  const used = new Set<number>()
  let isAtEnd = true
  let isBehindNew = false
  for await (const step of steps) {
    if (step.kind === 'kept') {
      if (isBehindNew) isAtEnd = false
      continue
    }
    if (step.kind === 'changed') {
      isAtEnd = false
      for (const offset of step.offsets) used.add(offset)
      continue
    }
    isBehindNew = true
    used.add(step.offset)
  }
  return { used, isAtEnd }
}

/** The records of a topic, the parts of a block as one group. */
async function* groupsOf(
  open: Pick<OpenLog, 'log' | 'codec'>,
  topic: string,
  start: number,
  end: number,
): AsyncGenerator<LogGroup<LogEntry>> {
  const assembler = createAssembler()
  let parts: LogRecord[] = []
  for await (const one of rawRecords(open, topic, start)) {
    if (one.offset >= end) break
    parts.push(one)
    try {
      const whole = assembler.push(open.codec.decodeLogRecord(one.value, { topic, offset: one.offset }), one.offset)
      if (whole === undefined) continue
      const { record } = whole
      const isChain = record.kind === 'block' || record.kind === 'retract'
      yield { record: isChain ? (record as SourceRecord) : undefined, entries: parts }
    } catch (error) {
      if (!(error instanceof DextapeError)) throw error
      yield { record: undefined, entries: parts }
    }
    parts = []
  }
  if (parts.length > 0) yield { record: undefined, entries: parts }
}

async function openWriter({ log, codec }: { log: EventLog } & Pick<Platform, 'codec'>, chain: string, topic: string) {
  let entries: LogEntry[] = []
  let bytes = 0
  let chainTimeMs = 0
  await codec.prepare(topic, ['block', 'retract'])

  async function flush(): Promise<void> {
    if (entries.length > 0) await log.append(topic, entries)
    entries = []
    bytes = 0
  }

  const encoded = (record: SourceRecord) =>
    encodeRecord(record, topic, codec, log.maxValueBytes, chainTimeMs).map(({ entry }) => entry)

  return {
    flush,
    async letters(letters: readonly Parameters<typeof encodeLetter>[0][]): Promise<void> {
      if (letters.length === 0) return
      await codec.prepare(deadTopic(chain), ['dead_letter'])
      const made = letters.map((letter) => encodeLetter(letter, codec, log.maxValueBytes, chainTimeMs).entry)
      await log.append(deadTopic(chain), made)
    },
    async add(step: Step<LogEntry>): Promise<void> {
      const more =
        step.kind === 'kept'
          ? step.entries.map(({ key, value, timestampMs }) => ({ key, value, timestampMs }))
          : encoded(step.kind === 'new' ? step.record : { kind: 'block', block: step.block })
      for (const entry of more) {
        chainTimeMs = Math.max(chainTimeMs, entry.timestampMs)
        entries.push(entry)
        bytes += entry.value.length
      }
      if (bytes >= BATCH_BYTES) await flush()
    },
  }
}

async function report(out: Output, { refusals }: Found, used: number): Promise<void> {
  if (used === 0 && refusals.size === 0) await out.line('no dead letters')
  for (const [why, letters] of [...refusals].sort(([, a], [, b]) => b - a))
    await out.line(`${letters} ${letters === 1 ? 'letter stays' : 'letters stay'} dead: ${why}`)
}

function unfinished(chain: string): DextapeError {
  return new DextapeError({
    code: 'backfill_unfinished',
    what: `A backfill of ${chain} is unfinished`,
    fix: `Finish it with \`dextape backfill --chain ${chain}\`, or delete it with --abandon.`,
  })
}

function overtaken(chain: string, topic: string): DextapeError {
  return new DextapeError({
    code: 'retry_overtaken',
    what: `${topic} grew during the retry; the live history was kept`,
    fix: `Stop what writes ${chain}, and run the command again.`,
  })
}
