/** Redirects the tests' temporary files to one folder per run, which is removed at its end. */
import { chmodSync, rmSync } from 'node:fs'
import { newScratch } from '../../services/core/runtime/scratch.js'

export default function openScratch(): () => void {
  const folder = newScratch('dextape-tests-')
  // Some tests start a process as another user, which must read folders below this one.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
