/**
 * All holders of the tokens that the scope names: who they are is read from a token's transfers since its creation, in the
 * background; what they have is read at the newest block, a part of them with each.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ZERO_ADDRESS } from '../../../../core/domain/chains.js'
import type { DextapeError } from '../../../../core/domain/errors.js'
import { createBackoff, withRetry } from '../../../../core/runtime/backoff.js'
import type { Logger } from '../../../../core/runtime/logger.js'
import type { Book } from '../../../decode/evm/block/book.js'
import type { DecodeRules } from '../../../decode/evm/block/decode-rules.js'
import type { HolderPart, LeftToken } from '../../../decode/evm/block/read-holders.js'
import { readBalance, readToken } from '../../../decode/evm/erc20.js'
import { isPruned } from '../../nodes/node-fault.js'
import type { ChainReader, Header } from '../chain-reader.js'
import { readAll } from '../read-all.js'
import { readHistory, readTransfers, type TransferReading } from './read-transfers.js'
import { addTransfers, type KeptSums, openKeptSums, type Sums } from './transfer-sums.js'

export type HolderListParts = {
  chain: string
  reader: ChainReader
  rules: DecodeRules
  book: Book
  /** Where lists are kept between runs. */
  folder: string
  finalOf: (number: number) => number
  logger: Logger
  progressMs: number
  /** Balances read with one block. */
  holdersPerBlock?: number
  nowMs: () => number
}

export interface HolderLists {
  /** The next part, read as of the end of this block; undefined: none is ready, or all are done. A token that left comes first. */
  partAt(
    block: Header,
    onPruned: (error: DextapeError) => void,
    signal: AbortSignal,
  ): Promise<HolderPart | LeftToken | undefined>
  close(): void
}

const HOLDERS_PER_BLOCK = 400
const MAX_RETRY_DELAY_MS = 30_000

/** The list as of a block: kept sums, and those of the blocks after them. */
type Listed = { throughBlock: number; sums: Sums; holders: readonly string[] }

type List = { kept: KeptSums; state: 'reading' | 'ready' | 'failed'; listed?: Listed }

export function openHolderLists(parts: HolderListParts): HolderLists {
  const { chain, reader, rules, book, folder, finalOf, logger, holdersPerBlock = HOLDERS_PER_BLOCK } = parts
  const tokens = [...(rules.scope.holders ?? [])]
  const closing = new AbortController()
  const lists = new Map<string, List>()
  const left = listedTokens(folder).filter((token) => !tokens.includes(token))

  const readingOf = (token: string): TransferReading => ({ ...parts, token, nodes: reader })

  function isDone(token: string): boolean {
    return book.holders(token)?.isDone === true
  }

  function open(token: string): List {
    const list: List = { kept: openKeptSums(join(folder, PREFIX + token)), state: 'reading' }
    lists.set(token, list)
    if (book.holders(token)?.list === nameOf(list.kept)) list.state = 'ready'
    else void readAllOf(token, list)
    return list
  }

  async function readAllOf(token: string, list: List): Promise<void> {
    const { signal } = closing
    const backoff = createBackoff({ maxMs: MAX_RETRY_DELAY_MS })
    const onRetry = (error: unknown) =>
      logger.warn('reading the transfers of a token failed; retrying', { chain, token, error })
    logger.info('reading the transfers of a token', { chain, token, block: list.kept.throughBlock ?? null })
    try {
      await withRetry(() => readHistory(readingOf(token), list.kept, finalOf, signal), backoff, signal, onRetry)
      list.state = 'ready'
    } catch (error) {
      list.state = 'failed'
      if (signal.aborted) return
      logger.error('the transfers of a token cannot be read: not all its holders are known', { chain, token, error })
    }
  }

  async function listedAt(token: string, list: List, throughBlock: number, signal: AbortSignal): Promise<Listed> {
    if (list.listed?.throughBlock === throughBlock) return list.listed
    const sums: Sums = new Map(list.kept.sums)
    addTransfers(sums, await readTransfers(readingOf(token), (list.kept.throughBlock ?? -1) + 1, throughBlock, signal))
    list.listed = { throughBlock, sums, holders: [...sums.keys()] }
    return list.listed
  }

  async function partOf(token: string, list: List, block: Header, signal: AbortSignal): Promise<HolderPart> {
    const name = nameOf(list.kept)
    const before = book.holders(token)
    const isStarted = before?.list === name
    if (!isStarted) delete list.listed
    const known = isStarted ? before : { list: name, throughBlock: block.number, read: 0, faults: 0, isDone: false }
    const { sums, holders } = await listedAt(token, list, known.throughBlock, signal)
    const chosen = holders.slice(known.read, known.read + holdersPerBlock)
    const balanceOf = (holder: string) => ({ at: block, reading: readBalance(token, holder) })
    const [[facts], [atZero = null, ...balances]] = await Promise.all([
      readAll([{ at: block, reading: readToken(token) }], reader, signal),
      readAll([ZERO_ADDRESS, ...chosen].map(balanceOf), reader, signal),
    ])
    if (facts === undefined) throw new Error('a reading is missing')
    const read = chosen.map((holder, at) => ({ holder, balance: balances[at] ?? null, sum: sums.get(holder) ?? 0n }))
    const isWhole = isStarted || isSupply(sums, facts.totalSupply, atZero)
    return {
      ...{ token, blockHash: block.hash, facts, atZero, holders: read },
      known: isWhole ? known : { ...known, faults: 1 },
      isLast: known.read + chosen.length >= holders.length,
    }
  }

  return {
    async partAt(block, onPruned, signal) {
      const gone = left.find((one) => (book.holders(one)?.list ?? '') !== '')
      if (gone !== undefined) return { token: gone, blockHash: block.hash, isLeft: true }
      const token = tokens.find((one) => !isDone(one) && lists.get(one)?.state !== 'failed')
      for (const done of lists.keys()) if (isDone(done)) lists.delete(done)
      if (token === undefined) return undefined
      const list = lists.get(token) ?? open(token)
      // The list ends at a final block, and the block that is decoded may be far behind that.
      if (list.state !== 'ready' || block.number <= (list.kept.throughBlock ?? -1)) return undefined
      try {
        return await partOf(token, list, block, signal)
      } catch (error) {
        if (!isPruned(error)) throw error
        onPruned(error)
        return undefined
      }
    },
    close: () => closing.abort(),
  }
}

const PREFIX = 'holders-'

/** Tokens whose holders were listed here. */
export const listedTokens = (folder: string): string[] =>
  readdirSync(folder).flatMap((file) => (file.startsWith(PREFIX) ? [file.slice(PREFIX.length)] : []))

const nameOf = ({ throughBlock, sums }: KeptSums): string => `${throughBlock ?? -1}:${sums.size}`

/** Burnt tokens are the zero address's, or nobody's. */
function isSupply(sums: Sums, total: bigint | null, atZero: bigint | null): boolean {
  let held = 0n
  for (const sum of sums.values()) held += sum
  return total !== null && (held === total || held + (atZero ?? 0n) === total)
}
