/** Writes recordings to files. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordingLine } from '../reference/lines.js'

export const textOf = (lines: readonly unknown[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** Strings are written as they are, everything else as JSON. */
export function writeRecording(folder: string, name: string, lines: readonly (RecordingLine | string | object)[]) {
  const file = join(folder, name)
  writeFileSync(file, lines.map((line) => (typeof line === 'string' ? `${line}\n` : textOf([line]))).join(''))
  return file
}

/** Several chains in one file, a few lines of each in turn, with each chain in order. */
export function interleave(recordings: readonly (readonly RecordingLine[])[]): RecordingLine[] {
  const rest = recordings.map((lines) => [...lines])
  const mixed: RecordingLine[] = []
  for (let turn = 0; rest.some((lines) => lines.length > 0); turn++) {
    for (const [at, lines] of rest.entries()) mixed.push(...lines.splice(0, 1 + ((turn + at) % 3)))
  }
  return mixed
}

export const onChain = (lines: readonly RecordingLine[], chain: string): RecordingLine[] =>
  lines.map((line) => ({ ...line, chain }))
