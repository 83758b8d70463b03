/** Who signed transactions: each by its hash, or the whole block where many of it are wanted. */
import type { Header } from '../chain-reader.js'
import { blameOn } from './blame.js'
import type { Blame } from './check-headers.js'
import type { Asking, EndpointPool } from './endpoint-pool.js'
import { isAddress } from './hex.js'
import type { RpcRequest } from './transport.js'

export type WantedSenders = { block: Header; txHashes: readonly string[] }

export interface SenderFetcher {
  senders(wanted: readonly WantedSenders[], asking: Asking): Promise<ReadonlyMap<string, string>>
}

type WireTransaction = { hash?: unknown; from?: unknown; blockHash?: unknown }
type Signed = readonly [txHash: string, from: string]

/**
 * A transaction is about as large as its share of the block, and a node reads the whole block to find one. So the block is asked
 * for where a quarter of it is wanted, or four of it where requests are rationed or its size is unknown.
 */
const SHARE_OF_BLOCK = 4
const WHOLE_FROM = 4

const VANISHED_PATIENCE = { attempts: 6, ms: 5_000 }

export function createSenderFetcher(
  pool: EndpointPool,
  chain: string,
  options: { isRationed: () => boolean; txCountOf: (blockHash: string) => number | null },
): SenderFetcher {
  function wantsWhole({ block, txHashes }: WantedSenders): boolean {
    const txCount = options.txCountOf(block.hash)
    if (txHashes.length >= WHOLE_FROM && (txCount === null || options.isRationed())) return true
    return txCount !== null && txHashes.length > 1 && txHashes.length * SHARE_OF_BLOCK >= txCount
  }

  return {
    async senders(wanted, asking) {
      const requests: RpcRequest[] = []
      const reads: ((result: unknown, blame: Blame) => Signed[])[] = []
      for (const { block, txHashes } of wanted) {
        if (txHashes.length === 0) continue
        if (wantsWhole({ block, txHashes })) {
          requests.push({ method: 'eth_getBlockByHash', params: [block.hash, true] })
          reads.push((result, blame) => signedInBlock(result, block, txHashes, blame))
          continue
        }
        for (const txHash of txHashes) {
          requests.push({ method: 'eth_getTransactionByHash', params: [txHash] })
          reads.push((result, blame) => [signedIn(result, block, txHash, blame)])
        }
      }
      const found = await pool.ask(
        requests,
        (result, place, endpoint) => reads[place]?.(result, blameOn(endpoint, chain)) ?? [],
        { ...asking, patience: VANISHED_PATIENCE },
      )
      return new Map(found.flat())
    },
  }
}

function signedIn(result: unknown, block: Header, txHash: string, blame: Blame): Signed {
  if (result === null) throw blame('unknown_block', `no transaction ${txHash}`, block.number)
  const { hash, from, blockHash } = result as WireTransaction
  if (hash !== txHash || !isAddress(from)) throw blame('lies', `transaction ${txHash} without a sender`, block.number)
  if (blockHash !== block.hash)
    throw blame('unknown_block', `transaction ${txHash} is not in block ${block.hash}`, block.number)
  return [txHash, from.toLowerCase()]
}

function signedInBlock(result: unknown, block: Header, txHashes: readonly string[], blame: Blame): Signed[] {
  if (result === null) throw blame('unknown_block', `no block ${block.hash}`, block.number)
  const { hash, transactions } = result as { hash?: unknown; transactions?: unknown }
  if (hash !== block.hash || !Array.isArray(transactions))
    throw blame('lies', `another block where ${block.hash} was asked for`, block.number)
  const wanted = new Set(txHashes)
  const signed: Signed[] = []
  for (const transaction of transactions as (WireTransaction | null)[])
    if (typeof transaction?.hash === 'string' && wanted.has(transaction.hash))
      signed.push(signedIn(transaction, block, transaction.hash, blame))
  if (signed.length !== wanted.size)
    throw blame('lies', `${wanted.size - signed.length} transactions of block ${block.hash} missing`, block.number)
  return signed
}
