/** Everything a run's tests put into the temporary folder goes into one of the run's own, which ends with it. */
import { rmSync } from 'node:fs'
import { newScratch } from '../../services/core/runtime/scratch.js'

export default function openScratch(): () => void {
  const folder = newScratch('dextape-tests-')
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
