/** The last block of each chain, as far as the data directory says: by the positions of the sources, and by the log. */
import { existsSync } from 'node:fs'
import { createGenerations } from '../../core/coordination/generations.js'
import type { DataDir } from '../../core/data-dir/data-dir.js'
import { createCodec } from '../../core/log/codec.js'
import { openEmbedded } from '../../core/log/embedded-log.js'
import { dataFileOf, walkLmdbFile } from '../../core/log/lmdb-file.js'
import { blocksTopic } from '../../core/log/port.js'
import type { Checkpoint } from '../../ingest/checkpoints.js'
import { readPublished } from '../../ingest/resume-source.js'
import { chainsOf } from '../platform/platform.js'

/** `hasLog`: the log can be opened. */
export async function knownHeads(dir: DataDir, { hasLog }: { hasLog: boolean }): Promise<Record<string, number>> {
  const heads: Record<string, number> = {}
  const note = (chain: string, block: number) => {
    heads[chain] = Math.max(heads[chain] ?? 0, block)
  }
  for (const { chains } of sourcePositions(dir))
    for (const [chain, { number }] of Object.entries(chains ?? {})) note(chain, number)
  if (!hasLog || !existsSync(dataFileOf(dir.logPath))) return heads
  const { log, registry } = openEmbedded({ path: dir.logPath })
  const codec = createCodec(registry)
  const generations = createGenerations(log)
  try {
    await generations.load()
    for (const chain of await chainsOf(log)) {
      const topic = blocksTopic(chain, generations.liveOf(chain))
      const head = (await readPublished(log, codec, topic)).at(-1)
      if (head !== undefined) note(chain, head.number)
    }
  } finally {
    await generations.close()
    await log.close()
  }
  return heads
}

/** Read without LMDB: the file may be damaged. */
function sourcePositions(dir: DataDir): Partial<Checkpoint>[] {
  const file = dataFileOf(dir.sourcesPath)
  const found: Partial<Checkpoint>[] = []
  if (!existsSync(file)) return found
  walkLmdbFile(file, ({ value }) => {
    try {
      found.push(JSON.parse(value.toString('utf8')) as Partial<Checkpoint>)
    } catch {
      // Of a damaged file.
    }
  })
  return found
}
