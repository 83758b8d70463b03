import type { RpcId } from './rpc.js'

/** Most clients number their requests from 0 or 1. */
const SMALL_IDS = 1024
const ofSmallIds: Uint8Array[] = []

/** The part of a push before its result: the request id of its subscription. */
export function beginningOf(id: RpcId): Uint8Array {
  if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= SMALL_IDS) return makeBeginning(id)
  ofSmallIds[id] ??= makeBeginning(id)
  return ofSmallIds[id]
}

function makeBeginning(id: RpcId): Uint8Array {
  return Buffer.from(`{"id":${idText(id)},"jsonrpc":"2.0","result":`)
}

/** As JSON. A finite number is written there as everywhere. */
export function idText(id: RpcId): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id)
}
