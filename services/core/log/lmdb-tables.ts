/** The LMDB environment of a data directory: one file for records, positions and schemas, shared by several processes. */
import { type Database, type Key, open, type RootDatabase } from 'lmdb'
import { ConfigError } from '../domain/errors.js'

/** A topic's facts. `id` keeps record keys short. */
export type TopicState = { id: number; start: number; end: number; bytes: number; newestMs: number }

export type Environment = {
  root: RootDatabase<Buffer, Key>
  /** topic name → its facts */
  topics: Database<TopicState, string>
  /** [topic id, offset of the first record] → chunk */
  chunks: Database<Buffer, Key>
  /** [topic id, highest timestamp so far] → offset of the first chunk with it */
  times: Database<number, Key>
  /** [group, topic] → next offset */
  groups: Database<number, Key>
  /** The schema registry's table. */
  schemas: Database<unknown, Key>
}

export type EnvironmentOptions = { path: string; readOnly?: boolean }

/** Address space, not disk: processes that share the file rarely need to remap it. It can grow beyond this. */
const MAP_BYTES = 2 ** 34

export function openEnvironment({ path, readOnly = false }: EnvironmentOptions): Environment {
  try {
    const root = open<Buffer, Key>(path, {
      encoding: 'binary',
      maxDbs: 8,
      maxReaders: 512,
      mapSize: MAP_BYTES,
      noSubdir: false,
      readOnly,
      // A commit returns only after its fsync, so no reader sees what a power failure could undo.
      overlappingSync: false,
    })
    return {
      root,
      topics: root.openDB({ name: 'topics', encoding: 'json' }),
      chunks: root.openDB({ name: 'chunks', encoding: 'binary' }),
      times: root.openDB({ name: 'times', encoding: 'json' }),
      groups: root.openDB({ name: 'groups', encoding: 'json' }),
      schemas: root.openDB({ name: 'schemas', encoding: 'json' }),
    }
  } catch (cause) {
    throw new ConfigError({
      code: 'log_unavailable',
      what: 'Cannot open the log',
      where: { file: path },
      got: cause instanceof Error ? cause.message : String(cause),
      fix: readOnly
        ? 'Run `dextape up` once, or set DEXTAPE_DATA_DIR to an existing data directory.'
        : 'Set DEXTAPE_DATA_DIR to a directory this user can write to.',
      cause,
    })
  }
}
