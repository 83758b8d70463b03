/** Yellowstone's Geyser service over gRPC: the one method used here (`schemas/geyser.proto`), and its requests. */

import { join } from 'node:path'
import { loadSync, type MessageTypeDefinition, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader'
import { repositoryRoot } from '../../../../../schemas/avro.js'
import type { ChainScope } from '../../../../core/config/node-source.js'
import { followsBalances } from '../../../decode/scope.js'
import type { Program } from '../../../decode/solana/program-decoder.js'
import type { Commitment } from '../slot-block.js'

export type SubscribeRequest = {
  blocks?: Record<string, BlocksFilter>
  commitment?: Uppercase<Commitment>
  fromSlot?: string
  ping?: { id: number }
}

export type BlocksFilter = {
  accountInclude: readonly string[]
  includeTransactions: boolean
  includeAccounts: boolean
  includeEntries: boolean
}

/** At most one is set; none: an update that was not requested. */
export type SubscribeUpdate = { block?: unknown; ping?: unknown; pong?: unknown }

export type GeyserService = {
  subscribe: MethodDefinition<SubscribeRequest, SubscribeUpdate>
  /** The parts `TransactionInfo` holds as bytes. */
  transaction: MessageTypeDefinition<object, object>
  meta: MessageTypeDefinition<object, object>
}

let service: GeyserService | undefined

/** Loaded from its file on first use. */
export function geyserService(): GeyserService {
  service ??= loadService()
  return service
}

/** 64-bit integers as text: lamports exceed 2^53. Omitted zeros are restored, so that a missing index is 0. */
function loadService(): GeyserService {
  const definition = loadSync(join(repositoryRoot(), 'schemas/geyser.proto'), { longs: String, defaults: true })
  const { Subscribe } = definition['geyser.Geyser'] as ServiceDefinition
  return {
    subscribe: Subscribe as GeyserService['subscribe'],
    transaction: definition['geyser.Transaction'] as GeyserService['transaction'],
    meta: definition['geyser.Meta'] as GeyserService['meta'],
  }
}

export type Wanted = {
  commitment: Commitment
  /** Only transactions with one of these accounts; empty: all. */
  accounts: readonly string[]
  fromSlot?: number | undefined
}

/** Name of the one filter; every update repeats it. */
const FILTER = 'dextape'

export function blocksRequest({ commitment, accounts, fromSlot }: Wanted): SubscribeRequest {
  return {
    blocks: {
      [FILTER]: { accountInclude: accounts, includeTransactions: true, includeAccounts: false, includeEntries: false },
    },
    commitment: commitment === 'confirmed' ? 'CONFIRMED' : 'FINALIZED',
    ...(fromSlot === undefined ? {} : { fromSlot: String(fromSlot) }),
  }
}

/** Endpoints and proxies close streams whose pings are not answered. */
export const PONG: SubscribeRequest = { ping: { id: 1 } }

/** Empty: all transactions are needed, because one that touches no program may still change a followed balance. */
export function accountsOfInterest(
  { balances, holders = [] }: Pick<ChainScope, 'balances' | 'holders'>,
  programs: readonly Program[],
  lockers: readonly string[] = [],
): string[] {
  const isFollowing = followsBalances({ balances, holders: new Set(holders) })
  return isFollowing ? [] : [...programs.flatMap(({ programIds }) => programIds), ...lockers]
}
