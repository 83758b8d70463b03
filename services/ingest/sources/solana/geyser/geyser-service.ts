/** Yellowstone's Geyser service over gRPC: its one method that we call, as `schemas/geyser.proto` describes it. */
import { join } from 'node:path'
import { loadSync, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader'
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

let service: ServiceDefinition | undefined

export function geyserService(): ServiceDefinition {
  service ??= loadService()
  return service
}

export function subscribeMethod(): MethodDefinition<SubscribeRequest, SubscribeUpdate> {
  return geyserService().Subscribe as MethodDefinition<SubscribeRequest, SubscribeUpdate>
}

/** Integers of 64 bits as text: lamports go beyond 2^53. What the other side left out as zeros is there again, so that a missing place is 0. */
function loadService(): ServiceDefinition {
  const definition = loadSync(join(repositoryRoot(), 'schemas/geyser.proto'), { longs: String, defaults: true })
  return definition['geyser.Geyser'] as ServiceDefinition
}
