/** Reads JSON values from a stream: one per line, or a single one over many lines. */
import { DextapeError } from '../../core/domain/errors.js'
import { type Chunks, streamBytes } from '../../ingest/sources/recording/recording-bytes.js'
import { isBlank, splitLines, withoutByteOrderMark } from '../../ingest/sources/recording/split-lines.js'

/** `line`: its first line, from 1. */
export type InputValue = { value: unknown; line: number }

/** One line may hold the responses of a whole day. */
const LINE_MAX_BYTES = 256 * 1024 * 1024

export async function* jsonValues(input: Chunks, name: string): AsyncGenerator<InputValue> {
  let line = 0
  let isFirst = true
  /** Set when the first line is not a complete value: then all lines are one value. */
  let spread: { from: number; texts: string[]; problem: string } | undefined
  for await (const lines of splitLines(streamBytes(input, name), 0, LINE_MAX_BYTES)) {
    for (const { bytes, tooLong } of lines) {
      line += 1
      if (tooLong) throw badInput(name, line, `the line is longer than ${LINE_MAX_BYTES} bytes`)
      const text = (line === 1 ? withoutByteOrderMark(bytes) : bytes).toString('utf8')
      if (spread !== undefined) spread.texts.push(text)
      if (spread !== undefined || isBlank(bytes)) continue
      const parsed = parse(text)
      if ('value' in parsed) yield { value: parsed.value, line }
      else if (isFirst) spread = { from: line, texts: [text], ...parsed }
      else throw badInput(name, line, parsed.problem)
      isFirst = false
    }
  }
  if (spread === undefined) return
  const parsed = parse(spread.texts.join('\n'))
  if ('problem' in parsed) throw badInput(name, spread.from, parsed.problem)
  yield { value: parsed.value, line: spread.from }
}

export function badInput(name: string, line: number, problem: string): DextapeError {
  return new DextapeError({
    code: 'bad_input',
    what: `Invalid input: ${problem}`,
    where: { file: name, position: `line ${line}` },
  })
}

function parse(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}
