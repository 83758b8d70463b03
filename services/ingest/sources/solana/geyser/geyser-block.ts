/** A block of the stream → a slot's block, or why it is none. */
import type { RawInBlock } from '../../../decode/solana/block/decode-block.js'
import { BadTransaction, countAt, fieldsAt, keyAt, listAt } from '../../../decode/solana/wire/shape.js'
import type { SlotBlock } from '../slot-block.js'
import { WireTransaction } from './wire-transaction.js'

/** Throws `BadTransaction`. `isWhole`: every transaction was asked for, so as many must be there as were executed. */
export function readBlock(value: unknown, isWhole: boolean): SlotBlock {
  const fields = fieldsAt(value, 'block')
  const number = countAt(fields.slot, 'slot')
  const parentNumber = countAt(fields.parentSlot, 'parent_slot')
  if (parentNumber >= number)
    throw new BadTransaction('parent_slot', `must be below the slot ${number}: ${parentNumber}`)
  const list = listAt(fields.transactions, 'transactions')
  const executed = countAt(fields.executedTransactionCount, 'executed_transaction_count')
  if (isWhole && executed !== list.length)
    throw new BadTransaction('transactions', `must be all ${executed} that were executed, got ${list.length}`)
  return {
    number,
    hash: keyAt(fields.blockhash, 'blockhash'),
    parentNumber,
    parentHash: keyAt(fields.parentBlockhash, 'parent_blockhash'),
    timeS: countAt(fieldsAt(fields.blockTime, 'block_time').timestamp, 'block_time'),
    transactions: inOrder(list),
  }
}

/** They come in the order in which the node heard of them. Votes, most of a block, are let go of at once. */
function inOrder(list: readonly unknown[]): RawInBlock[] {
  const transactions: RawInBlock[] = []
  for (const value of list) {
    const { index: indexText, isVote, transaction, meta } = fieldsAt(value, 'transactions')
    if (isVote === true) continue
    if (!Buffer.isBuffer(transaction) || !Buffer.isBuffer(meta))
      throw new BadTransaction('transactions', 'must be bytes')
    const index = countAt(indexText, 'transactions.index')
    transactions.push({ index, value: new WireTransaction(index, transaction, meta) })
  }
  transactions.sort((a, b) => a.index - b.index)
  for (let at = 1; at < transactions.length; at += 1)
    if (transactions[at]?.index === transactions[at - 1]?.index)
      throw new BadTransaction('transactions', `has two of index ${transactions[at]?.index}`)
  return transactions
}
