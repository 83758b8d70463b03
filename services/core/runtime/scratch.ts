/** Temporary folders of a running process. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The name has the process id, so that folders of ended processes can be deleted. One per prefix and process. */
export function newScratch(prefix: string): string {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1])
    // In containers every start has the same process id: a folder with our own is an earlier process's.
    if (pid === process.pid || (Number.isInteger(pid) && !isAlive(pid))) removeOwn(join(tmpdir(), name))
  }
  return mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
}

/** Folders of other users are left alone. */
function removeOwn(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(String((error as NodeJS.ErrnoException).code))) throw error
  }
}

/** Whether a process with this id runs, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
