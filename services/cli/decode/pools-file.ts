/** Tokens and pools told by a file instead of a node: events as in a recording, or a recording's blocks with such events in them. */
import { createReadStream, statSync } from 'node:fs'
import { ConfigError } from '../../core/domain/errors.js'
import type { KnownContract } from '../../core/domain/evm-contracts.js'
import type { PoolEvent } from '../../core/domain/records.js'
import type { TokenFacts } from '../../ingest/decode/evm/erc20.js'
import { readEvent } from '../../ingest/validate/validate-event.js'
import { badInput, jsonValues } from './input.js'

export type ToldPool = { id: string; amm: string; tokens: string[]; fee: number | null; creator: string | null }

export type ToldFacts = { tokens: Map<string, TokenFacts>; pools: Map<string, ToldPool> }

/** A pair of a pool of more than two tokens: the pool and the places of the pair's tokens in it. */
const PAIR_OF_SEVERAL = /^(0x[0-9a-f]+)_(\d)_(\d)$/

export async function readPoolsFile(path: string | undefined): Promise<ToldFacts> {
  const told: ToldFacts = { tokens: new Map(), pools: new Map() }
  if (path === undefined) return told
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false) {
    throw new ConfigError({
      code: 'pools_file_missing',
      what: `There is no file ${path}`,
      fix: 'Name a file of JSON lines with token and pool events, or a recording.',
    })
  }
  for await (const { value, line } of jsonValues(createReadStream(path), path)) {
    for (const event of eventsOf(value)) {
      if (!isTokenOrPool(event)) continue
      const read = readEvent({ tx_index: 0, log_index: 0, tx_hash: '0x', ...event }, 'evm')
      if (!read.ok) throw badInput(path, line, read.problem.detail)
      if (read.event.type === 'pool') addPool(told.pools, read.event)
      if (read.event.type === 'token') {
        const { token, name, symbol, decimals, total_supply } = read.event
        const totalSupply = total_supply === null ? null : BigInt(total_supply)
        told.tokens.set(token, { name, symbol, decimals, totalSupply })
      }
    }
  }
  return told
}

/** The protocol a pool's exchange trades by; undefined: the exchange is not known, so only a log's topic can tell. */
export function protocolOf({ amm }: ToldPool, contracts: readonly KnownContract[]): string | undefined {
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

function addPool(pools: Map<string, ToldPool>, { pool, amm, token0, token1, fee, creator }: PoolEvent): void {
  const several = PAIR_OF_SEVERAL.exec(pool)
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
