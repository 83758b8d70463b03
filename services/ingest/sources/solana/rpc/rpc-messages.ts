/** JSON-RPC requests to a node (https://solana.com/docs/rpc), and checks of the blocks it returns. */
import type { RawInBlock } from '../../../decode/solana/block/decode-block.js'
import { isBase58 } from '../../../decode/solana/keys/base58.js'
import type { AccountList } from '../../../decode/solana/locks/state-rounds.js'
import { TOKEN_ACCOUNT_BYTES } from '../../../decode/solana/locks/token-account.js'
import { TOKEN } from '../../../decode/solana/native-programs.js'
import { type Fields, isFields } from '../../../decode/solana/wire/shape.js'
import type { Blame } from '../../nodes/node-fault.js'
import type { RpcRequest } from '../../nodes/transport.js'
import type { Commitment, SlotBlock, SlotHeader } from '../slot-block.js'

/** The most compact encoding that is cheap to read: base64 must be decoded, jsonParsed is larger. */
const ENCODING = 'json'
/** Legacy and version 0 (lookup tables); nodes return an error for newer ones. */
const MAX_VERSION = 0

const FULL = { encoding: ENCODING, transactionDetails: 'full', maxSupportedTransactionVersion: MAX_VERSION }

export const slotRequest = (commitment: Commitment): RpcRequest => ({ method: 'getSlot', params: [{ commitment }] })

export const genesisRequest: RpcRequest = { method: 'getGenesisHash', params: [] }

export const blockRequest = (slot: number, commitment: Commitment): RpcRequest => ({
  method: 'getBlock',
  params: [slot, { commitment, ...FULL, rewards: false }],
})

/** Without transactions a block takes a few hundred bytes. */
export const headerRequest = (slot: number, commitment: Commitment): RpcRequest => ({
  method: 'getBlock',
  params: [
    slot,
    { commitment, transactionDetails: 'none', rewards: false, maxSupportedTransactionVersion: MAX_VERSION },
  ],
})

/** Inclusive. */
export const listRequest = (from: number, to: number, commitment: Commitment): RpcRequest => ({
  method: 'getBlocks',
  params: [from, to, { commitment }],
})

export const firstFromRequest = (slot: number, commitment: Commitment): RpcRequest => ({
  method: 'getBlocksWithLimit',
  params: [slot, 1, { commitment }],
})

/** As of a slot or later: a lagging node does not have an account that was just created. */
export const accountsRequest = (
  addresses: readonly string[],
  minContextSlot: number,
  commitment: Commitment = 'confirmed',
): RpcRequest => ({
  method: 'getMultipleAccounts',
  params: [addresses, { commitment, encoding: 'base64', minContextSlot }],
})

/** As of a slot or later. */
export const programAccountsRequest = (list: AccountList, minContextSlot: number): RpcRequest =>
  listedRequest(list, { commitment: 'confirmed', minContextSlot })

function listedRequest({ programId, dataBytes, matches }: AccountList, how: Record<string, unknown>): RpcRequest {
  const sized = dataBytes === undefined ? [] : [{ dataSize: dataBytes }]
  const filters = [...sized, ...matches.map(({ offset, bytes }) => ({ memcmp: { offset, bytes } }))]
  return { method: 'getProgramAccounts', params: [programId, { ...how, encoding: 'base64', filters }] }
}

/** All accounts of a mint. */
export type TokenAccountList = {
  programId: string
  mint: string
  /** How much of each is read; undefined: all. */
  firstBytes?: number
}

/**
 * As of one final slot, which the answer names. With the size of plain token accounts, nodes that index accounts by mint need not
 * search all (agave, `get_spl_token_mint_filter`). Accounts of Token-2022 have many sizes.
 */
export const tokenAccountsRequest = (
  { programId, mint, firstBytes }: TokenAccountList,
  minContextSlot: number,
): RpcRequest => {
  const sized = programId === TOKEN ? { dataBytes: TOKEN_ACCOUNT_BYTES } : {}
  const sliced = firstBytes === undefined ? {} : { dataSlice: { offset: 0, length: firstBytes } }
  return listedRequest(
    { programId, ...sized, matches: [{ offset: 0, bytes: mint }] },
    { commitment: 'finalized', withContext: true, minContextSlot, ...sliced },
  )
}

/** For every slot, as soon as it is processed. */
export const SLOT_NOTICES: RpcRequest = { method: 'slotSubscribe', params: [] }

/** Requires a node started with `--rpc-pubsub-enable-block-subscription`. */
export const blockNotices = (commitment: Commitment): RpcRequest => ({
  method: 'blockSubscribe',
  params: ['all', { commitment, ...FULL, showRewards: false }],
})

/** The parent slot of the genesis block. */
const NO_PARENT = -1

/** Checks that its slot is above its parent's and that it has a time. */
export function readHeader(result: unknown, slot: number, blame: Blame): SlotHeader {
  if (result === null) throw blame('unknown_block', `no block at slot ${slot}`, slot)
  const { blockhash, previousBlockhash, parentSlot, blockTime } = isFields(result) ? result : {}
  if (!isHash(blockhash) || !isHash(previousBlockhash) || !isCount(parentSlot))
    throw blame('lies', 'returned a block without its hash, its parent’s hash or its parent’s slot', slot)
  if (parentSlot >= slot && slot !== 0)
    throw blame('lies', `returned block ${slot} with its parent at slot ${parentSlot}`, slot)
  if (!isCount(blockTime)) throw blame('lies', `returned block ${slot} without a time`, slot)
  const parentNumber = slot === 0 ? NO_PARENT : parentSlot
  return { number: slot, hash: blockhash, parentNumber, parentHash: previousBlockhash, timeS: blockTime }
}

/** Also checks that every transaction has a status. */
export function readBlock(result: unknown, slot: number, blame: Blame): SlotBlock {
  const header = readHeader(result, slot, blame)
  const { transactions } = result as Fields
  if (!Array.isArray(transactions)) throw blame('lies', `returned block ${slot} without transactions`, slot)
  return { ...header, transactions: transactions.map((value, index) => checked(value, index, slot, blame)) }
}

function checked(value: unknown, index: number, slot: number, blame: Blame): RawInBlock {
  const { transaction, meta } = isFields(value) ? value : {}
  if (transaction === undefined || transaction === null || !isFields(meta))
    throw blame('lies', `returned transaction ${index} of block ${slot} without its content or status`, slot)
  return { index, value }
}

/** 32 bytes in base58. */
function isHash(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 32 && value.length <= 44 && isBase58(value)
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
