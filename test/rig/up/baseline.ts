/** A recording and the result of one uninterrupted run, which every other way to play it must reproduce. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordingLine } from '../reference/lines.js'
import { type Contents, readContents } from './contents.js'
import { contentDifferences } from './differences.js'
import { BUSY, play, scratchFolder, untilSeqs } from './play.js'
import { chainsOf, generateTape, seqsOf, type TapePlan, writeTape } from './recording.js'

export type Baseline = {
  lines: readonly RecordingLine[]
  chains: string[]
  seqs: Map<string, number>
  /** Path of the recording. */
  tape: string
  /** Data directory of the uninterrupted run. */
  dataDir: string
  contents: Contents
  /** A path in the scratch folder. */
  pathOf(name: string): string
  differencesOf(dataDir: string): Promise<string[]>
  remove(): void
}

export const makeBaseline = (plan: TapePlan): Promise<Baseline> => baselineOf(generateTape(plan))

export async function baselineOf(lines: readonly RecordingLine[], config = BUSY): Promise<Baseline> {
  const folder = scratchFolder()
  const pathOf = (name: string) => join(folder, name)
  const [chains, seqs] = [chainsOf(lines), seqsOf(lines)]
  const tape = writeTape(pathOf('tape.jsonl.gz'), lines)
  const dataDir = pathOf('once')
  await play({ dataDir, events: tape, config }, (up) => untilSeqs(up, seqs))
  const contents = await readContents(dataDir, chains)
  return {
    ...{ lines, chains, seqs, tape, dataDir, contents, pathOf },
    differencesOf: async (other) => contentDifferences(await readContents(other, chains), contents),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
