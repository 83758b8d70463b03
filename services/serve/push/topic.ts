import type { TSchema } from '@sinclair/typebox'
import type { ChainDirectory } from '../chain-directory.js'
import type { Access } from '../keys/key-gate.js'
import type { PushLimits } from '../serve-deps.js'
import type { Cursor } from './cursor.js'
import type { PairEntry, UpdateSnapshot } from './update-snapshot.js'

export type OnSlow = 'conflate' | 'disconnect'

/** A parsed subscribe request. */
export type SubscriptionSpec = {
  /** Equal for equivalent params. */
  canonical: string
  /** Channels to receive pushes from. */
  channels: string[]
  chains: string[]
  /** Ids of a list that are left out because their chain is not indexed. */
  leftOut?: string[]
  /** REST paths for missed data of a chain; null if no single operation has it. */
  refills(chain: string): (Refill | null)[]
  /** The current state as push results; empty for event topics. */
  snapshot(cursorAt: (chain: string) => string): string[]
}

/** A REST path; `isRanged`: it accepts from_time and to_time. */
export type Refill = { path: string; query: Record<string, string>; isRanged: boolean }

export type ParseContext = { chains: ChainDirectory; limits: PushLimits; access: Access }

/** A topic clients can subscribe to. */
export type Topic = {
  name: string
  summary: string
  /** Schema of the params after the topic's name. */
  params: TSchema
  /** Schema of the `result` of its pushes. */
  result: TSchema
  onSlow: OnSlow
  /** Parses the params after the topic's name; throws RpcError if they are invalid. */
  parse(args: readonly unknown[], context: ParseContext): SubscriptionSpec
}

export interface Publisher {
  /** True if the channel has subscribers: nothing is encoded without one. */
  isWanted(channel: string): boolean
  /** False if no subscription concerns these addresses (a pair and its tokens). */
  concerns(...addresses: string[]): boolean
  /**
   * Sends a result once to each subscriber of the channels. A slow socket that conflates gets only the last push per
   * `mergeKey`.
   */
  publish(channels: readonly string[], push: Push): void
}

export type Push = {
  topic: string
  /** Number of the push within its update. */
  n: number
  /** The encoded `result` member. */
  result: string
  mergeKey: string
  /** False for the main-pair switch message. */
  sentTime: boolean
}

/** Input of a push encoder. */
export type PushContext = { update: UpdateSnapshot; out: Publisher; cursor: Cursor }

/** Encodes the pushes of one pair's entry, numbered from `n`. */
export type EntryPusher = (context: PushContext, entry: PairEntry, n: number) => void
