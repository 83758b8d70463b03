/**
 * Data recorded on mainnets, in `../shared/data` beside the checkout where somebody has it; it is never part of the project. Every suite has
 * cases without it. Cases that need it are made where it is there, and counted as left out where it is not: the run’s last line says how many.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, TestRunner } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { leaveOut } from './left-out.js'

const FOLDER = join(repositoryRoot(), '../shared/data')

export const hasRecordings = existsSync(FOLDER)

/** `path`: below the folder of recorded data. */
export const recordingPath = (path: string): string => join(FOLDER, path)

export const DAY_RECORDING = recordingPath('recordings/usdc-weth-2024-01-05.jsonl.gz')

/** A suite about particular recordings. `cases`: how many tests it has. */
export function describeRecorded(name: string, cases: number, body: () => void): void {
  if (!hasRecordings) return leaveOut(cases)
  describe(name, () => {
    const collected = TestRunner.getCurrentSuite()
    body()
    afterAll(() => refuseOther(name, cases, collected.suite === undefined ? 0 : countTests(collected.suite)))
  })
}

/** More cases for a suite that has some without them. `cases`: how many there are. */
export function recordedCases<T>(name: string, cases: number, read: () => readonly T[]): readonly T[] {
  if (!hasRecordings) {
    leaveOut(cases)
    return []
  }
  const found = read()
  refuseOther(name, cases, found.length)
  return found
}

type Counted = { type: string; tasks?: readonly Counted[] }

function countTests({ type, tasks = [] }: Counted): number {
  return type === 'test' ? 1 : tasks.reduce((sum, task) => sum + countTests(task), 0)
}

/** Else the last line would tell a wrong number where there are no recordings. */
function refuseOther(name: string, cases: number, found: number): void {
  if (found !== cases) throw new Error(`"${name}" has ${found} recorded cases, not ${cases}: correct the number`)
}
