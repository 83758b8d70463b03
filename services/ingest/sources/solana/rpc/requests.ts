/** What is asked of a node, in its words (https://solana.com/docs/rpc). */
import type { RpcRequest } from '../../nodes/transport.js'
import type { Commitment } from '../slot-block.js'

/** The most compact of what decoders read without work: base64 must be unpacked, jsonParsed is what a node makes of it. */
const ENCODING = 'json'
/** Legacy and with lookup tables; of newer ones a node says that they are not supported. */
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

/** Both included. */
export const listRequest = (from: number, to: number, commitment: Commitment): RpcRequest => ({
  method: 'getBlocks',
  params: [from, to, { commitment }],
})

export const firstFromRequest = (slot: number, commitment: Commitment): RpcRequest => ({
  method: 'getBlocksWithLimit',
  params: [slot, 1, { commitment }],
})

/** As of a slot or later: one that a block just made is not there yet for a node that is behind. */
export const accountsRequest = (addresses: readonly string[], minContextSlot: number): RpcRequest => ({
  method: 'getMultipleAccounts',
  params: [addresses, { commitment: 'confirmed', encoding: 'base64', minContextSlot }],
})

/** Of every slot, as soon as it is processed. */
export const SLOT_NOTICES: RpcRequest = { method: 'slotSubscribe', params: [] }

/** Only where the node was started with `--rpc-pubsub-enable-block-subscription`. */
export const blockNotices = (commitment: Commitment): RpcRequest => ({
  method: 'blockSubscribe',
  params: ['all', { commitment, ...FULL, showRewards: false }],
})
