/** Creates a data directory from a backup. It appears only when it is whole. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Key, open } from 'lmdb'
import { type DataDir, openDataDir } from '../../core/data-dir/data-dir.js'
import { openRepairs } from '../../core/data-dir/repairs.js'
import { ConfigError } from '../../core/domain/errors.js'
import { plainChunk } from '../../core/log/chunk.js'
import {
  areSchemasWhole,
  type Environment,
  openEnvironment,
  removeTopicNames,
  sealSchemas,
} from '../../core/log/lmdb-tables.js'
import { restoreTopic } from '../../core/log/salvage-log.js'
import { silentLogger } from '../../core/runtime/logger.js'
import { knownHeads } from '../../processes/repair/known-heads.js'
import { type Backup, backupDamaged, CHUNK_HEADER_BYTES, fileOf, MARKS, readBackup } from './backup-format.js'
import { type FoldRestoredDeps, foldRestored } from './fold-restored.js'

const PRIVATE = 0o600
const CHUNKS_PER_COMMIT = 200

/** Within the data directory, which may be a file system of its own. */
const UNFINISHED = 'restoring'

export type Restored = {
  records: number
  /** Chains whose checkpoints and rows were computed; the first start does the others. */
  folded: string[]
}

export async function restoreBackup(folder: string, dataDir: string, deps: FoldRestoredDeps): Promise<Restored> {
  const backup = readBackup(folder)
  if (backup === undefined)
    throw new ConfigError({
      code: 'backup_missing',
      what: `No backup at ${folder}: ${fileOf(folder)} is missing`,
      fix: 'Give the folder that `dextape backup` wrote to.',
    })
  if (existsSync(dataDir) && readdirSync(dataDir).some((name) => name !== UNFINISHED))
    throw new ConfigError({
      code: 'data_dir_not_empty',
      what: `The data directory ${dataDir} is not empty`,
      fix: 'Move it away, or restore to another one with --data-dir.',
    })
  const unfinished = join(dataDir, UNFINISHED)
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true, mode: 0o700 })
  for (const [name, text] of Object.entries(backup.marks)) writeFileSync(join(unfinished, name), text)
  const dir = openDataDir(unfinished)
  for (const [name, content] of Object.entries(backup.files)) {
    mkdirSync(dirname(join(unfinished, name)), { recursive: true, mode: 0o700 })
    writeFileSync(join(unfinished, name), content, { encoding: 'base64', mode: PRIVATE })
  }
  await putEntries(dir.sourcesPath, backup.tables.sources)
  await putEntries(dir.keysPath, backup.tables.keys)
  await putEntries(join(dir.keysPath, 'spent'), backup.tables.spent)
  const records = await restoreLog(folder, dir.logPath, backup)
  const folded = await foldRestored(dir, backup.folds, deps)
  await expectFold(dir, folded)
  moveUp(unfinished, dataDir)
  return { records, folded }
}

/** The marks come last: without them it is no data directory. */
function moveUp(from: string, to: string): void {
  const isMark = (name: string) => MARKS.includes(name)
  const names = readdirSync(from)
  for (const name of [...names.filter((one) => !isMark(one)), ...names.filter(isMark)])
    renameSync(join(from, name), join(to, name))
  rmdirSync(from)
}

/** Until the other chains are folded again, a start is not ready. */
async function expectFold(dir: DataDir, folded: readonly string[]): Promise<void> {
  const heads = Object.entries(await knownHeads(dir, { hasLog: true })).filter(([chain]) => !folded.includes(chain))
  const until = Object.fromEntries(heads.map(([chain, block]) => [chain, { block, epoch: 0 }]))
  const what = 'The data directory was restored from a backup'
  openRepairs(dir.path, silentLogger).begin(
    { part: 'store', what, answer: 'the chains are folded from the log' },
    until,
  )
}

async function restoreLog(folder: string, path: string, { topics, tables }: Backup): Promise<number> {
  const env = openEnvironment({ path })
  let records = 0
  try {
    await env.root.transaction(() => {
      for (const [key, value] of tables.schemas) env.schemas.put(key as Key, value)
      if (!areSchemasWhole(env)) throw backupDamaged(fileOf(folder), 'has schemas with a wrong checksum')
      removeTopicNames(env)
    })
    for (const [at, [topic, { start, end, files }]] of Object.entries(topics).entries()) {
      const id = at + 1
      for (const { name } of files) await restoreFile(env, id, join(folder, name))
      await env.root.transaction(() => {
        const [lost] = restoreTopic(env, topic, id, { id, start, end, bytes: 0, newestMs: 0 })
        if (lost !== undefined) throw backupDamaged(topic, `lacks records from offset ${lost.from} to ${end - 1}`)
      })
      records += end - start
    }
    await env.root.transaction(() => sealSchemas(env))
    await env.root.flushed
    return records
  } finally {
    await env.root.close()
  }
}

async function restoreFile(env: Environment, id: number, file: string): Promise<void> {
  if (!existsSync(file)) throw backupDamaged(file, 'is missing')
  const bytes = readFileSync(file)
  let written: Promise<unknown> = Promise.resolve()
  let count = 0
  for (let at = 0; at < bytes.length; ) {
    if (at + CHUNK_HEADER_BYTES > bytes.length) throw backupDamaged(file, 'ends too early')
    const length = bytes.readUInt32LE(at)
    const first = bytes.readDoubleLE(at + 4)
    const chunk = bytes.subarray(at + CHUNK_HEADER_BYTES, at + CHUNK_HEADER_BYTES + length)
    if (chunk.length !== length || plainChunk(chunk) === undefined)
      throw backupDamaged(file, `has a wrong checksum at byte ${at}`)
    written = env.chunks.put([id, first], chunk)
    count += 1
    if (count % CHUNKS_PER_COMMIT === 0) await written
    at += CHUNK_HEADER_BYTES + length
  }
  await written
}

async function putEntries(path: string, entries: readonly (readonly [unknown, unknown])[]): Promise<void> {
  // A folder without its file passes for damaged: keys/ has other files too.
  if (entries.length === 0 && !existsSync(path)) return
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const table = open<unknown, string>({ path, encoding: 'json', noSubdir: false, ...{ permissionsMode: PRIVATE } })
  await table.transaction(() => {
    for (const [key, value] of entries) table.put(key as string, value)
  })
  await table.flushed
  await table.close()
}
