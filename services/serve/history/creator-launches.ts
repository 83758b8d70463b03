import { type ServedChain, targetToken } from '../memory/served-chain.js'
import type { Queries } from './query-lanes.js'

/** More are not counted. */
const MOST_PAIRS = 10_000

/** How many other tokens somebody launched before this one: as the creator of their first pools on launch platforms. */
export async function earlierLaunches(
  store: Queries,
  { chain, pairs, tokens }: ServedChain,
  creator: string,
  token: string,
): Promise<number> {
  // Without FINAL, which would read every pair: what memory no longer has is gone.
  const rows = await store.query<{ pair: string }>(
    `SELECT DISTINCT pair FROM pair_rows WHERE chain = {chain:String} AND creator = {creator:String} LIMIT ${MOST_PAIRS}`,
    { chain, creator },
  )
  const since = tokens.get(token)?.info.created_at ?? 0
  const earlier = new Set<string>()
  for (const { pair } of rows) {
    const info = pairs.get(pair)?.info
    const launched = info?.creator === creator ? tokens.get(targetToken(info)) : undefined
    if (launched === undefined || launched.token === token || launched.info.launch_platform === null) continue
    if (launched.info.created_at <= since) earlier.add(launched.token)
  }
  return earlier.size
}
