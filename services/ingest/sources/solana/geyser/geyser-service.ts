/** Yellowstone's Geyser service over gRPC: its one method that we call, as `schemas/geyser.proto` describes it. */
import { join } from 'node:path'
import { loadSync, type MessageTypeDefinition, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader'
import { repositoryRoot } from '../../../../../schemas/avro.js'
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
