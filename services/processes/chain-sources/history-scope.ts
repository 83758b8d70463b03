/**
 * The scope a chain's history was read with, stored beside its book. Additions to the scope have no history before they were made,
 * and an earlier `start` has no effect. Neither shows in the numbers, so every start warns about it until a backfill.
 */
import { join } from 'node:path'
import type { BalancesMode, ChainSourceConfig } from '../../core/config/index.js'
import { type ChainStart, describeStart } from '../../core/config/node-source.js'
import { readJsonFile, writeJsonFile } from '../../core/runtime/json-file.js'
import type { Logger } from '../../core/runtime/logger.js'

export type HistoryScope = {
  pools: readonly string[]
  tokens: readonly string[]
  amms: readonly string[]
  balances: BalancesMode
  /** Exchange by address of its factory. */
  contracts: Readonly<Record<string, string>>
}

/** The oldest block in the log; undefined: none yet. */
export type FirstBlock = { number: number; timeS: number } | undefined

const FILE = 'scope.json'
/** The first block may come a little after the start: slots are skipped, and some minutes have no block. */
const TOLERANCE = { blocks: 64, seconds: 600 }
const BALANCES: readonly BalancesMode[] = ['off', 'scoped', 'all']

export function warnAboutMissingHistory(
  config: ChainSourceConfig,
  first: FirstBlock,
  folder: string,
  logger: Logger,
): void {
  const { chain, start } = config
  const now = scopeOf(config)
  const path = join(folder, FILE)
  const kept = first === undefined ? undefined : (readJsonFile(path) as HistoryScope | undefined)
  if (kept === undefined) writeJsonFile(path, now)
  const added = kept === undefined ? [] : scopeAdditions(kept, now)
  if (added.length > 0)
    logger.warn('additions to the scope have no earlier history; run a backfill', {
      ...{ chain, added, indexed_from: first?.number, command: `dextape backfill --chain ${chain}` },
    })
  if (isLater(first, start))
    logger.warn('history begins after "start", which only applies to a first start; run a backfill', {
      ...{ chain, start: describeStart(start), indexed_from: first?.number },
      command: `dextape backfill --chain ${chain} --from ${describeStart(start)}`,
    })
}

function scopeOf(config: ChainSourceConfig): HistoryScope {
  const contracts = config.family === 'evm' ? config.contracts : []
  return { ...config.scope, contracts: Object.fromEntries(contracts.map(({ address, amm }) => [address, amm])) }
}

/** Readable; empty if everything in scope has been read from the first block on. */
export function scopeAdditions(kept: HistoryScope, now: HistoryScope): string[] {
  const balances = BALANCES.indexOf(now.balances) > BALANCES.indexOf(kept.balances) ? [`balances ${now.balances}`] : []
  const factories = Object.entries(now.contracts)
    .filter(([address, amm]) => !(address in kept.contracts) && (now.amms.length === 0 || now.amms.includes(amm)))
    .map(([address, amm]) => `contract ${address} (${amm})`)
  return [
    ...(isAll(kept) ? [] : widened('pool', kept.pools, now.pools)),
    ...(isPoolsOnly(now) ? [] : [...beyondPools(kept, now), ...factories]),
    ...balances,
  ]
}

const isAll = ({ pools, tokens, amms }: HistoryScope): boolean => pools.length + tokens.length + amms.length === 0
const isPoolsOnly = ({ pools, tokens }: HistoryScope): boolean => pools.length > 0 && tokens.length === 0

/** Tokens and exchanges restrict each other; an empty list does not restrict. */
function beyondPools(kept: HistoryScope, now: HistoryScope): string[] {
  if (isPoolsOnly(kept)) {
    const named = [...widened('token', [], now.tokens), ...widened('exchange', [], now.amms)]
    return named.length > 0 ? named : ['all exchanges']
  }
  return [...released('token', kept.tokens, now.tokens), ...released('exchange', kept.amms, now.amms)]
}

function released(word: string, kept: readonly string[], now: readonly string[]): string[] {
  if (kept.length === 0) return []
  return now.length === 0 ? [`all ${word}s`] : widened(word, kept, now)
}

const widened = (word: string, kept: readonly string[], now: readonly string[]): string[] =>
  now.filter((one) => !kept.includes(one)).map((one) => `${word} ${one}`)

function isLater(first: FirstBlock, start: ChainStart): boolean {
  // Nothing comes before block 1.
  if (first === undefined || first.number <= 1 || start.kind === 'latest') return false
  if (start.kind === 'block') return first.number > start.number + TOLERANCE.blocks
  return first.timeS > start.timeS + TOLERANCE.seconds
}
