import { type ChainDirectory, type Id, parseId } from '../chain-directory.js'
import type { Market } from '../views/market.js'
import { badRequest } from './problem.js'

export type ResolvedId = Id & { market: Market }

export function resolveId(chains: ChainDirectory, id: string, what: 'token-id' | 'pair-id'): ResolvedId {
  const parsed = parseId(chains, id, what)
  if ('code' in parsed) throw badRequest(parsed.code, parsed.detail)
  return parsed
}

/** A list of token-ids; one given twice counts once. */
export function resolveTokenIds(chains: ChainDirectory, ids: readonly string[], max: number): ResolvedId[] {
  const byId = new Map<string, ResolvedId>()
  for (const id of ids) {
    const resolved = resolveId(chains, id, 'token-id')
    byId.set(`${resolved.address}-${resolved.chain}`, resolved)
  }
  if (byId.size === 0) throw badRequest('token_ids_empty', 'token_ids must name at least one token.')
  if (byId.size > max) {
    throw badRequest('token_ids_too_many', `token_ids takes at most ${max} tokens, got ${byId.size}.`)
  }
  return [...byId.values()]
}
