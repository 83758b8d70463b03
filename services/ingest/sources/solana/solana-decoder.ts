/** Solana blocks → events. Facts of new tokens that are not in the transactions are read from the mints afterwards. */

import type { DeadLetter } from '../../../core/domain/records.js'
import type { CheckBudget } from '../../decode/due-checks.js'
import type { Book, KnownHolders, KnownHolding, KnownRisk, KnownToken } from '../../decode/solana/block/book.js'
import { decodeSolanaBlock, type LostInstruction } from '../../decode/solana/block/decode-block.js'
import type { SolanaRules } from '../../decode/solana/block/decode-rules.js'
import { planChecks } from '../../decode/solana/block/lock-checks.js'
import type { BlockDecoder } from '../following/follow-chain.js'
import { type ChainBook, chainBook, JournaledMap, type JournaledMapOptions } from '../following/journaled-map.js'
import type { TokenChecker } from './check-tokens.js'
import type { FactsFiller } from './fill-facts.js'
import type { HolderLists } from './holders/holder-lists.js'
import type { SlotBlock } from './slot-block.js'

/** Nodes have no state of older blocks. */
const LIVE_S = 15 * 60

export type SolanaDecoding = {
  chain: string
  /** The source's, for logs. */
  name: string
  rules: SolanaRules
  book: Book
  facts: FactsFiller
  /** Undefined: tokens are not checked again. */
  checker?: TokenChecker
  /** Undefined: no token's holders are all to be known. */
  holders?: HolderLists
  nowMs: () => number
}

export function solanaDecoder({
  chain,
  name,
  rules,
  book,
  facts,
  checker,
  holders,
  nowMs,
}: SolanaDecoding): BlockDecoder<SlotBlock> {
  return {
    prepare:
      async (_blocks, _parent, _signal, isPublished = true) =>
      (block) => {
        const { events, lost, moved, ...seen } = decodeSolanaBlock(block.number, block.transactions, book, rules)
        const isLive = nowMs() / 1000 - block.timeS <= LIVE_S
        if (isPublished) holders?.endBlock(block, moved, events, isLive)
        const decoded = { events, lost: lost.map((one) => deadLetterOf(one, block)) }
        if (checker === undefined) return decoded
        for (const [mint, tokens] of checker.takeShares()) book.putShares(mint, tokens)
        const checks = planChecks(block.timeS, seen, book, rules, checker.rules, isLive)
        if (checks.length === 0) return decoded
        return { ...decoded, later: (until) => checker.check(checks, block, events.at(-1), until) }
      },
    complete: (decoded, signal) => facts.fill(decoded, signal),
  }

  /** Holds the transaction as returned by the node, so that a corrected decoder can read it. */
  function deadLetterOf(
    { reason, detail, txIndex, order, value }: LostInstruction,
    { number, timeS }: SlotBlock,
  ): DeadLetter {
    return {
      ...{ chain, reason, detail, source: name },
      block_number: number,
      position: `${txIndex}:${order}:0`,
      raw: Buffer.from(JSON.stringify(value)),
      at: timeS,
    }
  }
}

export type KeptSolanaBook = Book & ChainBook

/** The book in the data directory. It can be rebuilt from the chain: it only avoids publishing facts twice. */
export function openSolanaBook(options: JournaledMapOptions): KeptSolanaBook {
  const map = new JournaledMap(options)
  return {
    hasPool: (pool) => map.get(`p/${pool}`) !== null,
    putPool: (pool, tokens) => map.set(`p/${pool}`, tokens),
    tokensOf: (pool) => tokensIn(map.get(`p/${pool}`)),
    sharesOf: (mint) => tokensIn(map.get(`s/${mint}`)),
    putShares: (mint, tokens) => map.set(`s/${mint}`, tokens),
    risk: (token) => (map.get(`r/${token}`) as KnownRisk | null) ?? undefined,
    putRisk: (token, known) => map.set(`r/${token}`, known),
    riskBudget: () => (map.get('risk') as CheckBudget | null) ?? undefined,
    putRiskBudget: (budget) => map.set('risk', budget),
    token: (mint) => (map.get(`t/${mint}`) as KnownToken | null) ?? undefined,
    putToken: (mint, known) => map.set(`t/${mint}`, known),
    holding: (mint, owner) => (map.get(holdingKey(mint, owner)) as KnownHolding | null) ?? undefined,
    putHolding: (mint, owner, known) => map.set(holdingKey(mint, owner), known),
    ownersOf: (mint) => map.keysFrom(holdingKey(mint, '')),
    holders: () => (map.get('holders') as ReadonlyMap<string, KnownHolders> | null) ?? new Map(),
    putHolders: (holders) => map.set('holders', holders),
    ...chainBook(map),
  }
}

/** Books of earlier versions have no tokens of their pools. */
const tokensIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [])

const holdingKey = (mint: string, owner: string): string => `h/${mint}/${owner}`
