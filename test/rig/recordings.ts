/**
 * Optional data recorded on mainnets, in `../shared/data` beside the checkout; it is not part of the project. Every suite also has
 * cases without it. If it is missing, the cases that need it are skipped, and the run's last line says how many.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, TestRunner } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { leaveOut } from './left-out.js'

const FOLDER = join(repositoryRoot(), '../shared/data')

export const hasRecordings = existsSync(FOLDER)

/** `path`: relative to the folder of recorded data. */
export const recordingPath = (path: string): string => join(FOLDER, path)

export const DAY_RECORDING = recordingPath('recordings/usdc-weth-2024-01-05.jsonl.gz')

/** A suite that needs recordings. `cases`: how many tests it has. */
export function describeRecorded(name: string, cases: number, body: () => void): void {
  if (!hasRecordings) return leaveOut(cases)
  describe(name, () => {
    const collected = TestRunner.getCurrentSuite()
    body()
    afterAll(() => checkCount(name, cases, collected.suite === undefined ? 0 : countTests(collected.suite)))
  })
}

/** Further cases for a suite that also runs without recordings. `cases`: how many there are. */
export function recordedCases<T>(name: string, cases: number, read: () => readonly T[]): readonly T[] {
  if (!hasRecordings) {
    leaveOut(cases)
    return []
  }
  const found = read()
  checkCount(name, cases, found.length)
  return found
}

type Counted = { type: string; tasks?: readonly Counted[] }

function countTests({ type, tasks = [] }: Counted): number {
  return type === 'test' ? 1 : tasks.reduce((sum, task) => sum + countTests(task), 0)
}

/** Otherwise the count of skipped cases would be wrong without recordings. */
function checkCount(name: string, cases: number, found: number): void {
  if (found !== cases) throw new Error(`"${name}" has ${found} recorded cases, not ${cases}: correct the number`)
}
