/** Decodes blocks of an EVM chain into events, after prefetching what their logs do not contain. */

import type { TokenChecks } from '../../../core/config/evm-source.js'
import type { DextapeError } from '../../../core/domain/errors.js'
import type { DeadLetter, Event } from '../../../core/domain/records.js'
import type { Logger } from '../../../core/runtime/logger.js'
import type { Book } from '../../decode/evm/block/book.js'
import { decodeBlock, type LostLog } from '../../decode/evm/block/decode-block.js'
import type { DecodeRules } from '../../decode/evm/block/decode-rules.js'
import { addReadHolders, endHolders, type HolderPart, type LeftToken } from '../../decode/evm/block/read-holders.js'
import { planChecks } from '../../decode/evm/block/risk-checks.js'
import type { EvmBlock } from '../../decode/evm/log.js'
import type { Refusal } from '../../decode/evm/protocol.js'
import type { BlockDecoder } from '../following/follow-chain.js'
import type { ChainReader } from './chain-reader.js'
import { checkTokens } from './check-tokens.js'
import { findCreator, SEARCHED_BLOCKS } from './find-creator.js'
import type { HolderLists } from './holders/holder-lists.js'
import { type BlockToPrefetch, prefetchFor } from './prefetch.js'

export type EvmDecoding = {
  chain: string
  /** The source's display name. */
  name: string
  reader: ChainReader
  rules: DecodeRules
  book: Book
  /** Addresses that are not pools, with the reason: they are not read again. */
  refusals: Map<string, Refusal>
  logger: Logger
  nowMs: () => number
  /** Undefined: tokens are not checked. */
  risk?: TokenChecks
  /** Undefined: no token's holders are all to be known. */
  holders?: HolderLists | undefined
}

const REFUSALS_HELD = 500_000
const CREATORS_HELD = 100_000
/** Older blocks are history: most nodes no longer have their state. */
const LIVE_S = 15 * 60

export function evmDecoder(parts: EvmDecoding): BlockDecoder<EvmBlock> {
  const { chain, name, reader, rules, book, refusals, logger, nowMs, risk, holders } = parts
  let hasWarnedPruned = false

  /** Of checked tokens, found once; a creation that a reorg undoes is looked for again. */
  const creators = new Map<string, string | null>()

  async function creatorOf(token: string, block: EvmBlock, signal: AbortSignal): Promise<string | null> {
    if (creators.has(token)) return creators.get(token) ?? null
    if (creators.size >= CREATORS_HELD) creators.clear()
    const searched = risk?.history === true ? SEARCHED_BLOCKS.archive : SEARCHED_BLOCKS.live
    const creator = await findCreator(token, block, reader, searched, signal)
    creators.set(token, creator)
    return creator
  }

  function onPruned(error: DextapeError): void {
    if (hasWarnedPruned) return
    hasWarnedPruned = true
    const what = 'a node has pruned the state of old blocks: what only state holds (reserves, balances) stays unknown'
    logger.warn(what, { chain, error })
  }

  function takePart(part: HolderPart | LeftToken, block: EvmBlock, events: Event[]): void {
    if ('isLeft' in part) return endHolders(part, block, events, book)
    addReadHolders(part, block, events, book)
    if (!part.isLast) return
    const { token } = part
    const { faults = 0, read = 0 } = book.holders(token) ?? {}
    const fields = { chain, token, block: block.number, addresses_done: read }
    if (faults === 0) logger.info('all holders of a token are known', fields)
    else logger.warn('balances of a token are not the sum of its transfers: not all holders may be known', fields)
  }

  return {
    async prepare(blocks, parent, signal, isPublished = true) {
      const toPrefetch = blocks.map((block, index): BlockToPrefetch => ({ block, parent: blocks[index - 1] ?? parent }))
      if (refusals.size > REFUSALS_HELD) refusals.clear()
      const newest = isPublished ? blocks.at(-1) : undefined
      const [prefetched, part] = await Promise.all([
        prefetchFor(toPrefetch, book, { reader, rules, refusals, onPruned }, signal),
        newest === undefined ? undefined : holders?.partAt(newest, onPruned, signal),
      ])
      return (block) => {
        const { events, lost } = decodeBlock(block, book, prefetched, rules)
        if (part?.blockHash === block.hash) takePart(part, block, events)
        const decoded = { events, lost: lost.map((log) => deadLetterOf(log, chain, name, block.timeS)) }
        if (risk === undefined || reader.state === undefined) return decoded
        const isLive = risk.history || nowMs() / 1000 - block.timeS <= LIVE_S
        const checks = planChecks(block, events, book, rules, risk, isLive)
        if (checks.length === 0) return decoded
        const readState = reader.state.bind(reader)
        const checkParts = { readState, creatorOf, lockers: risk.lockers, onPruned }
        return { ...decoded, later: (until) => checkTokens(checks, block, events.at(-1), checkParts, until) }
      }
    },
    forget() {
      refusals.clear()
      creators.clear()
    },
  }
}

/** Carries the log as the node returned it, so that a corrected decoder can replay it. */
export function deadLetterOf(
  { log, reason, detail }: LostLog,
  chain: string,
  source: string,
  timeS: number,
): DeadLetter {
  return {
    ...{ chain, reason, detail, source },
    block_number: log.blockNumber,
    position: `${log.txIndex}:${log.logIndex}:0`,
    raw: Buffer.from(JSON.stringify(log)),
    at: timeS,
  }
}
