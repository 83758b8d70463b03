/**
 * A transaction of the stream, read when it is looked at and not kept so. As objects a block takes four times its bytes, blocks wait by the dozen, and of
 * those that several streams send only one is ever read.
 */
import { BadTransaction } from '../../../decode/solana/wire/shape.js'
import { geyserService } from './geyser-service.js'

type Read = { of: WireTransaction; transaction: object; meta: object }

/** Decoding looks at one several times, and then at the next. */
let last: Read | undefined

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

  /** For a dead letter: the shape that decoding takes, or the bytes where they are no message. */
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
  // An empty message is a message, too; but none of these ever is.
  if (bytes.length === 0) throw new BadTransaction(path, 'is missing')
  try {
    return deserialize(bytes)
  } catch (error) {
    throw new BadTransaction(path, `is no message: ${error instanceof Error ? error.message : String(error)}`)
  }
}
