/** Whether what a node calls a block is one: of a later slot than its parent's, with its time, and with a status for every transaction. */

import type { RawInBlock } from '../../../decode/solana/block/decode-block.js'
import { isBase58 } from '../../../decode/solana/keys/base58.js'
import { type Fields, isFields } from '../../../decode/solana/wire/shape.js'
import type { Blame } from '../../nodes/node-fault.js'
import type { SlotBlock, SlotHeader } from '../slot-block.js'

/** Of the first block of all. */
const NO_PARENT = -1

export function readHeader(result: unknown, slot: number, blame: Blame): SlotHeader {
  if (result === null) throw blame('unknown_block', `no block at slot ${slot}`, slot)
  const { blockhash, previousBlockhash, parentSlot, blockTime } = isFields(result) ? result : {}
  if (!isHash(blockhash) || !isHash(previousBlockhash) || !isCount(parentSlot))
    throw blame('lies', 'a block without its hash, its parent’s hash or its parent’s slot', slot)
  if (parentSlot >= slot && slot !== 0)
    throw blame('lies', `the block of slot ${slot} with a parent at slot ${parentSlot}`, slot)
  if (!isCount(blockTime)) throw blame('lies', `the block of slot ${slot} without a time`, slot)
  const parentNumber = slot === 0 ? NO_PARENT : parentSlot
  return { number: slot, hash: blockhash, parentNumber, parentHash: previousBlockhash, timeS: blockTime }
}

export function readBlock(result: unknown, slot: number, blame: Blame): SlotBlock {
  const header = readHeader(result, slot, blame)
  const { transactions } = result as Fields
  if (!Array.isArray(transactions)) throw blame('lies', `the block of slot ${slot} without its transactions`, slot)
  return { ...header, transactions: transactions.map((value, index) => checked(value, index, slot, blame)) }
}

function checked(value: unknown, index: number, slot: number, blame: Blame): RawInBlock {
  const { transaction, meta } = isFields(value) ? value : {}
  if (transaction === undefined || transaction === null || !isFields(meta))
    throw blame('lies', `transaction ${index} of slot ${slot} without its content or its status`, slot)
  return { index, value }
}

/** 32 bytes in base58. */
function isHash(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 32 && value.length <= 44 && isBase58(value)
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
