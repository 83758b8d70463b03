/**
 * Which scope a chain's history was read with, kept beside its book. What was added to a scope later has no history before that
 * moment, and a start moved back changes nothing: neither shows in the numbers, so it is told at every start until a backfill.
 */
import { join } from 'node:path'
import type { BalancesMode, ChainSourceConfig } from '../../core/config/index.js'
import { type ChainStart, describeStart } from '../../core/config/node-source.js'
import { readJsonFile, writeJsonFile } from '../../core/runtime/json-file.js'
import type { Logger } from '../../core/runtime/logger.js'

export type KeptScope = {
  pools: readonly string[]
  tokens: readonly string[]
  amms: readonly string[]
  balances: BalancesMode
  /** By address: the exchange whose pools it makes known. */
  contracts: Readonly<Record<string, string>>
}

/** The oldest block on the log; undefined: there is none yet. */
export type FirstBlock = { number: number; timeS: number } | undefined

const FILE = 'scope.json'
/** A chain's first block may come a little after what was asked for: slots are skipped, minutes are without a block. */
const LATE = { blocks: 64, seconds: 600 }
const BALANCES: readonly BalancesMode[] = ['off', 'scoped', 'all']

export function tellWhatHistoryLacks(
  config: ChainSourceConfig,
  first: FirstBlock,
  folder: string,
  logger: Logger,
): void {
  const { chain, start } = config
  const now = scopeOf(config)
  const path = join(folder, FILE)
  const kept = first === undefined ? undefined : (readJsonFile(path) as KeptScope | undefined)
  if (kept === undefined) writeJsonFile(path, now)
  const added = kept === undefined ? [] : addedTo(kept, now)
  if (added.length > 0)
    logger.warn('what was added to the scope has no history from before; a backfill reads it', {
      ...{ chain, added, indexed_from: first?.number, command: `dextape backfill --chain ${chain}` },
    })
  if (isLater(first, start))
    logger.warn(
      'the history begins later than "start", which counts at a first start alone; a backfill makes it longer',
      {
        ...{ chain, start: describeStart(start), indexed_from: first?.number },
        command: `dextape backfill --chain ${chain} --from ${describeStart(start)}`,
      },
    )
}

function scopeOf(config: ChainSourceConfig): KeptScope {
  const contracts = config.family === 'evm' ? config.contracts : []
  return { ...config.scope, contracts: Object.fromEntries(contracts.map(({ address, amm }) => [address, amm])) }
}

/** For people; empty where all that is read now was read from the first block on. */
export function addedTo(kept: KeptScope, now: KeptScope): string[] {
  const balances = BALANCES.indexOf(now.balances) > BALANCES.indexOf(kept.balances) ? [`balances ${now.balances}`] : []
  const factories = Object.entries(now.contracts)
    .filter(([address, amm]) => !(address in kept.contracts) && (now.amms.length === 0 || now.amms.includes(amm)))
    .map(([address, amm]) => `contract ${address} (${amm})`)
  return [
    ...(isAll(kept) ? [] : widened('pool', kept.pools, now.pools)),
    ...(isPoolsAlone(now) ? [] : [...beyondPools(kept, now), ...factories]),
    ...balances,
  ]
}

const isAll = ({ pools, tokens, amms }: KeptScope): boolean => pools.length + tokens.length + amms.length === 0
const isPoolsAlone = ({ pools, tokens }: KeptScope): boolean => pools.length > 0 && tokens.length === 0

/** Tokens and exchanges narrow each other; a list that is empty does not. */
function beyondPools(kept: KeptScope, now: KeptScope): string[] {
  if (isPoolsAlone(kept)) {
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
  // Below the first there is none.
  if (first === undefined || first.number <= 1 || start.kind === 'latest') return false
  if (start.kind === 'block') return first.number > start.number + LATE.blocks
  return first.timeS > start.timeS + LATE.seconds
}
