/**
 * A chain's history has generations: each is a topic of its own, one of them is live. A longer or newly decoded history is
 * written beside the live one, and one record in this table makes it the live one for every process.
 */
import type { ChainStart } from '../config/chain-start.js'
import { createKeyedTable } from '../log/keyed-table.js'
import type { EventLog } from '../log/port.js'
import { type Logger, silentLogger } from '../runtime/logger.js'
import { GENERATIONS_TOPIC } from './internal-topics.js'

/** Under the chain's name: which generation is live. */
export type LiveGeneration = {
  generation: number
  /** The first block wanted of it. */
  from: ChainStart
  /** Wall clock, epoch milliseconds. */
  made: number
}

/** Under `building/<chain>`: one that is being written; `ended` once it is live or given up. */
export type UnfinishedGeneration = {
  generation: number
  from: ChainStart
  began: number
  /** Dead letters below this offset are decided anew by it. */
  lettersEnd?: number
  ended?: true
}

type Stored = LiveGeneration | UnfinishedGeneration

/** What the services need to know of it. */
export interface LiveGenerations {
  /** Until it resolves nothing is known; afterwards it stays current. May be called again. */
  load(): Promise<void>
  /** 1 where no other was ever made. */
  liveOf(chain: string): number
  /** Aborts once this generation is not the chain's live one. */
  whileLive(chain: string, generation: number): AbortSignal
}

export interface Generations extends LiveGenerations {
  unfinishedOf(chain: string): UnfinishedGeneration | undefined
  /** The highest number ever given, also to one that was given up: what is left of that one must not come back. */
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
        logger.error('generations are no longer followed', { topic: GENERATIONS_TOPIC, error })
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
