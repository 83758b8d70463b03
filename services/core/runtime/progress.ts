/** Progress of a long command: on a terminal one line with a bar, the rate and the time left; elsewhere a log line now and then. */
import type { LogFields, Logger } from './logger.js'
import { type OutStream, type Paint, PLAIN } from './terminal.js'

export interface Progress {
  /** Cheap: call it as often as there is something new. `total` undefined: not known. */
  report(done: number, total?: number): void
  /** Removes the bar. Call it before the result is printed. */
  end(): void
}

export type ProgressOptions = {
  /** A constant message, such as `replaying the log`. */
  message: string
  /** What is counted, in the plural. */
  unit: string
  fields?: LogFields
  /** Standard error. */
  stream: OutStream
  logger: Logger
  paint?: Paint
  nowMs?: () => number
  /** Between two log lines. */
  everyMs?: number
}

const DRAW_EVERY_MS = 100
const LOG_EVERY_MS = 5000
const BAR_WIDTH = 24

export function createProgress(options: ProgressOptions): Progress {
  const { message, unit, fields = {}, stream, logger, paint = PLAIN } = options
  const { nowMs = Date.now, everyMs = LOG_EVERY_MS } = options
  const pace = createPace(nowMs)
  const line = stream.isTTY === true ? createStatusLine(stream) : undefined
  let shownMs = line === undefined ? nowMs() : Number.NEGATIVE_INFINITY

  function logLine(done: number, total: number | undefined, { percent, perS, leftS }: Pace): void {
    const known = total === undefined ? {} : { [`${unit}_total`]: total, percent, left_s: leftS }
    logger.info(message, { ...fields, [`${unit}_done`]: done, ...known, [`${unit}_per_s`]: perS })
  }

  return {
    report(done, total) {
      const measured = pace.at(done, total)
      const now = nowMs()
      if (now - shownMs < (line === undefined ? everyMs : DRAW_EVERY_MS)) return
      shownMs = now
      if (line === undefined) logLine(done, total, measured)
      else line.show(barLine([message, ...Object.values(fields)].join(' '), unit, done, total, measured, paint))
    },
    end: () => line?.end(),
  }
}

function barLine(
  label: string,
  unit: string,
  done: number,
  total: number | undefined,
  { percent, perS, leftS }: Pace,
  paint: Paint,
): string {
  const rate = `${grouped(perS)} ${unit}/s`
  if (total === undefined) return `${label}  ${grouped(done)} ${unit}  ${paint.dim(rate)}`
  const left = leftS === null ? '' : `  ${formatSpan(leftS)} left`
  const counts = `${grouped(done)} of ${grouped(total)}`
  return `${label}  ${drawBar(percent, paint)}  ${counts}  ${paint.dim(`${rate}${left}`)}`
}

export function drawBar(percent: number, paint: Paint): string {
  const filled = Math.round((BAR_WIDTH * Math.min(percent, 100)) / 100)
  const bar = `${paint.green('█'.repeat(filled))}${paint.dim('░'.repeat(BAR_WIDTH - filled))}`
  return `${bar} ${String(percent).padStart(3)} %`
}

export const grouped = (count: number): string => Math.round(count).toLocaleString('en-US')

/** `45 s`, `12 min`, `3.5 h`. */
export function formatSpan(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 360) / 10} h`
}

/** How far and how fast; `leftS` null: not known. */
export type Pace = { percent: number; perS: number; leftS: number | null }

/** The rate covers this window, so that it follows what limits it. */
const RATE_WINDOW_MS = 60_000
const MARK_EVERY_MS = 200

export function createPace(nowMs: () => number) {
  let marks: { atMs: number; done: number }[] = []
  return {
    at(done: number, total: number | undefined): Pace {
      const now = nowMs()
      // It began again.
      if (done < (marks.at(-1)?.done ?? 0)) marks = []
      if (marks.length === 0 || now - (marks.at(-1)?.atMs ?? 0) >= MARK_EVERY_MS) {
        marks.push({ atMs: now, done })
        const old = marks.findLastIndex(({ atMs }) => atMs <= now - RATE_WINDOW_MS)
        if (old > 0) marks = marks.slice(old)
      }
      const oldest = marks[0] ?? { atMs: now, done }
      const perS = now === oldest.atMs ? 0 : ((done - oldest.done) * 1000) / (now - oldest.atMs)
      const percent = total === undefined ? 0 : Math.floor((Math.min(done, total) * 100) / Math.max(1, total))
      const left = total === undefined ? 0 : Math.max(0, total - done)
      return { percent, perS: Math.round(perS), leftS: perS > 0 ? Math.ceil(left / perS) : null }
    },
  }
}

const CLEAR_LINE = '\r\x1b[2K'

/** The last line of a terminal. Whatever else is written to the stream meanwhile appears above it, threads included. */
export function createStatusLine(stream: OutStream): { show(text: string): void; end(): void } {
  type Write = (chunk: string | Uint8Array, ...rest: unknown[]) => boolean
  const own = stream.write
  const draw: Write = (...given) => (own as Write).apply(stream, given)
  let shown: string | undefined
  let isMidLine = false

  stream.write = ((chunk, ...rest) => {
    if (shown === undefined) return draw(chunk, ...rest)
    if (!isMidLine) draw(CLEAR_LINE)
    const hasRoom = draw(chunk, ...rest)
    isMidLine = (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()).at(-1) !== '\n'
    if (!isMidLine) draw(shown)
    return hasRoom
  }) satisfies Write as OutStream['write']

  return {
    show(text) {
      shown = cut(text, (stream.columns ?? 80) - 1)
      if (!isMidLine) draw(`${CLEAR_LINE}${shown}`)
    },
    end() {
      if (shown !== undefined && !isMidLine) draw(CLEAR_LINE)
      stream.write = own
    },
  }
}

/** To a width, without breaking a colour. */
function cut(text: string, width: number): string {
  let left = width
  let result = ''
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins a colour.
  for (const part of text.split(/(\x1b\[[0-9;]*m)/)) {
    const isColour = part.startsWith('\x1b')
    result += isColour ? part : part.slice(0, left)
    if (!isColour) left = Math.max(0, left - part.length)
  }
  return result
}
