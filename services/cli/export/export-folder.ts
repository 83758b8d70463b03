/** A folder `chain=…/date=…` with one file for each day of each chain, which DuckDB, Spark and polars read as one table. */
import { join } from 'node:path'
import { DextapeError } from '../../core/domain/errors.js'
import type { ExportFormat } from '../../serve/export/export-formats.js'
import type { Partition } from '../../serve/export/export-query.js'
import type { ExportRequest } from '../../serve/export/export-service.js'
import type { ExportServer } from './export-server.js'
import type { ExportProgress } from './progress.js'
import { writeTo } from './write-file.js'

export type FolderExport = {
  server: ExportServer
  asked: ExportRequest & { format: ExportFormat }
  progress: ExportProgress
}

const MAX_TRIES = 5
const DAY_MS = 86_400_000

/**
 * Days that are final are the same whenever they are read. The others are read together: if a reorg changed one of them meanwhile,
 * a trade could be in two days or in none, so they are read again.
 */
export async function fillFolder(folder: string, plan: FolderExport): Promise<void> {
  const { server, progress } = plan
  const { format: _, ...filter } = plan.asked
  const listed = await server.partitions(filter)
  progress.expect(listed.length, sumOf(listed))
  for (const partition of listed.filter(isFinal)) await writePartition(folder, plan, partition)
  let open = listed.filter((one) => !isFinal(one))
  for (let tries = MAX_TRIES; ; tries -= 1) {
    for (const partition of open) await writePartition(folder, plan, partition)
    const settled = settledOf(open)
    if (settled.length === 0) return
    const from_time = Math.max(filter.from_time ?? 0, Math.min(...settled.map(({ date }) => Date.parse(date) / 1000)))
    const now = (await server.partitions({ ...filter, from_time })).filter((one) => !isFinal(one))
    if (settled.every((one) => now.some((other) => isSame(one, other)))) return
    if (tries === 0) throw keptChanging()
    open = now
  }
}

async function writePartition(
  folder: string,
  { server, asked, progress }: FolderExport,
  one: Partition,
): Promise<void> {
  const { chain, date, rows } = one
  const { from_time, to_time, ...filter } = asked
  const dayS = Date.parse(date) / 1000
  const { body } = await server.open({
    ...filter,
    ...{ chains: [chain], date },
    ...(from_time === undefined ? {} : { from_time: Math.max(from_time, dayS) }),
    ...(to_time === undefined ? {} : { to_time: Math.min(to_time, dayS + DAY_MS / 1000 - 1) }),
  })
  const file = join(folder, `chain=${encodeURIComponent(chain)}`, `date=${date}`, `part-0.${asked.format}`)
  await writeTo(file, body, progress.add)
  progress.endFile(rows)
}

const isFinal = ({ hash }: Partition) => hash === '0'

const isSame = (one: Partition, other: Partition) =>
  one.chain === other.chain && one.date === other.date && one.hash === other.hash

const sumOf = (partitions: readonly Partition[]) => partitions.reduce((sum, { rows }) => sum + rows, 0)

/** New blocks extend the last day of a chain; its earlier days change by a reorg alone. */
function settledOf(open: readonly Partition[]): Partition[] {
  return open.filter(({ chain, date }) => open.some((other) => other.chain === chain && other.date > date))
}

function keptChanging(): DextapeError {
  return new DextapeError({
    code: 'export_changing',
    what: `Reorgs changed the last days ${MAX_TRIES + 1} times while they were read`,
    fix: 'Run the export again, or export final blocks only with --finalized.',
  })
}
