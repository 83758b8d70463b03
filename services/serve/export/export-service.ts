/** Exports: answers of any size, one at a time, as the engine writes them. */
import type { Readable } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import type { Plan, Plans } from '../../core/domain/plans.js'
import type { ReadSettings, Store } from '../../core/store/port.js'
import type { ChainDirectory } from '../chain-directory.js'
import { createTurns } from '../history/query-lanes.js'
import type { Access } from '../keys/key-gate.js'
import { createKeyQueries } from '../keys/key-queries.js'
import { loadProgressOf } from '../memory/load-chain.js'
import { badRequest } from '../rest/problem.js'
import { asSqlFault } from '../sql/sql-faults.js'
import { type SqlService, settingsOf } from '../sql/sql-service.js'
import { type Column, EXPORT_FORMATS, EXPORT_SETTINGS, type ExportFormat, fitToFormat } from './export-formats.js'
import { type ExportFilter, type ExportView, exportQuery, type Partition, partitionsQuery } from './export-query.js'

export type ExportRequest = ExportFilter & { view?: ExportView; query?: string; format?: ExportFormat }

export type Export = { body: Readable; asOf: ReadonlyMap<string, number> }

export interface ExportService {
  /** `isWanted` is asked when its turn comes. */
  start(access: Key, request: ExportRequest, isWanted: () => boolean): Promise<Export>
  partitions(access: Key, request: ExportRequest): Promise<Partition[]>
  allow(plan: Plan): void
}

type Key = Pick<Access, 'id' | 'plan'>

export type ExportDeps = { sql: SqlService; store: Store; chains: ChainDirectory; plans: Plans }

/** As many as the embedded engine streams at once. */
const LANE = { atOnce: 1, mostWaiting: 20 }
/** A view always delivers; a query may compute for long before its first row. */
const QUERY_SECONDS_FACTOR = 60
const DAY_S = 86_400
/** A block's own time may lie an hour behind. */
const LATE_S = 3_600

export function createExportService({ sql, store, chains, plans }: ExportDeps): ExportService {
  const inTurn = createTurns(LANE)
  const queries = createKeyQueries(plans, 'sqlQueries')

  async function selectOf(plan: Plan, { view, query, format: _, ...filter }: ExportRequest): Promise<string> {
    if (view !== undefined && query === undefined) return exportQuery(chains, view, filter)
    if (view !== undefined || query === undefined) throw badRequest('export_what', 'Send either `view` or `query`.')
    const given = Object.keys(filter)
    if (given.length > 0)
      throw badRequest('export_filter', `\`${given[0]}\` narrows a view. Write the condition into the query instead.`)
    const checked = await sql.check(plan, query)
    if (checked.format !== undefined)
      throw badRequest('sql_format', `Remove FORMAT ${checked.format} from the query and send \`format\` beside it.`)
    return checked.sql
  }

  /** A day of which every block is final and stored needs no waiting: a folder has thousands of them. */
  async function finalAndStored({
    chains: [chain] = [],
    date,
  }: ExportRequest): Promise<Map<string, number> | undefined> {
    if (date === undefined || chain === undefined) return undefined
    const stored = await loadProgressOf(store, chain)
    if (stored === undefined || Date.parse(date) / 1000 + DAY_S + LATE_S > stored.final_now) return undefined
    return new Map([[stored.chain, stored.seq]])
  }

  async function columnsOf(select: string, settings: ReadSettings): Promise<Column[]> {
    const described = await store.read(`DESCRIBE TABLE (${select}) FORMAT JSON`, settings)
    return (JSON.parse(Buffer.from(described).toString()) as { data: Column[] }).data
  }

  async function begin(plan: Plan, request: ExportRequest): Promise<Export> {
    const { format = 'parquet', query } = request
    const seconds = (plans[plan].sqlSeconds ?? 0) * QUERY_SECONDS_FACTOR
    const settings = exportSettings(plans, plan, query === undefined ? 0 : seconds)
    const select = await selectOf(plan, request)
    const asOf = (await finalAndStored(request)) ?? (await sql.untilStored())
    const fitted = fitToFormat(select, await columnsOf(select, settings), format)
    return { body: await store.stream(fitted, EXPORT_FORMATS[format].engine, settings), asOf }
  }

  /** Resolves when the export has begun; its turn ends with its stream. */
  function inLane(access: Key, make: () => Promise<Export>): Promise<Export> {
    sql.allow(access.plan)
    return new Promise((resolve, reject) => {
      const work = async () => {
        const made = await make().catch((error) => {
          throw asSqlFault(error)
        })
        resolve(made)
        await finished(made.body).catch(() => {})
      }
      queries.run(access, () => inTurn(work)).catch(reject)
    })
  }

  return {
    allow: sql.allow,
    start: (access, request, isWanted) =>
      inLane(access, () => {
        if (!isWanted()) throw badRequest('export_left', 'The client has left.')
        return begin(access.plan, request)
      }),
    async partitions(access, { view, query, format: _, ...filter }) {
      if (view === undefined || query !== undefined)
        throw badRequest('export_what', 'Send `view`: only views are partitioned.')
      const settings = exportSettings(plans, access.plan, 0)
      const { body } = await inLane(access, async () => {
        const asOf = await sql.untilStored()
        return { body: await store.stream(partitionsQuery(chains, view, filter), 'JSONEachRow', settings), asOf }
      })
      const lines = (await readText(body)).split('\n').filter((line) => line !== '')
      return lines.map((line) => {
        const { rows, ...one } = JSON.parse(line) as Partition
        return { ...one, rows: Number(rows) }
      })
    },
  }
}

function exportSettings(plans: Plans, plan: Plan, seconds: number): ReadSettings {
  // A partition is a function of the sort key: versions of a row are never in two.
  const final = { do_not_merge_across_partitions_select_final: 1 }
  const unbounded = { max_execution_time: seconds, max_result_rows: 0, max_result_bytes: 0, max_block_size: 65_536 }
  // Reading and writing at once, with the lowest claim to the CPU (USER_QUERY): a third more rows per second.
  const threads = { max_threads: 2 }
  return { ...settingsOf(plans[plan], { ...unbounded, ...threads, ...final, ...EXPORT_SETTINGS }) }
}
