import { Type } from '@sinclair/typebox'
import {
  type ChainDirectory,
  chainUnknown,
  type Id,
  type IdProblem,
  parseAddress,
  parseId,
} from '../chain-directory.js'
import type { Market } from '../views/market-facts.js'
import { badRequest } from './problem.js'

const EXAMPLE_TOKEN_ID = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2-eth'
const EXAMPLE_PAIR_ID = '0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640-eth'

export type ResolvedId = Id & { market: Market }

export const TokenIdParams = Type.Object({
  'token-id': Type.String({ description: '<token_address>-<chain>', examples: [EXAMPLE_TOKEN_ID] }),
})
export const PairIdParams = Type.Object({
  'pair-id': Type.String({ description: '<pair_address>-<chain>', examples: [EXAMPLE_PAIR_ID] }),
})

/** No `maxItems`: duplicates count once, so only the number of distinct ids is limited. */
export const tokenIds = (max: number) =>
  Type.Array(Type.String({ description: '<token_address>-<chain>' }), {
    minItems: 1,
    description: `1 to ${max} distinct token-ids; duplicates count once`,
    examples: [[EXAMPLE_TOKEN_ID]],
    'x-max-distinct-items': max,
  })

export const ChainName = Type.String({ minLength: 1, description: 'Chain name', examples: ['eth'] })

export function resolveChain(chains: ChainDirectory, chain: string): Market {
  const market = chains.market(chain)
  if (market !== undefined) return market
  const { code, detail } = chainUnknown(chains, chain)
  throw badRequest(code, detail)
}

/** The named chain, or all chains. */
export function resolveChains(chains: ChainDirectory, chain: string | undefined): Market[] {
  return chain === undefined ? chains.markets() : [resolveChain(chains, chain)]
}

export function resolveId(chains: ChainDirectory, id: string, what: 'token-id' | 'pair-id'): ResolvedId {
  const parsed = parseId(chains, id, what)
  if ('code' in parsed) throw badRequest(parsed.code, parsed.detail)
  return parsed
}

export const WalletAddress = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'Wallet address',
  examples: ['0xd8da6bf26964af9d7eed9e03e53415d37aa96045'],
})
export const TokenAddress = Type.String({
  minLength: 1,
  maxLength: 140,
  description: 'Token address; its token-id works as well',
  examples: [EXAMPLE_TOKEN_ID.replace(/-.*/, '')],
})

/** The wallet that an operation is about. */
export const WalletQuery = { wallet_address: WalletAddress, chain: ChainName }

export const SortDirection = Type.Optional(
  Type.Union([Type.Literal('asc'), Type.Literal('desc')], { default: 'desc', description: 'Direction' }),
)

export function resolveWallet(
  chains: ChainDirectory,
  address: string,
  chain: string,
): Omit<ResolvedId, 'address'> & { wallet: string } {
  const { address: wallet, ...place } = resolveAddress(chains, address, chain, 'wallet address')
  return { wallet, ...place }
}

export function resolveAddress(
  chains: ChainDirectory,
  address: string,
  chain: string,
  what: 'wallet address' | 'token address',
): ResolvedId {
  // Programs also send the token-id.
  const bare = address.endsWith(`-${chain}`) ? address.slice(0, -chain.length - 1) : address
  const parsed = parseAddress(chains, bare, chain, what)
  if ('code' in parsed) throw badRequest(parsed.code, parsed.detail)
  return parsed
}

/** Query values of programs that send 1, true, 0 or false. */
export const Flag = (description: string) =>
  Type.Optional(
    Type.Union(
      ['0', '1', 'true', 'false'].map((value) => Type.Literal(value)),
      { default: '0', description },
    ),
  )

export const isSet = (flag: string | undefined): boolean => flag === '1' || flag === 'true'

/** Pages by number, as the wallet and signal operations have them. */
export const pageQuery = ({ max, standard }: { max: number; standard: number }) => ({
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: max, default: standard, description: 'Items per page' })),
  pageNO: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1, description: 'Page number, starting at 1' }),
  ),
})

export function pageOf<Item>(
  items: readonly Item[],
  { pageSize = 100, pageNO = 1 }: { pageSize?: number; pageNO?: number },
): Item[] {
  return items.slice((pageNO - 1) * pageSize, pageNO * pageSize)
}

/** Resolves a list of token-ids; duplicates count once. An id of an unknown chain fails only if no id has a known one. */
export function resolveTokenIds(
  chains: ChainDirectory,
  ids: readonly string[],
  max: number,
): { known: ResolvedId[]; unknownIds: string[] } {
  const byId = new Map<string, ResolvedId>()
  const unknown = new Map<string, IdProblem>()
  for (const id of ids) {
    const parsed = parseId(chains, id, 'token-id')
    if (!('code' in parsed)) byId.set(`${parsed.address}-${parsed.chain}`, parsed)
    else if (parsed.code === 'chain_unknown') unknown.set(id, parsed)
    else throw badRequest(parsed.code, parsed.detail)
  }
  const count = byId.size + unknown.size
  if (count === 0) throw badRequest('token_ids_empty', '`token_ids` must contain at least one token.')
  if (count > max) throw badRequest('token_ids_too_many', `\`token_ids\` allows at most ${max} tokens, got ${count}.`)
  const [problem] = unknown.values()
  if (byId.size === 0 && problem !== undefined) throw badRequest(problem.code, problem.detail)
  return { known: [...byId.values()], unknownIds: [...unknown.keys()] }
}

/** What every answer about a list of token-ids has beside its data. */
export function batchAnswer({ known, unknownIds }: ReturnType<typeof resolveTokenIds>, foundCount: number) {
  const partly = unknownIds.length === 0 ? {} : { reason: 'chain_unknown', unknownIds }
  const unknown = foundCount === 0 ? { reason: 'unknown_token', msg: 'token not found' } : {}
  return { chains: [...new Set(known.map(({ chain }) => chain))], ...partly, ...unknown }
}

/** The `limit` parameter of a list. */
export const limitOf = (things: string, { max, standard }: { max: number; standard: number }) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: max, default: standard, description: `Maximum number of ${things}` }),
  )

/** Parameters of every history. */
export const PagedQuery = {
  cursor: Type.Optional(
    Type.String({
      maxLength: 200,
      description: '`next_cursor` of an answer, with its other parameters: goes on after it',
    }),
  ),
  finalized: Type.Optional(
    Type.Union([Type.Literal('true'), Type.Literal('false')], {
      default: 'false',
      description: 'true: only what no reorg can change any more',
    }),
  ),
}

export const NextCursor = Type.Optional(
  Type.String({ description: 'Where the next page begins; missing on the last one' }),
)

/** End of the year 9999: rejects milliseconds passed as seconds. */
const LAST_S = 253_402_300_799

export const epochSeconds = (what: string) =>
  Type.Integer({ minimum: 0, maximum: LAST_S, description: `${what}, epoch seconds` })

export function checkRange(fromS: number | undefined, toS: number | undefined): void {
  if (fromS === undefined || toS === undefined || fromS <= toS) return
  throw badRequest('range_invalid', `\`from_time\` (${fromS}) is after \`to_time\` (${toS}).`)
}
