/** Whether what a node calls a header is one, the one that was asked for, and linked to the one before. */

import type { Blame } from '../../nodes/blame.js'
import type { Header } from '../chain-reader.js'
import type { WireHeader } from './answer-shapes.js'
import { isBloom } from './bloom.js'
import { isHash, quantity } from './hex.js'

export type FullHeader = Header & {
  /** Null: the node tells none. */
  bloom: string | null
  /** Null: not told. */
  txCount: number | null
}

export function readHeader(result: unknown, asked: { number?: number; hash?: string }, blame: Blame): FullHeader {
  if (result === null) throw blame('unknown_block', `no block ${asked.hash ?? asked.number ?? ''}`.trim(), asked.number)
  const wire: WireHeader = typeof result === 'object' ? (result as WireHeader) : {}
  const number = quantity(wire.number)
  const timeS = quantity(wire.timestamp)
  const { hash, parentHash, logsBloom, transactions } = wire
  if (number === null || timeS === null || !isHash(hash) || !isHash(parentHash))
    throw blame('lies', 'a header without number, hash, parent hash or time', asked.number)
  if (asked.number !== undefined && number !== asked.number)
    throw blame('lies', `block ${number} where ${asked.number} was asked for`, asked.number)
  if (asked.hash !== undefined && hash.toLowerCase() !== asked.hash)
    throw blame('lies', `block ${hash} where ${asked.hash} was asked for`, number)
  return {
    number,
    hash: hash.toLowerCase(),
    parentHash: parentHash.toLowerCase(),
    timeS,
    bloom: isBloom(logsBloom) ? logsBloom : null,
    txCount: Array.isArray(transactions) ? transactions.length : null,
  }
}

/** The place of the first header whose parent is not the one before it; -1: all are linked. */
export function brokenLink(headers: readonly Header[]): number {
  for (let place = 1; place < headers.length; place++)
    if (headers[place]?.parentHash !== headers[place - 1]?.hash) return place
  return -1
}
