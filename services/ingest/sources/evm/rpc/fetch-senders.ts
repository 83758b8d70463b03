/** Who signed transactions: by transaction, by receipt or by whole block, whichever the nodes answer soonest. */
import type { Header } from '../chain-reader.js'
import { blameOn } from './blame.js'
import type { Blame } from './check-headers.js'
import type { Asking, EndpointPool } from './endpoint-pool.js'
import { isAddress } from './hex.js'
import { NodeFault } from './node-fault.js'
import { createSenderWays, type SenderWay } from './sender-ways.js'
import type { RpcRequest } from './transport.js'

export type WantedSenders = { block: Header; txHashes: readonly string[] }

export interface SenderFetcher {
  senders(wanted: readonly WantedSenders[], asking: Asking): Promise<ReadonlyMap<string, string>>
}

type WireTransaction = { hash?: unknown; transactionHash?: unknown; from?: unknown; blockHash?: unknown }
type Signed = readonly [txHash: string, from: string]
type Question = { request: RpcRequest; read: (result: unknown, blame: Blame) => Signed[] }

/**
 * A transaction is about as large as its share of the block, and many nodes read the whole block to find one. So the block is asked
 * for where a quarter of it is wanted, or four of it where requests are rationed.
 */
const SHARE_OF_BLOCK = 4
const WHOLE_FROM = 4

/** Whole blocks of a busy chain are a megabyte each. */
const MAX_BATCH: Record<SenderWay, number> = { transaction: 100, receipt: 50, block: 10 }

const VANISHED_PATIENCE = { attempts: 6, ms: 5_000 }

export function createSenderFetcher(
  pool: EndpointPool,
  chain: string,
  options: { isRationed: () => boolean; txCountOf: (blockHash: string) => number | null; nowMs: () => number },
): SenderFetcher {
  const ways = createSenderWays()

  function mayBeWhole({ block, txHashes }: WantedSenders): boolean {
    if (options.isRationed()) return txHashes.length >= WHOLE_FROM
    const txCount = options.txCountOf(block.hash)
    return txCount !== null && txHashes.length > 1 && txHashes.length * SHARE_OF_BLOCK >= txCount
  }

  function questions({ block, txHashes }: WantedSenders, way: SenderWay): Question[] {
    if (txHashes.length === 0) return []
    if (way === 'block' && mayBeWhole({ block, txHashes })) {
      const request = { method: 'eth_getBlockByHash', params: [block.hash, true] }
      return [{ request, read: (result, blame) => signedInBlock(result, block, txHashes, blame) }]
    }
    const byReceipt = way === 'receipt' || ways.isRefused('transaction')
    const method = byReceipt ? 'eth_getTransactionReceipt' : 'eth_getTransactionByHash'
    return txHashes.map((txHash) => ({
      request: { method, params: [txHash] },
      read: (result, blame) => [signedIn(result, block, txHash, blame)],
    }))
  }

  async function ask(wanted: readonly WantedSenders[], way: SenderWay, asking: Asking): Promise<Map<string, string>> {
    const asked = wanted.flatMap((one) => questions(one, way))
    const found = await pool.ask(
      asked.map(({ request }) => request),
      (result, place, endpoint) => asked[place]?.read(result, blameOn(endpoint, chain)) ?? [],
      { ...asking, patience: VANISHED_PATIENCE, maxBatch: MAX_BATCH[way] },
    )
    return new Map(found.flat())
  }

  /** A chain may have transactions that its blocks do not list (Polygon's state syncs): those are asked for by name. */
  async function withUnlisted(
    wanted: readonly WantedSenders[],
    found: Map<string, string>,
    asking: Asking,
  ): Promise<Map<string, string>> {
    const missing = wanted.flatMap(({ block, txHashes }) => {
      const unlisted = txHashes.filter((txHash) => !found.has(txHash))
      return unlisted.length === 0 ? [] : [{ block, txHashes: unlisted }]
    })
    if (missing.length === 0) return found
    return new Map([...found, ...(await ask(missing, 'transaction', asking))])
  }

  async function senders(wanted: readonly WantedSenders[], asking: Asking): Promise<ReadonlyMap<string, string>> {
    const count = wanted.reduce((sum, { txHashes }) => sum + txHashes.length, 0)
    const way = options.isRationed() && !ways.isRefused('block') ? 'block' : ways.choose(count, wanted.some(mayBeWhole))
    const startedMs = options.nowMs()
    try {
      const found = await withUnlisted(wanted, await ask(wanted, way, asking), asking)
      ways.took(way, count, options.nowMs() - startedMs)
      return found
    } catch (error) {
      const isRefused = error instanceof NodeFault && (error.kind === 'unsupported' || error.kind === 'invalid')
      if (!isRefused || !ways.refused(way)) throw error
      return senders(wanted, asking)
    }
  }

  return { senders }
}

/** A transaction and its receipt say the same about who signed it, and where it is. */
function signedIn(result: unknown, block: Header, txHash: string, blame: Blame): Signed {
  if (result === null) throw blame('unknown_block', `no transaction ${txHash}`, block.number)
  const { hash, transactionHash, from, blockHash } = result as WireTransaction
  if (!isSame(hash ?? transactionHash, txHash) || !isAddress(from))
    throw blame('lies', `transaction ${txHash} without a sender`, block.number)
  if (!isSame(blockHash, block.hash))
    throw blame('unknown_block', `transaction ${txHash} is not in block ${block.hash}`, block.number)
  return [txHash, from.toLowerCase()]
}

function signedInBlock(result: unknown, block: Header, txHashes: readonly string[], blame: Blame): Signed[] {
  if (result === null) throw blame('unknown_block', `no block ${block.hash}`, block.number)
  const { hash, transactions } = result as { hash?: unknown; transactions?: unknown }
  if (!isSame(hash, block.hash) || !Array.isArray(transactions))
    throw blame('lies', `another block where ${block.hash} was asked for`, block.number)
  const wanted = new Set(txHashes)
  const signed: Signed[] = []
  for (const transaction of transactions as (WireTransaction | null)[]) {
    const txHash = typeof transaction?.hash === 'string' ? transaction.hash.toLowerCase() : ''
    if (wanted.has(txHash)) signed.push(signedIn(transaction, block, txHash, blame))
  }
  return signed
}

const isSame = (told: unknown, hash: string): boolean => typeof told === 'string' && told.toLowerCase() === hash
