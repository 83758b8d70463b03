/** Writes a backup, or adds to one what is new. Works beside a running `up`. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { open, type Transaction } from 'lmdb'
import { readMeta } from '../../aggregate/checkpoint/restore-state.js'
import { openStateStore } from '../../aggregate/checkpoint/state-store.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { ConfigError } from '../../core/domain/errors.js'
import { chunkRecords, plainChunk } from '../../core/log/chunk.js'
import { dataFileOf } from '../../core/log/lmdb-file.js'
import { type Environment, openEnvironment, type TopicState } from '../../core/log/lmdb-tables.js'
import {
  type Backup,
  type BackupFold,
  type BackupTopic,
  CHUNK_HEADER_BYTES,
  fileOf,
  MARKS,
  readBackup,
} from './backup-format.js'

const SMALL_FILES = ['keys/ws-token.secret', 'simulator/market.json']

export async function writeBackup(dir: DataDir, folder: string, nowMs: number) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const before = readBackup(folder)
  const marks = Object.fromEntries(MARKS.flatMap((name) => textOf(dir, name)))
  if (before !== undefined && before.marks.ORIGIN !== marks.ORIGIN) throw otherLog(folder)
  // Before the log: a source must not be ahead of it.
  const sources = await entriesOf(dir.sourcesPath)
  // Before the log too: what a checkpoint has is published.
  const folds = await foldsOf(dir)
  const env = openEnvironment({ path: dir.logPath })
  // One moment of the log, whatever is written and deleted meanwhile.
  const transaction = env.root.useReadTransaction()
  try {
    const states = [...env.topics.getRange({ transaction })].map(({ key, value }) => [key, value] as const)
    const schemas = [...env.schemas.getRange({ transaction })].map(({ key, value }): [unknown, unknown] => [key, value])
    const topics: Backup['topics'] = {}
    const written = { records: 0, bytes: 0 }
    for (const [topic, state] of states) {
      const known = before?.topics[topic]
      if (known !== undefined && known.end > state.end) throw otherLog(folder)
      topics[topic] = addRecords({ env, transaction }, folder, topic, state, known, written)
    }
    const backup: Backup = {
      ...{ format: 1, made: Math.floor(nowMs / 1000), marks, topics, folds },
      tables: {
        ...{ schemas, sources, keys: await entriesOf(dir.keysPath) },
        spent: await entriesOf(join(dir.keysPath, 'spent')),
      },
      files: Object.fromEntries(
        SMALL_FILES.flatMap((name) => {
          const path = join(dir.path, name)
          return existsSync(path) ? [[name, readFileSync(path, 'base64')]] : []
        }),
      ),
    }
    writeDurably(fileOf(folder), [Buffer.from(JSON.stringify(backup))])
    removeOld(folder, before, backup)
    return written
  } finally {
    transaction.done()
    await env.root.close()
  }
}

/** Of chains with a checkpoint; one that is just being replaced is left out. */
async function foldsOf({ statePath }: DataDir): Promise<Record<string, BackupFold>> {
  const folds: Record<string, BackupFold> = {}
  for (const chain of existsSync(statePath) ? readdirSync(statePath) : []) {
    const path = join(statePath, chain)
    if (!existsSync(dataFileOf(path))) continue
    const state = await openStateStore(path)
    try {
      const { epoch, fingerprint, position } = readMeta(state) ?? {}
      if (epoch !== undefined && fingerprint !== undefined && position !== undefined)
        folds[chain] = { epoch, fingerprint, position }
    } finally {
      await state.close()
    }
  }
  return folds
}

function addRecords(
  { env, transaction }: { env: Environment; transaction: Transaction },
  folder: string,
  topic: string,
  state: TopicState,
  known: BackupTopic | undefined,
  written: { records: number; bytes: number },
): BackupTopic {
  const files = (known?.files ?? []).filter(({ end }) => end > state.start)
  const first = Math.max(known?.end ?? 0, state.start)
  if (first >= state.end) return { start: state.start, end: state.end, files }
  let next = first
  function* chunks(): Generator<Buffer> {
    for (const { key, value } of env.chunks.getRange({ start: [state.id], end: [state.id, state.end], transaction })) {
      const at = (key as [number, number])[1]
      const end = at + chunkRecords(value)
      if (end <= first) continue
      if (plainChunk(value) === undefined || at > next) throw damaged(topic, at)
      const header = Buffer.alloc(CHUNK_HEADER_BYTES)
      header.writeUInt32LE(value.length, 0)
      header.writeDoubleLE(at, 4)
      next = end
      written.bytes += value.length
      yield header
      yield value
    }
    if (next !== state.end) throw damaged(topic, next)
  }
  mkdirSync(join(folder, topic), { recursive: true, mode: 0o700 })
  const name = join(topic, `${String(first).padStart(15, '0')}.records`)
  writeDurably(join(folder, name), chunks())
  written.records += state.end - first
  return { start: state.start, end: state.end, files: [...files, { name, first, end: state.end }] }
}

/** It appears whole or not at all. */
function writeDurably(path: string, parts: Iterable<Buffer>): void {
  const fd = openSync(`${path}.new`, 'w', 0o600)
  try {
    for (const part of parts) writeSync(fd, part)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  renameSync(`${path}.new`, path)
}

/** Records that the log no longer has. */
function removeOld(folder: string, before: Backup | undefined, now: Backup): void {
  const kept = new Set(Object.values(now.topics).flatMap(({ files }) => files.map(({ name }) => name)))
  for (const { files } of Object.values(before?.topics ?? {}))
    for (const { name } of files) if (!kept.has(name)) rmSync(join(folder, name), { force: true })
}

/** Of a small LMDB table. */
async function entriesOf(path: string): Promise<[unknown, unknown][]> {
  if (!existsSync(path)) return []
  const table = open<unknown, string>({ path, encoding: 'json', noSubdir: false })
  const entries = [...table.getRange()].map(({ key, value }): [unknown, unknown] => [key, value])
  await table.close()
  return entries
}

function textOf(dir: DataDir, name: string): [string, string][] {
  const path = join(dir.path, name)
  return existsSync(path) ? [[name, readFileSync(path, 'utf8')]] : []
}

function otherLog(folder: string): ConfigError {
  return new ConfigError({
    code: 'backup_of_another_log',
    what: `${folder} holds a backup of another log`,
    fix: 'Use an empty folder.',
  })
}

function damaged(topic: string, offset: number): ConfigError {
  return new ConfigError({
    code: 'log_damaged',
    what: `Cannot back up ${topic}: its record ${offset} is damaged`,
    fix: 'Stop `dextape up` and start it again: a start repairs the log. Then repeat the backup.',
  })
}
