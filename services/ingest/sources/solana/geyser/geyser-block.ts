/** A block of the stream → a slot's block. */

import type { RawInBlock } from '../../../decode/solana/block/decode-block.js'
import { BadTransaction } from '../../../decode/solana/decode-errors.js'
import { countAt, fieldsAt, keyAt, listAt } from '../../../decode/solana/wire/shape.js'
import type { SlotBlock } from '../slot-block.js'
import { geyserService } from './geyser-service.js'

/** Throws `BadTransaction`. `isWhole`: all transactions were requested, so all executed ones must be there. */
export function readBlock(value: unknown, isWhole: boolean): SlotBlock {
  const fields = fieldsAt(value, 'block')
  const number = countAt(fields.slot, 'slot')
  const parentNumber = countAt(fields.parentSlot, 'parent_slot')
  if (parentNumber >= number)
    throw new BadTransaction('parent_slot', `must be below the slot ${number}, got ${parentNumber}`)
  const list = listAt(fields.transactions, 'transactions')
  const executed = countAt(fields.executedTransactionCount, 'executed_transaction_count')
  if (isWhole && executed !== list.length)
    throw new BadTransaction('transactions', `must be all ${executed} executed transactions, got ${list.length}`)
  return {
    number,
    hash: keyAt(fields.blockhash, 'blockhash'),
    parentNumber,
    parentHash: keyAt(fields.parentBlockhash, 'parent_blockhash'),
    timeS: countAt(fieldsAt(fields.blockTime, 'block_time').timestamp, 'block_time'),
    transactions: inOrder(list),
  }
}

/** The stream sends them in the order the node received them. Votes, most of a block, are dropped at once. */
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
      throw new BadTransaction('transactions', `has index ${transactions[at]?.index} twice`)
  return transactions
}

type Read = { of: WireTransaction; transaction: object; meta: object }

/** Cache of the last one read: decoding reads one several times, then the next. */
let last: Read | undefined

/**
 * A transaction of the stream, parsed on each read and not kept parsed: as objects a block takes four times its bytes, dozens of blocks
 * are buffered, and of a block that several streams send only one copy is ever read.
 */
export class WireTransaction {
  readonly isVote = false

  constructor(
    readonly index: number,
    private readonly transactionBytes: Buffer,
    private readonly metaBytes: Buffer,
  ) {}

  /** Throws `BadTransaction`, as does `meta`. */
  get transaction(): object {
    return this.read().transaction
  }

  get meta(): object {
    return this.read().meta
  }

  /** For a dead letter: the parsed form, or the bytes if they cannot be parsed. */
  toJSON(): object {
    const { isVote, index } = this
    try {
      const { transaction, meta } = this
      return { isVote, index, transaction, meta }
    } catch (error) {
      if (!(error instanceof BadTransaction)) throw error
      return { isVote, index, transaction: this.transactionBytes, meta: this.metaBytes }
    }
  }

  private read(): Read {
    if (last?.of === this) return last
    const { transaction, meta } = geyserService()
    last = {
      of: this,
      transaction: message(transaction.deserialize, this.transactionBytes, 'transaction'),
      meta: message(meta.deserialize, this.metaBytes, 'meta'),
    }
    return last
  }
}

function message(deserialize: (bytes: Buffer) => object, bytes: Buffer, path: string): object {
  // An empty message is valid protobuf, but these are never empty.
  if (bytes.length === 0) throw new BadTransaction(path, 'is missing')
  try {
    return deserialize(bytes)
  } catch (error) {
    throw new BadTransaction(path, `is not a valid message: ${error instanceof Error ? error.message : String(error)}`)
  }
}
