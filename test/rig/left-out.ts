/** Counts the cases that a run skips without recorded data, across its processes, and prints the sum at the end. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The variable with the path of the run's file, which has one number per line. */
const COUNTS = 'DEXTAPE_LEFT_OUT_CASES'

export function leaveOut(cases: number): void {
  const file = process.env[COUNTS]
  if (file !== undefined) appendFileSync(file, `${cases}\n`)
}

export default function countLeftOut(): () => void {
  const file = join(tmpdir(), 'left-out-cases')
  process.env[COUNTS] = file
  return () => {
    if (!existsSync(file)) return
    const cases = readFileSync(file, 'utf8')
      .split('\n')
      .reduce((sum, line) => sum + Number(line), 0)
    console.log(`Recorded data not found beside the checkout: ${cases} further cases skipped`)
  }
}
