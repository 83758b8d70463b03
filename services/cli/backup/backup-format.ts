/**
 * A backup: `backup.json` says what belongs to it and is replaced last, so that a backup cut short leaves the one before. Records are
 * in files of chunks, each with its length and the offset of its first record; chunks have a checksum of their own.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../core/domain/errors.js'

export type BackupTopic = { start: number; end: number; files: { name: string; first: number; end: number }[] }

export type Backup = {
  format: 1
  /** Epoch seconds. */
  made: number
  /** Text of the files VERSION and ORIGIN. */
  marks: Record<string, string>
  topics: Record<string, BackupTopic>
  /** The schema registry, the keys, what they spent, and positions of sources: keys with their values. */
  tables: Record<'schemas' | 'keys' | 'spent' | 'sources', [key: unknown, value: unknown][]>
  /**
   * What each chain was folded with, and a place up to which that is published: a restored chain continues in the same epoch.
   * Absent in backups of earlier versions.
   */
  folds?: Record<string, BackupFold>
  /** Other small files, by path in the data directory, in base64. */
  files: Record<string, string>
}

export type BackupFold = { epoch: number; fingerprint: string; position: number }

/** Files that say what a data directory is. */
export const MARKS = ['VERSION', 'ORIGIN']
export const CHUNK_HEADER_BYTES = 12
export const fileOf = (folder: string): string => join(folder, 'backup.json')

/** Undefined: the folder has no backup. */
export function readBackup(folder: string): Backup | undefined {
  const path = fileOf(folder)
  if (!existsSync(path)) return undefined
  try {
    const backup = JSON.parse(readFileSync(path, 'utf8')) as Backup
    if (backup.format === 1) return backup
  } catch {
    // The same answer as for another format.
  }
  throw new ConfigError({
    code: 'backup_unreadable',
    what: `${path} is not a backup that this version can read`,
    fix: 'Use another folder, or the version of Dextape that wrote it.',
  })
}

export function backupDamaged(file: string, why: string): ConfigError {
  return new ConfigError({
    code: 'backup_damaged',
    what: `The backup is damaged: ${file} ${why}`,
    fix: 'Use another backup, or make a new one in an empty folder.',
  })
}
