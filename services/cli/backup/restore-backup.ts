/** Creates a data directory from a backup. The chains are folded from the log by its first start. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Key, open } from 'lmdb'
import { type DataDir, openDataDir } from '../../core/data-dir/data-dir.js'
import { openRepairs } from '../../core/data-dir/repairs.js'
import { ConfigError } from '../../core/domain/errors.js'
import { plainChunk } from '../../core/log/chunk.js'
import { type Environment, openEnvironment } from '../../core/log/lmdb-tables.js'
import { restoreTopic } from '../../core/log/salvage-log.js'
import { silentLogger } from '../../core/runtime/logger.js'
import { knownHeads } from '../../processes/repair/known-heads.js'
import { type Backup, backupDamaged, CHUNK_HEADER_BYTES, fileOf, readBackup } from './backup-format.js'

const PRIVATE = 0o600
const CHUNKS_PER_COMMIT = 200

/** Resolves with the number of records. */
export async function restoreBackup(folder: string, dataDir: string): Promise<number> {
  const backup = readBackup(folder)
  if (backup === undefined)
    throw new ConfigError({
      code: 'backup_missing',
      what: `No backup at ${folder}: ${fileOf(folder)} is missing`,
      fix: 'Give the folder that `dextape backup` wrote to.',
    })
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new ConfigError({
      code: 'data_dir_not_empty',
      what: `The data directory ${dataDir} is not empty`,
      fix: 'Move it away, or restore to another one with --data-dir.',
    })
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  for (const [name, text] of Object.entries(backup.marks)) writeFileSync(join(dataDir, name), text)
  const dir = openDataDir(dataDir)
  for (const [name, content] of Object.entries(backup.files)) {
    mkdirSync(dirname(join(dataDir, name)), { recursive: true, mode: 0o700 })
    writeFileSync(join(dataDir, name), content, { encoding: 'base64', mode: PRIVATE })
  }
  await putEntries(dir.sourcesPath, backup.tables.sources)
  await putEntries(dir.keysPath, backup.tables.keys)
  await putEntries(join(dir.keysPath, 'spent'), backup.tables.spent)
  const records = await restoreLog(folder, dir.logPath, backup)
  await expectFold(dir)
  return records
}

/** Until the chains are folded again, a start is not ready. */
async function expectFold(dir: DataDir): Promise<void> {
  const heads = Object.entries(await knownHeads(dir, { hasLog: true }))
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
  if (entries.length === 0) return
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const table = open<unknown, string>({ path, encoding: 'json', noSubdir: false, ...{ permissionsMode: PRIVATE } })
  await table.transaction(() => {
    for (const [key, value] of entries) table.put(key as string, value)
  })
  await table.flushed
  await table.close()
}
