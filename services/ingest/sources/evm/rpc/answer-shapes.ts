/** Which parts of a node's answers are read (Ethereum's execution-apis); the rest is not even parsed. */
import { objectOf, type Wanted } from '../../nodes/pick-json.js'
import { answerOf } from '../../nodes/transport.js'

/** `data` is a `LowerHex` if it was picked. */
export type WireLog = {
  address?: unknown
  topics?: unknown
  data?: unknown
  blockNumber?: unknown
  blockHash?: unknown
  transactionHash?: unknown
  transactionIndex?: unknown
  logIndex?: unknown
  removed?: unknown
}

export type WireHeader = {
  number?: unknown
  hash?: unknown
  parentHash?: unknown
  timestamp?: unknown
  logsBloom?: unknown
  transactions?: unknown
}

/** `transactionHash`: the field's name in receipts. */
export type WireTransaction = { hash?: unknown; transactionHash?: unknown; from?: unknown; blockHash?: unknown }

const LOG = objectOf(
  {
    address: 'whole',
    topics: { items: 'whole' },
    data: 'hex',
    blockNumber: 'whole',
    blockHash: 'whole',
    transactionHash: 'whole',
    transactionIndex: 'whole',
    logIndex: 'whole',
    removed: 'whole',
  },
  ([address, topics, data, blockNumber, blockHash, transactionHash, transactionIndex, logIndex, removed]): WireLog => ({
    address,
    topics,
    data,
    blockNumber,
    blockHash,
    transactionHash,
    transactionIndex,
    logIndex,
    removed,
  }),
)

const TRANSACTION = objectOf(
  { hash: 'whole', transactionHash: 'whole', from: 'whole', blockHash: 'whole' },
  ([hash, transactionHash, from, blockHash]): WireTransaction => ({ hash, transactionHash, from, blockHash }),
)

const blockWith = (transactions: Wanted) =>
  objectOf(
    {
      number: 'whole',
      hash: 'whole',
      parentHash: 'whole',
      timestamp: 'whole',
      logsBloom: 'whole',
      transactions: { items: transactions },
    },
    ([number, hash, parentHash, timestamp, logsBloom, listed]): WireHeader => ({
      number,
      hash,
      parentHash,
      timestamp,
      logsBloom,
      transactions: listed,
    }),
  )

export const LOGS = answerOf({ items: LOG })
export const COUNTED_LOGS = answerOf({ items: 'nothing' })
export const SIGNED = answerOf(TRANSACTION)
/** Its transactions are counted. */
export const HEADER = answerOf(blockWith('nothing'))
export const WHOLE_BLOCK = answerOf(blockWith(TRANSACTION))
