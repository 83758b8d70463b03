/** Tokens and pools described by a file instead of a node: token and pool events, or a recording that contains them. */
import { createReadStream, statSync } from 'node:fs'
import { ConfigError } from '../../core/domain/errors.js'
import type { KnownContract } from '../../core/domain/exchanges.js'
import type { PoolEvent } from '../../core/domain/records.js'
import type { TokenFacts } from '../../ingest/decode/evm/erc20.js'
import { readEvent } from '../../ingest/validate/validate-event.js'
import { badInput, jsonValues } from './input.js'

export type DescribedPool = { id: string; amm: string; tokens: string[]; fee: number | null; creator: string | null }

export type DescribedFacts = { tokens: Map<string, TokenFacts>; pools: Map<string, DescribedPool> }

/** A pair in a pool of more than two tokens: the pool and the indexes of the pair's tokens. */
const PAIR_IN_LARGER_POOL = /^(0x[0-9a-f]+)_(\d)_(\d)$/

export async function readPoolsFile(path: string | undefined): Promise<DescribedFacts> {
  const described: DescribedFacts = { tokens: new Map(), pools: new Map() }
  if (path === undefined) return described
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false) {
    throw new ConfigError({
      code: 'pools_file_missing',
      what: `File not found: ${path}`,
      fix: 'Name a file of JSON lines with token and pool events, or a recording.',
    })
  }
  for await (const { value, line } of jsonValues(createReadStream(path), path)) {
    for (const event of eventsOf(value)) {
      if (!isTokenOrPool(event)) continue
      const read = readEvent({ tx_index: 0, log_index: 0, tx_hash: '0x', ...event }, 'evm')
      if (!read.ok) throw badInput(path, line, read.problem.detail)
      if (read.event.type === 'pool') addPool(described.pools, read.event)
      if (read.event.type === 'token') {
        const { token, name, symbol, decimals, total_supply } = read.event
        const totalSupply = total_supply === null ? null : BigInt(total_supply)
        described.tokens.set(token, { name, symbol, decimals, totalSupply })
      }
    }
  }
  return described
}

/** The protocol of a pool's exchange; undefined: unknown exchange, so the log's topic decides. */
export function protocolOf({ amm }: DescribedPool, contracts: readonly KnownContract[]): string | undefined {
  return contracts.find((contract) => contract.amm === amm)?.protocol
}

function eventsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(eventsOf)
  const events = typeof value === 'object' && value !== null && 'events' in value ? value.events : undefined
  return Array.isArray(events) ? events : [value]
}

function isTokenOrPool(event: unknown): event is { type: 'token' | 'pool' } {
  return (
    typeof event === 'object' && event !== null && 'type' in event && (event.type === 'token' || event.type === 'pool')
  )
}

function addPool(pools: Map<string, DescribedPool>, { pool, amm, token0, token1, fee, creator }: PoolEvent): void {
  const several = PAIR_IN_LARGER_POOL.exec(pool)
  if (several === null) {
    pools.set(pool, { id: pool, amm, tokens: [token0, token1], fee, creator })
    return
  }
  const [, id = '', first, second] = several
  const known = pools.get(id) ?? { id, amm, tokens: [], fee, creator }
  known.tokens[Number(first)] = token0
  known.tokens[Number(second)] = token1
  pools.set(id, known)
}
