/** JSON-RPC requests to a node (https://solana.com/docs/rpc). */
import type { RpcRequest } from '../../nodes/transport.js'
import type { Commitment } from '../slot-block.js'

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
export const accountsRequest = (addresses: readonly string[], minContextSlot: number): RpcRequest => ({
  method: 'getMultipleAccounts',
  params: [addresses, { commitment: 'confirmed', encoding: 'base64', minContextSlot }],
})

/** For every slot, as soon as it is processed. */
export const SLOT_NOTICES: RpcRequest = { method: 'slotSubscribe', params: [] }

/** Requires a node started with `--rpc-pubsub-enable-block-subscription`. */
export const blockNotices = (commitment: Commitment): RpcRequest => ({
  method: 'blockSubscribe',
  params: ['all', { commitment, ...FULL, showRewards: false }],
})
