/** A stream as JSON values: one a line, each as it comes, or a single one over many lines. */
import { DextapeError } from '../../core/domain/errors.js'
import { type Chunks, streamBytes } from '../../ingest/sources/recording/recording-bytes.js'
import { isBlank, splitLines, withoutByteOrderMark } from '../../ingest/sources/recording/split-lines.js'

/** `line`: where it starts, from 1. */
export type InputValue = { value: unknown; line: number }

/** The answers of a whole day may stand on one line. */
const LINE_MAX_BYTES = 256 * 1024 * 1024

export async function* jsonValues(input: Chunks, name: string): AsyncGenerator<InputValue> {
  let line = 0
  let isFirst = true
  /** From a first line that is no value of its own on: all belong together. */
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
    what: `The input cannot be used: ${problem}`,
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
