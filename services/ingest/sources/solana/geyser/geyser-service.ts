/** Yellowstone's Geyser service over gRPC: its one method that we call, as `schemas/geyser.proto` describes it. */

import { join } from 'node:path'
import { loadSync, type MessageTypeDefinition, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader'
import { repositoryRoot } from '../../../../../schemas/avro.js'
import type { Scope } from '../../../decode/scope.js'
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

/** At most one of them; none: something we did not ask for. */
export type SubscribeUpdate = { block?: unknown; ping?: unknown; pong?: unknown }

export type GeyserService = {
  subscribe: MethodDefinition<SubscribeRequest, SubscribeUpdate>
  /** What `TransactionInfo` holds as bytes. */
  transaction: MessageTypeDefinition<object, object>
  meta: MessageTypeDefinition<object, object>
}

let service: GeyserService | undefined

/** Read from its file when it is first needed. */
export function geyserService(): GeyserService {
  service ??= loadService()
  return service
}

/** Integers of 64 bits as text: lamports go beyond 2^53. What the other side left out as zeros is there again, so that a missing place is 0. */
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

/** Name of the one filter; the other side repeats it with every update. */
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

/** The other side closes streams, or what lies between does, where its pings stay without this. */
export const PONG: SubscribeRequest = { ping: { id: 1 } }

/** Empty: all of them are needed, since a transaction that touches no program may still move a balance that is followed. */
export function accountsOfInterest({ balances }: Pick<Scope, 'balances'>, programs: readonly Program[]): string[] {
  return balances === 'off' ? programs.flatMap(({ programIds }) => programIds) : []
}
