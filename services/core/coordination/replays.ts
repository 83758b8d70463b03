/**
 * Replays: a chain's log folded again beside the live tables. The command that folds and the process that has the chain agree by
 * one record per chain, in the table of the generations.
 */
import type { ChainMoney } from '../domain/chains.js'
import { createKeyedTable } from '../log/keyed-table.js'
import { type EventLog, GENERATIONS_TOPIC } from '../log/port.js'
import { type Logger, silentLogger } from '../runtime/logger.js'

/** Which rows are written; the fold always covers the whole log. */
export type ReplayLimits = { pairs?: readonly string[]; fromS?: number; toS?: number }

export type ReplayPhase =
  /** The command folds. */
  | 'folding'
  /** It has reached the end of the log: the process that has the chain switches to it. */
  | 'ready'
  /** Rows are being moved into the live tables: this must be finished before the chain is folded. */
  | 'switching'
  /** The chain continues in the new epoch; rows of older epochs are being deleted. */
  | 'cleaning'
  | 'live'
  /** It cannot be switched to, for `reason`. */
  | 'refused'
  | 'abandoned'

export type Replay = {
  phase: ReplayPhase
  epoch: number
  generation: number
  /** Of the rules and money it is folded with. */
  fingerprint: string
  money: ChainMoney
  limits?: ReplayLimits
  /** Nothing is folded again: the live fold continues with this money. */
  fromCheckpoint?: true
  /** Offset up to which it is folded, once it is ready. */
  position?: number
  /** Wall clock, epoch milliseconds. */
  began: number
  reason?: string
}

/** What a chain is folded with since it was switched to a replay, by a process that is configured with what was replaced. */
export type ReplayedMoney = { money: ChainMoney; replaced: readonly ChainMoney[] }

export interface Replays {
  /** Before it resolves nothing is known; afterwards the table stays current. May be called again. */
  load(): Promise<void>
  of(chain: string): Replay | undefined
  put(chain: string, replay: Replay): Promise<void>
  moneyOf(chain: string): ReplayedMoney | undefined
  /** Both in one append. */
  putWithMoney(chain: string, replay: Replay, money: ReplayedMoney): Promise<void>
  /** Aborts once a replay of the chain is ready. */
  untilReady(chain: string): AbortSignal
  onChange(listener: (chain: string, replay: Replay) => void): void
  close(): Promise<void>
}

const PREFIX = 'replay/'
const MONEY_PREFIX = 'money/'

/** One that the process which has the chain must switch to before it folds on. */
export const isDue = (replay: Replay | undefined): replay is Replay =>
  replay !== undefined && (replay.phase === 'ready' || replay.phase === 'switching')

export function createReplays(log: EventLog, { logger = silentLogger }: { logger?: Logger } = {}): Replays {
  const table = createKeyedTable<Replay | ReplayedMoney>(log, GENERATIONS_TOPIC, { logger })
  const waiting = new Map<string, AbortController>()
  const ending = new AbortController()
  let following: Promise<void> | undefined

  const of = (chain: string): Replay | undefined => table.get(`${PREFIX}${chain}`) as Replay | undefined

  table.onChange(({ key }) => {
    if (!key.startsWith(PREFIX)) return
    const chain = key.slice(PREFIX.length)
    if (!isDue(of(chain))) return
    waiting.get(chain)?.abort()
    waiting.delete(chain)
  })

  async function follow(): Promise<void> {
    try {
      await table.follow(ending.signal)
    } catch (error) {
      if (!ending.signal.aborted) logger.error('following the table of replays failed', { error })
    }
  }

  return {
    async load() {
      await table.refresh()
      following ??= follow()
    },
    of,
    async put(chain, replay) {
      await table.put(`${PREFIX}${chain}`, replay)
    },
    moneyOf: (chain) => table.get(`${MONEY_PREFIX}${chain}`) as ReplayedMoney | undefined,
    async putWithMoney(chain, replay, money) {
      await table.putAll(
        new Map<string, Replay | ReplayedMoney>([
          [`${MONEY_PREFIX}${chain}`, money],
          [`${PREFIX}${chain}`, replay],
        ]),
      )
    },
    untilReady(chain) {
      const watch = waiting.get(chain) ?? new AbortController()
      if (isDue(of(chain))) watch.abort()
      else waiting.set(chain, watch)
      return watch.signal
    },
    onChange: (listener) =>
      table.onChange(({ key, value }) => {
        if (key.startsWith(PREFIX)) listener(key.slice(PREFIX.length), value as Replay)
      }),
    async close() {
      ending.abort()
      await following
    },
  }
}
