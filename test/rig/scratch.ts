/** Everything a run's tests put into the temporary folder goes into one of the run's own, which ends with it. */
import { chmodSync, rmSync } from 'node:fs'
import { newScratch } from '../../services/core/runtime/scratch.js'

export default function openScratch(): () => void {
  const folder = newScratch('dextape-tests-')
  // Tests that start a process as somebody else let it read their folders, which stand below this one.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
