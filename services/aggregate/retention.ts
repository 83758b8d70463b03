/** What is deleted, by chain time: old updates, trades and dead letters of the log, second candles and older epochs of the store. */
import { deadTopic, type EventLog, REST_GROUP, SERVE_GROUP, tradesTopic, updatesTopic } from '../core/log/port.js'
import type { Store } from '../core/store/port.js'
import { FILLED_TABLES, rowVersion, TABLES } from '../core/store/tables.js'
import type { TopicSettings } from './trades-topic.js'

export type RetentionSettings = TopicSettings & {
  updatesKeptMs: number
  /** And at least this long by the wall clock. */
  updatesHeldMs: number
  deadKeptMs: number
  secondCandlesKeptS: number
}

export type RetentionDeps = { log: EventLog; store: Store; settings: RetentionSettings; nowMs(): number }

const DAY_S = 86_400

/** The returned function deletes what is too old, once per day of chain time. */
export function createDailyRetention(deps: RetentionDeps, chain: string): (nowS: number) => Promise<void> {
  const { log, store, settings, nowMs } = deps
  const topics = [updatesTopic(chain), ...(settings.publishTrades ? [tradesTopic(chain)] : [])].map((topic) => ({
    topic,
    written: createWrittenMarks(settings.updatesHeldMs, nowMs),
  }))
  let lastDay = 0

  return async (nowS) => {
    const day = Math.floor(nowS / DAY_S)
    if (day === lastDay) return
    lastDay = day
    for (const { topic, written } of topics) await truncatePublished(log, topic, settings.updatesKeptMs, written)
    await deleteOldDeadLetters(log, chain, settings.deadKeptMs)
    await deleteSecondCandles(store, chain, nowS - settings.secondCandlesKeptS)
  }
}

/** Keeps newer records, and those serve has not read yet: a day of chain time can pass in a second of catching up. */
async function truncatePublished(log: EventLog, topic: string, keptMs: number, written: WrittenMarks): Promise<void> {
  const { newestMs, end } = await log.info(topic)
  const old = await log.offsetAt(topic, newestMs - keptMs)
  const read = await Promise.all([SERVE_GROUP, REST_GROUP].map((group) => log.committed(group, topic)))
  await log.truncate(topic, Math.min(old, ...read.map((offset) => offset ?? end), written.endHeld(end)))
}

type WrittenMarks = ReturnType<typeof createWrittenMarks>

/** Remembers where a topic ended at moments of the wall clock, to know what was written within the last `heldMs`. */
function createWrittenMarks(heldMs: number, nowMs: () => number) {
  let marks: { atMs: number; end: number }[] = []
  return {
    /** The topic's end as it was `heldMs` ago, as far as known. */
    endHeld(end: number): number {
      const now = nowMs()
      marks.push({ atMs: now, end })
      const old = marks.filter(({ atMs }) => now - atMs >= heldMs)
      marks = marks.slice(Math.max(0, old.length - 1))
      return old.at(-1)?.end ?? 0
    },
  }
}

async function deleteOldDeadLetters(log: EventLog, chain: string, keptMs: number): Promise<void> {
  const topic = deadTopic(chain)
  const { start } = await log.info(topic)
  const [oldest] = await log.read(topic, { from: start, maxRecords: 1 })
  // A letter written before any chain time was known has no age: nothing after it is deleted.
  if (oldest === undefined || oldest.timestampMs === 0) return
  await log.retain(topic, keptMs)
}

export async function deleteOlderEpochs(store: Store, chain: string, epoch: number): Promise<void> {
  for (const table of [...Object.keys(TABLES), ...FILLED_TABLES]) {
    await store.command(`DELETE FROM ${table} WHERE chain = {chain:String} AND version < {version:UInt64}`, {
      chain,
      version: rowVersion(epoch, 0),
    })
  }
}

export async function deleteSecondCandles(store: Store, chain: string, beforeS: number): Promise<void> {
  await store.command(
    "DELETE FROM candle_rows WHERE chain = {chain:String} AND interval = 's1' AND time < toDateTime({before:UInt32}, 'UTC')",
    { chain, before: Math.max(0, Math.floor(beforeS)) },
  )
}
