/** Error answers of nodes: codes and messages from agave's `rpc-client-api/src/custom_error.rs`, and those of JSON-RPC. */

export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message)
  }
}

export const cleanedUp = (slot: number, first: number) =>
  new RpcError(-32001, `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`)
export const notAvailable = (slot: number) => new RpcError(-32004, `Block not available for slot ${slot}`)
export const nodeBehind = (slots: number) =>
  new RpcError(-32005, `Node is behind by ${slots} slots`, { numSlotsBehind: slots })
export const slotSkipped = (slot: number) =>
  new RpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`)
export const skippedInStorage = (slot: number) =>
  new RpcError(-32009, `Slot ${slot} was skipped, or missing in long-term storage`)
/** Of nodes that leave the token programs out of their index. */
export const excludedFromIndex = (programId: string) =>
  new RpcError(-32010, `${programId} excluded from account secondary indexes; this RPC method unavailable for key`)
export const statusNotYet = (slot: number) => new RpcError(-32014, `Block status not yet available for slot ${slot}`)
export const unsupportedVersion = (version: number) =>
  new RpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: ` +
      `"maxSupportedTransactionVersion": ${version}`,
  )
export const minContextSlot = (contextSlot: number) =>
  new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot })
export const storageUnreachable = () => new RpcError(-32019, 'Failed to query long-term storage; please try again')

export const methodNotFound = () => new RpcError(-32601, 'Method not found')
export const invalidParams = (message: string) => new RpcError(-32602, message)
