/** The decoders against the contracts: after a random market, every pool matches its contract. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seedsOf } from '../rig/counts.js'
import { decodeChain, type Followed } from '../rig/evm/decoded.js'
import { placeOf, playMarket } from '../rig/evm/market.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { type OpenMarket, openMarket } from '../rig/evm/opening.js'
import { type Truth, truth } from '../rig/evm/truth.js'

let node: EvmNode
let market: OpenMarket
beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  market = await openMarket(node)
})
afterAll(() => node?.stop())

test.each(seedsOf('evmDecodeSeeds'))('seed %i: reserves, prices and trades match the contracts', async (seed) => {
  const opened = await node.snapshot()
  try {
    const { pools } = await playMarket(market, { seed, blocks: 80, reorgChance: 0.02 })
    const followed = await decodeChain(market)
    const onChain = await truth(market, pools)
    expect([...followed.keys()].sort()).toEqual(pools.map(placeOf).sort())
    expect(differences(followed, onChain)).toEqual([])
  } finally {
    await node.revert(opened)
  }
})

function differences(followed: ReadonlyMap<string, Followed>, { pools, swaps, v4Holdings }: Truth): string[] {
  const found: string[] = []
  const held = new Map([...v4Holdings.keys()].map((currency) => [currency, 0n]))
  for (const { pool, kind, token0, token1, reserves, sqrtPrice } of pools) {
    const { state, events } = followed.get(pool) ?? {}
    const differ = (what: string, got: unknown, expected: unknown) =>
      found.push(`${kind} ${pool} ${what}: ${got}, expected ${expected}`)
    if (reserves !== null && String(state?.reserves) !== String(reserves)) differ('reserves', state?.reserves, reserves)
    const trades = (events ?? []).filter((event) => event.kind === 'swap')
    const last = trades.at(-1)
    // A flash loan repaid in the same token is not a trade.
    const logs = (swaps.get(pool) ?? []).length
    if (kind === 'v2' || kind === 'pancakeV2' ? trades.length > logs : trades.length !== logs)
      differ('trades', trades.length, logs)
    if (sqrtPrice !== null && last?.sqrtPrice !== undefined && last.sqrtPrice !== sqrtPrice)
      differ('sqrt price', last.sqrtPrice, sqrtPrice)
    if (kind !== 'v4') continue
    const [reserve0, reserve1] = state?.reserves ?? []
    if (reserve0 === undefined || reserve1 === undefined) differ('reserves', 'unknown', 'known')
    held.set(token0, (held.get(token0) ?? 0n) + (reserve0 ?? 0n))
    held.set(token1, (held.get(token1) ?? 0n) + (reserve1 ?? 0n))
  }
  for (const [currency, sum] of held) {
    if (sum !== v4Holdings.get(currency))
      found.push(`v4 holdings of ${currency}: ${sum}, expected ${v4Holdings.get(currency)}`)
  }
  return found
}
