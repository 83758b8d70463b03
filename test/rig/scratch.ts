/** Everything a run's tests put into the temporary folder goes into one of the run's own, which ends with it. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '../../services/core/runtime/is-alive.js'

const PREFIX = 'dextape-tests-'

export default function openScratch(): () => void {
  removeForsaken()
  const folder = join(tmpdir(), `${PREFIX}${process.pid}`)
  mkdirSync(folder, { recursive: true })
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

/** Those of runs that were killed. */
function removeForsaken(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : Number.NaN
    if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true })
  }
}
