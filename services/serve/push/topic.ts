import type { TSchema } from '@sinclair/typebox'
import type { ChainDirectory } from '../chain-directory.js'
import type { Access } from '../keys/key-gate.js'
import type { PushLimits } from '../serve-deps.js'
import type { Cursor } from './cursor.js'
import type { PairEntry, UpdateSnapshot } from './update-snapshot.js'

export type OnSlow = 'conflate' | 'disconnect'

/** What a subscribe spec for, understood. */
export type SubscriptionSpec = {
  /** Says the same for params that mean the same. */
  canonical: string
  /** Channels whose pushes it gets. */
  channels: string[]
  chains: string[]
  /** Where REST has what a subscriber missed of a chain; null where no one operation has it. */
  refills(chain: string): (Refill | null)[]
  /** The current state as results of pushes; nothing for topics of events. */
  snapshot(cursorAt: (chain: string) => string): string[]
}

/** A REST path; `isRanged`: it takes from_time and to_time. */
export type Refill = { path: string; query: Record<string, string>; isRanged: boolean }

export type ParseContext = { chains: ChainDirectory; limits: PushLimits; access: Access }

/** A word a client can subscribe to. */
export type Topic = {
  name: string
  summary: string
  /** The params behind the topic's name, as an array schema. */
  params: TSchema
  /** The `result` of its pushes. */
  result: TSchema
  onSlow: OnSlow
  /** Reads the params behind the topic's name; throws RpcError where they are wrong. */
  parse(args: readonly unknown[], context: ParseContext): SubscriptionSpec
}

export interface Publisher {
  /** True where somebody listens: nothing is encoded for nobody. */
  isWanted(channel: string): boolean
  /** False where nobody can want anything about these addresses (a pair and its tokens). */
  concerns(...addresses: string[]): boolean
  /**
   * Sends a result to the channels' subscribers, once to each. Of pushes with the same `mergeKey` a slow socket that conflates
   * gets only the last.
   */
  publish(channels: readonly string[], push: Push): void
}

export type Push = {
  topic: string
  /** Its number in its update. */
  n: number
  /** The `result` member, encoded. */
  result: string
  mergeKey: string
  /** The main-pair switch message is sent without it. */
  sentTime: boolean
}

/** What an encoder of pushes sees of one update. */
export type PushContext = { update: UpdateSnapshot; out: Publisher; cursor: Cursor }

/** Makes the pushes of one pair's news, numbered from `n`. */
export type EntryPusher = (context: PushContext, entry: PairEntry, n: number) => void
