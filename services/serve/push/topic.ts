import type { TSchema } from '@sinclair/typebox'
import type { PairUpdate } from '../../core/domain/records.js'
import type { ChainDirectory } from '../chain-directory.js'
import type { PushLimits } from '../deps.js'
import type { Applied } from '../memory/apply.js'
import type { Market } from '../views/market.js'
import type { Cursor } from './cursor.js'

export type OnSlow = 'conflate' | 'disconnect'

/** What a subscribe asked for, understood. */
export type Asked = {
  /** Says the same for params that mean the same. */
  canonical: string
  /** Channels whose pushes it gets. */
  channels: string[]
  chains: string[]
}

export type ParseContext = { chains: ChainDirectory; limits: PushLimits }

/** A word a client can subscribe to. */
export type Topic = {
  name: string
  summary?: string
  /** The params behind the topic's name, as an array schema. */
  params?: TSchema
  /** The `result` of its pushes. */
  result?: TSchema
  onSlow: OnSlow
  /** Reads the params behind the topic's name; throws RpcError where they are wrong. */
  parse(args: readonly unknown[], context: ParseContext): Asked
}

export interface Publisher {
  /** True where somebody listens: nothing is encoded for nobody. */
  isWanted(channel: string): boolean
  /**
   * Sends a result to a channel's subscribers. Of pushes with the same `mergeKey` a slow socket that conflates gets
   * only the last.
   */
  publish(channels: readonly string[], push: Push): void
}

export type Push = {
  topic: string
  /** The `result` member, encoded. */
  result: string
  mergeKey: string
  /** The main-pair switch message is sent without it. */
  sentTime: boolean
}

/** What an encoder of pushes sees of one applied update. */
export type PushContext = { applied: Applied; market: Market; out: Publisher; cursor: Cursor }

/**
 * Makes the pushes of one pair entry of an update. `n` numbers every push the entry could make, whoever listens, so that a
 * cursor means the same on every node; the number after the last is returned.
 */
export type PairPusher = (context: PushContext, pair: PairUpdate, n: number) => number
