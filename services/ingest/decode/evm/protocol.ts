/** What every protocol's decoder is. Pure: logs and a node's answers in, happenings out; reading is done by whoever drives it. */
import type { KnownContract } from '../../../core/domain/evm-contracts.js'
import type { LaunchStage } from '../../../core/domain/records.js'
import type { EvmLog } from './log.js'
import type { Venue, VenueState } from './venue.js'

/** A call of a contract's view: what `eth_call` takes. */
export type Call = { to: string; data: string }

/**
 * Asks for calls, gets their answers in the same order (null: reverted, or nothing is there), as often as it needs, and ends with
 * what it learned. Never throws because of an answer: answers are strangers' words.
 */
export type Reading<T> = Generator<readonly Call[], T, readonly (string | null)[]>

export type ChainContracts = {
  /** The token that stands for the native coin in events. */
  wrappedNative: string | undefined
  /** By address. */
  contracts: ReadonlyMap<string, KnownContract>
  /** Pools asked for by name: they count whatever their factory. */
  named: ReadonlySet<string>
}

/** Not a venue of this protocol, or none to be trusted. `isOurs`: it is one, but nobody can tell what it trades. */
export type Refusal = { refused: string; isOurs?: true }

/** `reserves`: the venue's, right after it. */
export type Happening = { log: EvmLog; reserves: VenueState['reserves'] } & (
  | {
      kind: 'swap'
      sender: string
      recipient: string
      /** Places in the venue's tokens. */
      tokenIn: number
      tokenOut: number
      amountIn: bigint
      amountOut: bigint
      /** Q64.96, where the protocol has one. */
      sqrtPrice?: bigint
    }
  | { kind: 'liquidity'; change: 'add' | 'remove'; sender: string; amounts: readonly bigint[] }
  /** The reserves changed without a trade and without anybody's liquidity: collected fees, a donation, a rebase. */
  | { kind: 'reserves'; sender: string }
  | {
      kind: 'launch'
      platform: string
      token: string
      stage: LaunchStage
      progress: number | null
      pool: string | null
    }
  | {
      kind: 'token'
      token: string
      name: string | null
      symbol: string | null
      decimals: number | null
      totalSupply: bigint | null
    }
)

export type Applied<State extends VenueState> = { state: State; happenings: readonly Happening[] }

export interface Protocol<State extends VenueState = VenueState> {
  readonly name: string
  /** Its venues live in a known contract, which speaks for them. */
  readonly isSingleton?: boolean
  /** Whoever vouches for its venues may come to know them long after their first trade. */
  readonly isVouchedLater?: boolean
  /** Of a singleton: how its venues are named. Only what is named so is asked of it. */
  readonly ids?: RegExp
  /** topic0 of the logs, by a known contract, that describe a new venue. */
  readonly creationTopics: readonly string[]
  /** topic0 of every log that changes a venue. One that is in both lists creates and changes. */
  readonly topics: readonly string[]
  /** The venue a log of `topics` is about; null: of no venue (a singleton's log about something else). */
  venueOf(log: EvmLog): string | null
  /** A creation log of a contract that `chain.contracts` knows as this protocol's. Null: it makes nothing that can be followed. */
  created(log: EvmLog, contract: KnownContract, chain: ChainContracts): Venue | null
  /** A venue met in mid-life, by one of its logs. Another protocol may share the topics: only its own are taken. */
  describe(id: string, log: EvmLog, chain: ChainContracts): Reading<Venue | Refusal>
  /** Of a venue whose creation is in the block at hand. */
  emptyState(venue: Venue): State
  /** Of a venue met in mid-life, read as of the block before. */
  readState(venue: Venue, chain: ChainContracts): Reading<State>
  /** Applies one log of `topics`. Throws `BadLog` where the log is not what its topic says. */
  apply(log: EvmLog, venue: Venue, state: State): Applied<State>
  /** The state after a log that `apply` refused: what the log would have closed or continued must not be told as something else. */
  refuse?(log: EvmLog, state: State): State
  /** After the last of a transaction's logs: what only the end tells. */
  settle?(venue: Venue, state: State): Applied<State>
  /** Whether its price is not the ratio of its reserves (bins, weights, curves): what each trade was made at stands for it then. */
  isPricedByTrades?(venue: Venue): boolean
  /** Where the logs do not tell the reserves to the integer: read as of the block's end, for the venues it touched. */
  readReserves?(venue: Venue, chain: ChainContracts): Reading<readonly bigint[] | null>
}

/** A log that is not what its topic says: it becomes a dead letter. */
export class BadLog extends Error {
  constructor(
    readonly log: EvmLog,
    detail: string,
  ) {
    super(detail)
    this.name = 'BadLog'
  }
}
