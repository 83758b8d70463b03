/**
 * Checkpoints in the log itself, for every machine that may read a source. A process that takes a source claims it; the offset
 * of its claim is its generation. The latest claim holds the source, whatever older holders write.
 */

import { DextapeError } from '../core/domain/errors.js'
import { type KeyedTable, openKeyedTable } from '../core/log/keyed-table.js'
import { type EventLog, SOURCES_TOPIC } from '../core/log/port.js'
import type { Checkpoint, Checkpoints } from './checkpoints.js'

/**
 * Under `source/<source id>/<writer>`: one key per writer, so that in a compacted topic a stale writer does not erase the newest.
 * A claim's generation is its own offset.
 */
type Held = { claim: string; checkpoint?: undefined } | { generation: number; checkpoint: Checkpoint }

export type SharedCheckpointsOptions = {
  sourceId: string
  /** Random: never shared with another or an earlier process. */
  writer: string
}

/** Claims the source: the previous holder notices at its next write and stops. */
export async function claimCheckpoints(log: EventLog, options: SharedCheckpointsOptions): Promise<Checkpoints> {
  const { sourceId, writer } = options
  const table: KeyedTable<Held> = await openKeyedTable(log, SOURCES_TOPIC)
  const prefix = `source/${sourceId}/`
  const ownKey = `${prefix}${writer}`
  const generation = await table.put(ownKey, { claim: writer })

  const holders = () =>
    table
      .entries(prefix)
      .map(({ key, value, offset }) => ({
        key,
        generation: 'generation' in value ? value.generation : offset,
        checkpoint: value.checkpoint,
      }))
      .sort((a, b) => b.generation - a.generation)

  return {
    get(asked) {
      assertOwn(asked)
      return structuredClone(holders().find(({ checkpoint }) => checkpoint !== undefined)?.checkpoint)
    },
    async put(asked, checkpoint) {
      assertOwn(asked)
      await table.put(ownKey, { generation, checkpoint })
      if (holders()[0]?.key !== ownKey) throw taken(sourceId)
    },
    async close() {},
  }

  function assertOwn(asked: string): void {
    if (asked === sourceId) return
    throw new DextapeError({
      code: 'source_unclaimed',
      what: `The source ${asked} was not claimed`,
      expected: sourceId,
    })
  }
}

function taken(sourceId: string): DextapeError {
  return new DextapeError({
    code: 'source_taken',
    what: `Another ingest took over the source ${sourceId}; this one stops`,
    fix: 'Run one ingest per source. The newest one resumes where this one stopped.',
  })
}
