/** How a gRPC stream ended → the kind of fault. */
import { status } from '@grpc/grpc-js'
import type { FaultKind } from '../../nodes/node-fault.js'

export type StreamEnd = { code: number; details: string }

/** The request, and whether a block came: an error before the first block may be a refusal of the request. */
export type Asked = { fromSlot: number | undefined; accounts: readonly string[]; hasCome: boolean }

/** `unknown_block`: the endpoint cannot replay from that slot; `too_many_addresses`: it does not accept that many accounts. */
export function faultKind(end: StreamEnd, asked: Asked): FaultKind {
  if (!asked.hasCome && asked.accounts.length > 0 && isFilterRefused(end)) return 'too_many_addresses'
  if (!asked.hasCome && asked.fromSlot !== undefined && isSlotRefused(end)) return 'unknown_block'
  switch (end.code) {
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return 'denied'
    case status.RESOURCE_EXHAUSTED:
      return /larger than max/i.test(end.details) ? 'too_wide' : 'rate_limited'
    case status.OK:
    case status.UNAVAILABLE:
    case status.CANCELLED:
    case status.ABORTED:
      return 'unavailable'
    case status.DEADLINE_EXCEEDED:
      return 'timeout'
    case status.UNIMPLEMENTED:
      return 'unsupported'
    case status.INVALID_ARGUMENT:
      return 'invalid'
    case status.INTERNAL:
      return isUnreadable(end) ? 'lies' : /RST_STREAM/.test(end.details) ? 'unavailable' : 'node_error'
    default:
      return 'node_error'
  }
}

/** Yellowstone's messages (`filter/limits.rs`), which others copied: "Max amount of Pubkeys reached", "Pubkey … in filters is not allowed". */
function isFilterRefused({ code, details }: StreamEnd): boolean {
  return code === status.INVALID_ARGUMENT && /pubkey/i.test(details)
}

/**
 * Yellowstone: INTERNAL, since 2026 OUT_OF_RANGE, "broadcast from … is not available", "from_slot is not supported"; richat: INVALID_ARGUMENT; LaserStream:
 * DATA_LOSS (richat's `is_grpc_replay_rejected` lists them). Some just end the stream.
 */
function isSlotRefused(end: StreamEnd): boolean {
  switch (end.code) {
    case status.OK:
    case status.INVALID_ARGUMENT:
    case status.OUT_OF_RANGE:
    case status.DATA_LOSS:
    case status.NOT_FOUND:
    case status.FAILED_PRECONDITION:
    case status.UNIMPLEMENTED:
      return true
    case status.INTERNAL:
    case status.UNKNOWN:
      return !isUnreadable(end) && /slot|replay|broadcast from/i.test(end.details)
    default:
      return false
  }
}

/** grpc-js's message for bytes that cannot be parsed. */
function isUnreadable({ details }: StreamEnd): boolean {
  return details.startsWith('Response message parsing error')
}
