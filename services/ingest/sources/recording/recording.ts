/**
 * A recording as a source: JSON lines, one record per line, chains interleaved. It resumes after the last published line, also
 * if the file has grown; a file whose published part changed is played from its start.
 */

import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { type Claim, describeClaim } from '../../../core/data-dir/origin.js'
import type { ChainFamily } from '../../../core/domain/chains.js'
import { ConfigError, DextapeError } from '../../../core/domain/errors.js'
import { sleep as realSleep, type Sleep } from '../../../core/runtime/backoff.js'
import type { Logger } from '../../../core/runtime/logger.js'
import type { Source, SourceItem } from '../../source.js'
import { deadLine, type LineContext, type ReadLine, readLine } from '../../validate/read-line.js'
import { fileBytes, streamBytes } from './recording-bytes.js'
import { assertBlocks, claimAmong, seedOf } from './recording-origin.js'
import { isBlank, type Line, splitLines, withoutByteOrderMark } from './split-lines.js'

export type RecordingPosition = {
  /** Lines consumed; the last one by its offsets and content. */
  lines: number
  lastStart: number
  lastEnd: number
  lastHash: string
  /** An unterminated last line that could not be read: dead-lettered once, read again if it grows. */
  partialHash: string | null
}

export type RecordingOptions = {
  family: (chain: string) => ChainFamily
  logger: Logger
  speed?: Speed
  nowMs?: () => number
  sleep?: Sleep
  /** Called while the file is played: how many of its bytes are read. */
  onRead?: (fileBytes: number) => void
}

/** `claim`: the origin of its blocks, from its first lines; all other lines must match. */
export type Recording = Source<RecordingPosition> & { claim: Claim }

export async function openRecording(path: string, given: RecordingOptions): Promise<Recording> {
  const lines = await firstLines(splitLines(fileBytes(path, 0)))
  const [first] = lines.map(({ bytes }) => bytes)
  const claim = claimAmong(lines, basename(path))
  const options = { ...given, claim }
  return {
    claim,
    id: `recording:${first === undefined ? 'empty' : hashOf(first)}`,
    name: basename(path),
    async *items(from, signal) {
      const rest = from === undefined || from.lines === 0 ? undefined : await linesAfter(path, from, options.onRead)
      if (rest !== undefined) {
        yield* play(rest.lines, basename(path), rest.position, signal, options)
        return
      }
      if (from !== undefined && from.lines > 0)
        options.logger.warn('the recording changed, playing it from the start', {
          file: path,
          lines_played: from.lines,
        })
      const start = from?.lines === 0 ? from : undefined
      yield* play(splitLines(fileBytes(path, 0, options.onRead)), basename(path), start, signal, options)
    },
  }
}

/** Standard input or any stream read once. */
export async function streamRecording(
  input: AsyncIterable<Buffer>,
  name: string,
  options: RecordingOptions,
): Promise<Recording> {
  const batches = splitLines(streamBytes(input, name))
  const first = await batches.next()
  const lines = first.done ? [] : first.value
  async function* all(): AsyncGenerator<Line[]> {
    yield lines
    yield* batches
  }
  const claim = claimAmong(lines, name)
  return {
    claim,
    id: null,
    name,
    items: (_from, signal) => play(all(), name, undefined, signal, { ...options, claim }),
  }
}

/** The origin of a recording's blocks. */
export async function claimOfRecording(path: string): Promise<Claim> {
  return claimAmong(await firstLines(splitLines(fileBytes(path, 0))), basename(path))
}

async function* play(
  batches: AsyncIterable<Line[]>,
  name: string,
  start: RecordingPosition | undefined,
  signal: AbortSignal,
  { family, claim, speed = 'max', nowMs = Date.now, sleep = realSleep }: RecordingOptions & { claim: Claim },
): AsyncGenerator<SourceItem<RecordingPosition>> {
  const waitMs = createPace(speed, nowMs)
  let lines = start?.lines ?? 0
  let before = (): RecordingPosition => start ?? BEGINNING
  for await (const batch of batches) {
    for (const line of batch) {
      if (signal.aborted) return
      lines++
      const after = positionAfter(line, lines)
      if (isBlank(line.bytes)) {
        before = after
        continue
      }
      const read = readOne(line, { source: `${name}:${lines}`, family })
      if (read.kind === 'dead') assertBlocks(line.bytes, name, lines)
      else if (read.simulatedSeed !== seedOf(claim)) throw mixedLines(name, lines, claim)
      if (isPartial(line, read)) {
        const partialHash = hashOf(line.bytes)
        if (start?.partialHash === partialHash && start.lines === lines - 1) return
        const stay = before
        yield* asItems(read, () => ({ ...stay(), partialHash }), before)
        return
      }
      const wait = read.kind === 'block' ? waitMs(read.block.time) : 0
      if (wait > 0) {
        yield { kind: 'idle' }
        await sleep(wait, signal)
        if (signal.aborted) return
      }
      yield* asItems(read, after, before)
      before = after
    }
  }
}

function* asItems<Position>(
  read: ReadLine,
  after: () => Position,
  before: () => Position,
): Generator<SourceItem<Position>> {
  switch (read.kind) {
    case 'dead':
      yield { kind: 'dead', letter: read.letter, position: after }
      return
    case 'retract':
      yield { kind: 'record', record: read, position: after }
      return
    case 'block':
      // The line counts as played once its block is published, which comes last.
      for (const letter of read.dead) yield { kind: 'dead', letter, position: before }
      yield { kind: 'record', record: { kind: 'block', block: read.block }, position: after }
  }
}

function readOne(line: Line, context: LineContext): ReadLine {
  if (line.tooLong) {
    const detail = `the line has ${line.end - line.start} bytes, the limit is 64 MB; raw holds its start`
    return deadLine(line.bytes, context, { reason: 'line_too_long', detail })
  }
  return readLine(line.start === 0 ? withoutByteOrderMark(line.bytes) : line.bytes, context)
}

function isPartial(line: Line, read: ReadLine): boolean {
  return !line.terminated && read.kind === 'dead' && ['malformed_json', 'not_utf8'].includes(read.letter.reason)
}

const BEGINNING: RecordingPosition = { lines: 0, lastStart: 0, lastEnd: 0, lastHash: '', partialHash: null }

function positionAfter(line: Line, lines: number): () => RecordingPosition {
  return () => ({
    lines,
    lastStart: line.start,
    lastEnd: line.end,
    lastHash: hashOf(line.bytes),
    partialHash: null,
  })
}

/** The lines after a position, if the file still has the position's last line, which may have been terminated since. */
async function linesAfter(
  path: string,
  position: RecordingPosition,
  onRead: RecordingOptions['onRead'],
): Promise<{ lines: AsyncIterable<Line[]>; position: RecordingPosition } | undefined> {
  const batches = splitLines(fileBytes(path, position.lastStart, onRead), position.lastStart)
  const first = await batches.next()
  const [last, ...others] = first.done ? [] : first.value
  if (last === undefined || hashOf(last.bytes) !== position.lastHash) {
    await batches.return(undefined)
    return undefined
  }
  async function* lines(): AsyncGenerator<Line[]> {
    yield others
    yield* batches
  }
  return { lines: lines(), position: { ...position, lastEnd: last.end } }
}

async function firstLines(batches: AsyncIterable<Line[]>): Promise<Line[]> {
  for await (const lines of batches) return lines
  return []
}

function mixedLines(name: string, line: number, claim: Claim): DextapeError {
  return new DextapeError({
    code: 'data_mixed',
    what: `The recording starts with ${describeClaim(claim)} data, but this line has other data`,
    where: { file: name, position: `line ${line}` },
    fix: 'Keep simulated and real recordings, and those of different seeds, in separate files.',
  })
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A factor, or as fast as possible. At speed 10, ten seconds of chain time take one. */
export type Speed = 'max' | number

export function parseSpeed(text: string): Speed {
  if (text === 'max') return 'max'
  const factor = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (factor > 0 && Number.isFinite(factor)) return factor
  throw new ConfigError({
    code: 'speed_invalid',
    what: 'Invalid playback speed',
    expected: '"max" or a factor above 0 such as 1, 10 or 0.5',
    got: JSON.stringify(text),
  })
}

/** Milliseconds until a record of that chain time is due. The first is due at once. */
export function createPace(speed: Speed, nowMs: () => number): (chainTimeS: number) => number {
  if (speed === 'max') return () => 0
  let first: { chainTimeS: number; wallMs: number } | undefined
  return (chainTimeS) => {
    first ??= { chainTimeS, wallMs: nowMs() }
    const dueMs = first.wallMs + ((chainTimeS - first.chainTimeS) * 1000) / speed
    return Math.max(0, dueMs - nowMs())
  }
}
