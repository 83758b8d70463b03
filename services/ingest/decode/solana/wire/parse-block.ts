/** Parses node output (`getTransaction`, `getBlock`, `blockSubscribe`, Yellowstone, whole JSON-RPC responses) into transactions by slot. */
import type { RawInBlock } from '../block/decode-block.js'
import { BadTransaction } from '../decode-errors.js'
import { countAt, describeValue, type Fields, fieldsAt, isFields } from './shape.js'

export type SolanaBody = {
  slot: number
  /** `getBlock` does not include its slot: it is taken as the one after its parent, which is wrong if slots were skipped. */
  isSlotGuessed: boolean
  /** Null: a single transaction. */
  hash: string | null
  transactions: RawInBlock[]
}

/** One body or nested lists of them. Throws `BadTransaction` for anything else. */
export function readBodies(value: unknown, path = ''): SolanaBody[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => readBodies(item, `${path}[${at}]`))
  if (!isFields(value)) throw new BadTransaction(path, `must be a transaction or a block, got ${describeValue(value)}`)
  if (value.error !== undefined && value.error !== null)
    throw new BadTransaction(path, `is a node error: ${describeValue(value.error)}`)
  if (value.result === null)
    throw new BadTransaction(inside(path, 'result'), 'is null: the node has no such block or transaction')
  if (value.result !== undefined) return readBodies(value.result, inside(path, 'result'))
  if (isFields(value.params)) return readBodies(value.params.result, inside(path, 'params.result'))
  if (isFields(value.value)) return readBodies(value.value, inside(path, 'value'))
  if (isFields(value.block)) return [block(value.block, value.slot, inside(path, 'block'))]
  if (value.blockhash !== undefined || value.transactions !== undefined) return [block(value, value.slot, path)]
  return [single(value, path)]
}

function block(value: Fields, slotValue: unknown, path: string): SolanaBody {
  if (!Array.isArray(value.transactions))
    throw new BadTransaction(inside(path, 'transactions'), 'are missing: ask for transactionDetails "full"')
  const isSlotGuessed = slotValue === undefined
  const slot = isSlotGuessed
    ? countAt(value.parentSlot, inside(path, 'parentSlot')) + 1
    : countAt(slotValue, inside(path, 'slot'))
  const hash = typeof value.blockhash === 'string' ? value.blockhash : null
  // A Yellowstone block may omit some, so each carries its index.
  const transactions = value.transactions.map((each: unknown, at) => ({ index: indexOf(each) ?? at, value: each }))
  return { slot, isSlotGuessed, hash, transactions }
}

function single(value: Fields, path: string): SolanaBody {
  const slot = countAt(value.slot, inside(path, 'slot'))
  const isWrapped = value.meta === undefined && isFields(value.transaction)
  const transaction = isWrapped ? fieldsAt(value.transaction, inside(path, 'transaction')) : value
  const index = indexOf(transaction) ?? 0
  return { slot, isSlotGuessed: false, hash: null, transactions: [{ index, value: transaction }] }
}

function indexOf(value: unknown): number | null {
  if (!isFields(value)) return null
  const index = value.index ?? value.transactionIndex
  return index === undefined || index === null ? null : countAt(index, 'index')
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
