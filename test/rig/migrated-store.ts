/**
 * A store's files right after its migrations. They take 0.3 s of CPU, a sixth of a first start, and nearly every test needs them:
 * one process makes them once in a run, all others copy them. A long run starts from nothing, as a user does.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { repositoryRoot } from '../../schemas/avro.js'
import { isLongRun } from './counts.js'

const STORE = pathToFileURL(join(repositoryRoot(), 'dist/services/core/store/clickhouse-store.js')).href
// In a process of its own: an engine process has one directory.
const MIGRATE = `
  import { openStore } from '${STORE}'
  const store = await openStore({ kind: 'embedded', path: process.argv[1] })
  await store.migrate()
  await store.close()`

/** Does nothing where there is a store already, and where the store is a server. */
export function copyMigratedStore(path: string): void {
  if (isLongRun() || process.env.CLICKHOUSE_URL !== undefined || existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  cpSync(migratedStore(), path, { recursive: true, verbatimSymlinks: true })
}

/** The folder for temporary files is the run's own (rig/scratch.ts). */
function migratedStore(): string {
  const path = join(tmpdir(), 'migrated-store')
  if (existsSync(path)) return path
  const made = `${path}-${process.pid}`
  execFileSync(process.execPath, ['--input-type=module', '-e', MIGRATE, made], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    renameSync(made, path)
  } catch (error) {
    // Another process was faster.
    if (!existsSync(path)) throw error
    rmSync(made, { recursive: true, force: true })
  }
  return path
}
