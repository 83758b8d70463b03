/**
 * A chain's history has generations: each is its own topic, one of them is live. A longer or newly decoded history is written
 * next to the live one, and one record in this table makes it live for every process.
 */
import type { ChainStart } from '../config/node-source.js'
import { createKeyedTable } from '../log/keyed-table.js'
import { type EventLog, GENERATIONS_TOPIC } from '../log/port.js'
import { type Logger, silentLogger } from '../runtime/logger.js'

/** Key: the chain's name. Which generation is live. */
export type LiveGeneration = {
  generation: number
  /** The first block wanted of it. */
  from: ChainStart
  /** Wall clock, epoch milliseconds. */
  made: number
}

/** Key: `building/<chain>`. One that is being written; `ended` once it is live or abandoned. */
export type UnfinishedGeneration = {
  generation: number
  from: ChainStart
  began: number
  /** Dead letters below this offset are decoded again by it. */
  lettersEnd?: number
  ended?: true
}

type Stored = LiveGeneration | UnfinishedGeneration

/** The part of it the services need. */
export interface LiveGenerations {
  /** Before it resolves nothing is known; afterwards the table stays current. May be called again. */
  load(): Promise<void>
  /** 1 by default. */
  liveOf(chain: string): number
  /** Aborts once this generation is not the chain's live one. */
  whileLive(chain: string, generation: number): AbortSignal
}

export interface Generations extends LiveGenerations {
  unfinishedOf(chain: string): UnfinishedGeneration | undefined
  /** The highest number ever used, abandoned ones included: remains of those must not come back. */
  highestOf(chain: string): number
  begin(chain: string, unfinished: UnfinishedGeneration): Promise<void>
  abandon(chain: string): Promise<void>
  /** From here on every process reads and writes this one. */
  makeLive(chain: string, live: LiveGeneration): Promise<void>
  close(): Promise<void>
}

const BUILDING = 'building/'

export function createGenerations(
  log: EventLog,
  { logger = silentLogger }: { logger?: Logger | undefined } = {},
): Generations {
  const table = createKeyedTable<Stored>(log, GENERATIONS_TOPIC, { logger })
  const watches = new Map<string, { chain: string; generation: number; over: AbortController }>()
  const ending = new AbortController()
  let following: Promise<void> | undefined

  const liveOf = (chain: string): number => table.get(chain)?.generation ?? 1

  table.onChange(() => {
    for (const [key, { chain, generation, over }] of watches) {
      if (liveOf(chain) === generation) continue
      watches.delete(key)
      over.abort()
    }
  })

  async function follow(): Promise<void> {
    try {
      await table.follow(ending.signal)
    } catch (error) {
      if (!ending.signal.aborted)
        logger.error('following the table of generations failed', { topic: GENERATIONS_TOPIC, error })
    }
  }

  function unfinishedOf(chain: string): UnfinishedGeneration | undefined {
    const stored = table.get(`${BUILDING}${chain}`) as UnfinishedGeneration | undefined
    return stored?.ended === true ? undefined : stored
  }

  /** Both records in one append: a generation is never live and unfinished at once. */
  async function put(
    chain: string,
    unfinished: UnfinishedGeneration | undefined,
    live?: LiveGeneration,
  ): Promise<void> {
    const values = new Map<string, Stored>()
    if (unfinished !== undefined) values.set(`${BUILDING}${chain}`, unfinished)
    if (live !== undefined) values.set(chain, live)
    if (values.size > 0) await table.putAll(values)
  }

  const endedOf = (chain: string): UnfinishedGeneration | undefined => {
    const unfinished = unfinishedOf(chain)
    return unfinished === undefined ? undefined : { ...unfinished, ended: true }
  }

  return {
    async load() {
      await table.refresh()
      following ??= follow()
    },
    liveOf,
    whileLive(chain, generation) {
      const key = `${chain}/${generation}`
      const watch = watches.get(key) ?? { chain, generation, over: new AbortController() }
      if (liveOf(chain) === generation) watches.set(key, watch)
      else watch.over.abort()
      return watch.over.signal
    },
    unfinishedOf,
    highestOf: (chain) => Math.max(liveOf(chain), table.get(`${BUILDING}${chain}`)?.generation ?? 1),
    begin: (chain, unfinished) => put(chain, unfinished),
    abandon: (chain) => put(chain, endedOf(chain)),
    makeLive: (chain, live) => put(chain, endedOf(chain), live),
    async close() {
      ending.abort()
      await following
    },
  }
}
