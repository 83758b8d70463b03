/** Signers of transactions: by transaction, by receipt or by whole block, whichever the nodes answer fastest. */

import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { type Blame, blameOn, NodeFault } from '../../nodes/node-fault.js'
import type { RpcRequest } from '../../nodes/transport.js'
import type { Header } from '../chain-reader.js'
import { SIGNED, WHOLE_BLOCK, type WireTransaction } from './answer-shapes.js'
import { isAddress } from './hex.js'
import { createSenderWays, type ListedSenders, MIN_SAMPLE, type SenderWay } from './sender-ways.js'

export type WantedSenders = { block: Header; txHashes: readonly string[] }

export interface SenderFetcher {
  senders(wanted: readonly WantedSenders[], asking: Asking): Promise<ReadonlyMap<string, string>>
  /** Whether whole blocks are the fastest way. */
  readonly prefersBlocks: boolean
}

type Signed = readonly [txHash: string, from: string]
type Question = { request: RpcRequest; read: (result: unknown, blame: Blame) => Signed[] }

/**
 * A transaction is about as large as its share of the block, and many nodes read the whole block to find one. So the
 * block is requested where a quarter of it is needed, or four transactions of it where requests are limited.
 */
const SHARE_OF_BLOCK = 4
const WHOLE_FROM = 4

/** Whole blocks of a busy chain are a megabyte each. */
const MAX_BATCH: Record<SenderWay, number> = { transaction: 100, receipt: 50, block: 10 }

const VANISHED_PATIENCE = { attempts: 6, ms: 5_000 }

export type SenderFetcherOptions = {
  isRationed: () => boolean
  txCountOf: (blockHash: string) => number | null
  listed: ListedSenders
  nowMs: () => number
}

export function createSenderFetcher(pool: EndpointPool, chain: string, options: SenderFetcherOptions): SenderFetcher {
  const ways = createSenderWays()

  function mayBeWhole({ block, txHashes }: WantedSenders): boolean {
    if (options.isRationed()) return txHashes.length >= WHOLE_FROM
    const txCount = options.txCountOf(block.hash)
    return txCount !== null && txHashes.length > 1 && txHashes.length * SHARE_OF_BLOCK >= txCount
  }

  function questions({ block, txHashes }: WantedSenders, way: SenderWay): Question[] {
    if (txHashes.length === 0) return []
    if (way === 'block' && mayBeWhole({ block, txHashes })) {
      const request = { method: 'eth_getBlockByHash', params: [block.hash, true], wanted: WHOLE_BLOCK }
      return [{ request, read: (result, blame) => signedInBlock(result, block, txHashes, blame) }]
    }
    const byReceipt = way === 'receipt' || ways.isRefused('transaction')
    const method = byReceipt ? 'eth_getTransactionReceipt' : 'eth_getTransactionByHash'
    return txHashes.map((txHash) => ({
      request: { method, params: [txHash], wanted: SIGNED },
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

  /** A chain may have transactions that its blocks do not list (Polygon's state syncs): those are requested by hash. */
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

  /** By one way; by another if the nodes do not support it. */
  async function by(way: SenderWay, wanted: readonly WantedSenders[], asking: Asking): Promise<Map<string, string>> {
    const startedMs = options.nowMs()
    try {
      const found = await withUnlisted(wanted, await ask(wanted, way, asking), asking)
      ways.measured(way, countOf(wanted), options.nowMs() - startedMs)
      return found
    } catch (error) {
      const isRefused = error instanceof NodeFault && (error.kind === 'unsupported' || error.kind === 'invalid')
      if (!isRefused || !ways.refused(way)) throw error
      return by(ways.best(wanted.some(mayBeWhole)), wanted, asking)
    }
  }

  /** Splits into senders that came with their blocks and those still to request. */
  function known(wanted: readonly WantedSenders[]): { found: Map<string, string>; rest: WantedSenders[] } {
    const found = new Map<string, string>()
    const rest: WantedSenders[] = []
    for (const { block, txHashes } of wanted) {
      const listed = options.listed.take(block.hash)
      const unknown: string[] = []
      for (const txHash of txHashes) {
        const from = listed?.get(txHash)
        if (from === undefined) unknown.push(txHash)
        else found.set(txHash, from)
      }
      if (unknown.length > 0) rest.push({ block, txHashes: unknown })
    }
    return { found, rest }
  }

  async function senders(wanted: readonly WantedSenders[], asking: Asking): Promise<ReadonlyMap<string, string>> {
    const { found, rest } = known(wanted)
    if (rest.length === 0) return found
    const asked = await askedFor(rest, asking)
    return found.size === 0 ? asked : new Map([...found, ...asked])
  }

  async function askedFor(wanted: readonly WantedSenders[], asking: Asking): Promise<Map<string, string>> {
    if (options.isRationed() && !ways.isRefused('block')) return by('block', wanted, asking)
    const parts: Map<string, string>[] = []
    let rest = wanted
    for (;;) {
      const hasWhole = rest.some(mayBeWhole)
      const untried = ways.untried(hasWhole)
      if (untried === undefined || countOf(rest) < 2 * MIN_SAMPLE) {
        parts.push(await by(ways.best(hasWhole), rest, asking))
        return new Map(parts.flatMap((part) => [...part]))
      }
      const few = firstFew(rest)
      parts.push(await by(untried, rest.slice(0, few), asking))
      rest = rest.slice(few)
    }
  }

  return {
    senders,
    get prefersBlocks() {
      return ways.best(true) === 'block'
    },
  }
}

const countOf = (wanted: readonly WantedSenders[]): number =>
  wanted.reduce((sum, { txHashes }) => sum + txHashes.length, 0)

/** How many of the first blocks hold enough transactions for a measurement. */
function firstFew(wanted: readonly WantedSenders[]): number {
  let count = 0
  const last = wanted.findIndex(({ txHashes }) => {
    count += txHashes.length
    return count >= MIN_SAMPLE
  })
  return last < 0 ? wanted.length : last + 1
}

/** A transaction and its receipt both state its signer and its block. */
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
    throw blame('lies', `a different block returned for ${block.hash}`, block.number)
  const wanted = new Set(txHashes)
  const signed: Signed[] = []
  for (const transaction of transactions as (WireTransaction | null)[]) {
    const txHash = typeof transaction?.hash === 'string' ? transaction.hash.toLowerCase() : ''
    if (wanted.has(txHash)) signed.push(signedIn(transaction, block, txHash, blame))
  }
  return signed
}

const isSame = (value: unknown, hash: string): boolean => typeof value === 'string' && value.toLowerCase() === hash
