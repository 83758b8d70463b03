/** How many other tokens somebody launched before one. */
import { creatorIn } from '../memory/created-tokens.js'
import { type ServedChain, targetToken } from '../memory/served-chain.js'
import { firstPair } from './first-pair.js'
import type { Queries } from './query-lanes.js'

/** More are not counted. */
const MOST_PAIRS = 10_000

/**
 * As the creator of their first pools on launch platforms, of their contracts or, where neither is known, as who provided the
 * first liquidity of their first pools. `money`: tokens that nobody launches by adding liquidity; null: providers do not count.
 */
export async function earlierLaunches(
  store: Queries,
  state: ServedChain,
  creator: string,
  token: string,
  money: readonly string[] | null,
): Promise<number> {
  const { chain, pairs, tokens, created } = state
  const launched = new Set(created.by(creator))
  for (const pair of await createdPairs()) {
    const info = pairs.get(pair)?.info
    const found = info?.creator === creator ? tokens.get(targetToken(info)) : undefined
    if (found !== undefined && found.info.launch_platform !== null) launched.add(found.token)
  }
  for (const pair of money === null ? [] : await fundedPairs()) {
    const info = pairs.get(pair)?.info
    const found = info === undefined ? undefined : tokens.get(targetToken(info))
    if (found === undefined || found.info.launch_platform !== null || creatorIn(found.info.risk) !== null) continue
    if (money?.includes(found.token) === false && firstPair(state, found.token) === pair) launched.add(found.token)
  }
  launched.delete(token)
  const since = tokens.get(token)?.info.created_at ?? 0
  return [...launched].filter((one) => (tokens.get(one)?.info.created_at ?? Number.POSITIVE_INFINITY) <= since).length

  /** Without FINAL, which would read every pair: what memory no longer has is gone. */
  async function createdPairs(): Promise<string[]> {
    const rows = await store.query<{ pair: string }>(
      `SELECT DISTINCT pair FROM pair_rows WHERE chain = {chain:String} AND creator = {creator:String} LIMIT ${MOST_PAIRS}`,
      { chain, creator },
    )
    return rows.map(({ pair }) => pair)
  }

  /** With FINAL for these pairs alone: a reorg may have undone the liquidity. */
  async function fundedPairs(): Promise<string[]> {
    const rows = await store.query<{ pair: string }>(
      `SELECT DISTINCT pair FROM liquidity_rows FINAL
       WHERE chain = {chain:String} AND kind = 'create' AND wallet = {creator:String} AND pair IN (
         SELECT DISTINCT pair FROM liquidity_rows
         WHERE chain = {chain:String} AND wallet = {creator:String} AND kind = 'create' LIMIT ${MOST_PAIRS})`,
      { chain, creator },
    )
    return rows.map(({ pair }) => pair)
  }
}
