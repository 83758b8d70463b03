/** Folders that a process needs only while it runs. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Named after the process, so that what a killed one left can be told from what a living one uses. One of a prefix a process. */
export function newScratch(prefix: string): string {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1])
    // In containers every start has the same number: what stands under our own is an earlier one's.
    if (pid === process.pid || (Number.isInteger(pid) && !isAlive(pid))) removeOwn(join(tmpdir(), name))
  }
  return mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
}

/** What another user left is his to remove, and no reason not to start. */
function removeOwn(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(String((error as NodeJS.ErrnoException).code))) throw error
  }
}

/** Whether a process with this id runs, whoever's it is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
