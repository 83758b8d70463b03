/** Transactions of unlocked accounts, and contract reads. */
import { type AbiValue, call } from './abi.js'
import type { EvmNode, RpcCall } from './node.js'

export type Transaction = { from: string; to?: string; data?: string; value?: bigint; gas?: number }

/** A fixed gas limit, so that nothing is estimated and failing transactions are mined too. */
const GAS = 3_000_000

/** Returns the hash; the transaction is pending until a block is mined. */
export function send(node: EvmNode, { from, to, data = '0x', value = 0n, gas = GAS }: Transaction): Promise<string> {
  const receiver = to === undefined ? {} : { to }
  const amounts = { value: `0x${value.toString(16)}`, gas: `0x${gas.toString(16)}`, gasPrice: '0x0' }
  return node.rpc('eth_sendTransaction', [{ from, ...receiver, data, ...amounts }])
}

export type Receipt = { status: string; contractAddress: string | null; transactionHash: string; blockNumber: string }

export async function receiptOf(node: EvmNode, hash: string): Promise<Receipt> {
  const receipt = await node.rpc<Receipt | null>('eth_getTransactionReceipt', [hash])
  if (receipt === null) throw new Error(`no receipt of ${hash}`)
  return receipt
}

export async function mustHaveWorked(node: EvmNode, hashes: readonly string[]): Promise<void> {
  const receipts = await node.batch<Receipt>(hashes.map((hash): RpcCall => ['eth_getTransactionReceipt', [hash]]))
  const failed = receipts.findIndex(({ status }) => status !== '0x1')
  if (failed >= 0) throw new Error(`transaction ${failed} of ${hashes.length} failed: ${hashes[failed]}`)
}

export type View = { to: string; data: string }

export const view = (to: string, signature: string, ...values: readonly AbiValue[]): View => ({
  to,
  data: call(signature, ...values),
})

/** The answers' bytes at the head; fails if a call reverts. */
export function look(node: EvmNode, views: readonly View[]): Promise<string[]> {
  return node.batch<string>(views.map((asked): RpcCall => ['eth_call', [asked, 'latest']]))
}

export async function lookAt(
  node: EvmNode,
  to: string,
  signature: string,
  ...values: readonly AbiValue[]
): Promise<string> {
  return node.rpc('eth_call', [view(to, signature, ...values), 'latest'])
}
