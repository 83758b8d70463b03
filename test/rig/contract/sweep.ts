/** Reads everything about the market through REST, by kind of record. */
import type { RestRecord } from '../../contract/interface/rest-records.js'
import type { ContractMarket } from './market.js'
import type { Asked, Served } from './served.js'

export type JsonObject = Record<string, unknown>

export type Sweep = Record<RestRecord, JsonObject[]>

/** The data of an answer, without the envelope; throws if the request fails. */
export async function dataOf(served: Served, asked: Asked): Promise<unknown> {
  const { status, text, body } = await served.ask({ ...asked, headers: { 'x-envelope': 'always' } })
  if (status !== 200) throw new Error(`${asked.method ?? 'GET'} ${asked.path}: ${status} ${text.slice(0, 300)}`)
  return (body as { data: unknown }).data
}

const each = (value: unknown): JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : [])

export async function sweepRest(
  served: Served,
  market: ContractMarket,
  platformTags: readonly string[],
): Promise<Sweep> {
  const tokenIds = market.chains.flatMap((chain) => market.tokens(chain).map((token) => `${token}-${chain}`))
  const pairIds = market.chains.flatMap((chain) => market.pairs(chain).map(({ pair }) => `${pair}-${chain}`))
  /** Evenly spaced sample for single requests: the list starts with money and ends with launches. */
  const some = (ids: readonly string[], count: number): string[] =>
    ids.filter((_, at) => at % Math.ceil(ids.length / count) === 0)
  const [someTokens, somePairs] = [some(tokenIds, 24), some(pairIds, 24)]
  const get = (path: string, query: Asked['query'] = {}): Promise<unknown> => dataOf(served, { path, query })
  const post = (path: string, body: unknown): Promise<unknown> => dataOf(served, { method: 'POST', path, body })
  const all = async <T>(items: readonly T[], one: (item: T) => Promise<unknown>): Promise<JsonObject[]> => {
    const records: JsonObject[] = []
    for (const item of items) records.push((await one(item)) as JsonObject)
    return records
  }
  const detail = await all(someTokens, (id) => get(`/v2/tokens/${id}`))
  const contract = await all(someTokens, (id) => get(`/v2/contracts/${id}`))
  const trending = await all(market.chains, (chain) => get('/v2/tokens/trending', { chain, page_size: 100 }))
  const klines = await all(somePairs, (id) => get(`/v2/klines/pair/${id}`, { interval: 1 }))
  const swaps = await all(somePairs, (id) => get(`/v2/txs/swap/${id}`))
  const liquidities = await all(somePairs, (id) => get(`/v2/txs/liq/${id}`))
  return {
    price: Object.values((await post('/v2/tokens/price', { token_ids: tokenIds.slice(0, 200), tvl_min: 0 })) as object),
    search: await inBatches(tokenIds, 50, (ids) => post('/v2/tokens/search', { token_ids: ids })),
    keyword: (await all(['MEME', 'PUMP', 'U', 'W'], (keyword) => get('/v2/tokens', { keyword }))).flatMap(each),
    detail,
    detailToken: detail.map(({ token }) => token as JsonObject),
    detailPair: detail.flatMap(({ pairs }) => each(pairs)),
    contract,
    contractDex: contract.flatMap(({ dex }) => each(dex)),
    contractRank: contract.flatMap((one) => [...each(one.token_holders_rank), ...each(one.pair_holders_rank)]),
    holder: (await all(someTokens, (id) => get(`/v2/tokens/top100/${id}`))).flatMap(each),
    main: (await all(market.chains, (chain) => get('/v2/tokens/main', { chain }))).flatMap(each),
    trending,
    trendingToken: trending.flatMap(({ tokens }) => each(tokens)),
    platform: (await all(platformTags, (tag) => get('/v2/tokens/platform', { tag }))).flatMap(each),
    pair: await all(somePairs, (id) => get(`/v2/pairs/${id}`)),
    klines,
    point: klines.flatMap(({ points }) => each(points)),
    tokenKlines: await all(someTokens, (id) => get(`/v2/klines/token/${id}`, { interval: 1 })),
    swaps,
    swap: swaps.flatMap(({ txs }) => each(txs)),
    liquidities,
    liquidity: liquidities.flatMap(({ txs }) => each(txs)),
  }
}

async function inBatches(
  ids: readonly string[],
  size: number,
  ask: (ids: string[]) => Promise<unknown>,
): Promise<JsonObject[]> {
  const records: JsonObject[] = []
  for (let at = 0; at < ids.length; at += size) records.push(...each(await ask(ids.slice(at, at + size))))
  return records
}
