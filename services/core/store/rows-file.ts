/** Inserts of bytes into the engine of this process, which takes statements as text and everything else from files. */
import { mkdirSync, rmSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'

let next = 0

const folderOf = (enginePath: string): string => join(enginePath, 'inserts')

/** Files of a process that crashed within an insert. The caller is the only one that has the engine open. */
export function removeOldRowsFiles(enginePath: string): void {
  rmSync(folderOf(enginePath), { recursive: true, force: true })
}

/** Calls `run` with `statement` changed so that it reads the bytes from a file, which exists until `run` ends. */
export async function withRowsFile<T>(
  enginePath: string,
  statement: string,
  rows: Uint8Array,
  run: (statement: string) => Promise<T>,
): Promise<T> {
  mkdirSync(folderOf(enginePath), { recursive: true })
  const file = join(folderOf(enginePath), `${process.pid}-${threadId}-${next++}`)
  try {
    await writeFile(file, rows)
    const quoted = file.replace(/\\/g, '\\\\').replace(/'/g, "\\'")
    return await run(statement.replace(/ SETTINGS /, ` FROM INFILE '${quoted}' SETTINGS `))
  } finally {
    await rm(file, { force: true })
  }
}
