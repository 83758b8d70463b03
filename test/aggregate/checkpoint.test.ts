import { describe, expect, it } from 'vitest'
import { StoredHistory } from '../../services/aggregate/checkpoint/applied-history.js'
import { CheckpointWriter } from '../../services/aggregate/checkpoint/checkpoint-writer.js'
import { loadActivePair } from '../../services/aggregate/checkpoint/restore-state.js'
import { unpack } from '../../services/aggregate/checkpoint/state-store.js'
import type { ActivePair } from '../../services/aggregate/state/pairs.js'
import { foldThroughCrashes } from '../rig/aggregate/checkpointed-fold.js'
import { exactDifferences } from '../rig/aggregate/exact.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { seedsOf } from '../rig/counts.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'

describe('a crash leaves no trace', () => {
  it.each(seedsOf('checkpointCrashSeeds'))(
    'seed %i: the same updates, bit for bit, through random crashes and retracts',
    async (seed) => {
      const chain = seed % 2 === 0 ? 'eth' : 'solana'
      const facts = marketMoney(chain)
      const options = {
        retracts: { probability: 0.1, maxDepth: 20 },
        secondsPerBlock: [1, 2].includes(seed % 4) ? 12 : 600,
      }
      const lines = generateRecording({ seed, chain, blocks: 300, options })
      const expected = foldLines(startFold(facts), lines)
      const random = createRandom(seed)
      const crashes = new Set(Array.from({ length: 25 }, () => 1 + Math.floor(random.next() * lines.length)))
      const { results, repeated } = await foldThroughCrashes(facts, lines, 7, crashes)
      expect(exactDifferences(results, expected)).toEqual([])
      expect(repeated.some((versions) => versions.length > 1)).toBe(true)
      for (const versions of repeated)
        for (const version of versions) expect(exactDifferences(version, versions[0])).toEqual([])
    },
  )
})

it('stores a rarely traded pair as one value, a busy one in chunks, and both as they were', async () => {
  const fold = startFold(marketMoney('eth'))
  foldLines(fold, generateRecording({ seed: 43, chain: 'eth', blocks: 300 }))
  const { state, store } = fold
  await new CheckpointWriter(store, 'test').capture(state, new StoredHistory(store), 5)()
  const forms = new Map<boolean, number>()
  for (const [id, active] of state.pairs.active.entries()) {
    if (active === null) continue
    const restored = loadActivePair(store, id, state.names)
    const isOneValue = active.windows.segments.length === 0
    forms.set(isOneValue, (forms.get(isOneValue) ?? 0) + 1)
    const contents = (pair: ActivePair | undefined) => {
      const wallets: [number, number, number][] = []
      pair?.windows.wallets.each((wallet, buyS, sellS) => wallets.push([wallet, buyS, sellS]))
      return {
        rings: pair?.rings.map((ring) => [ring.before, ring.rows(0, ring.count)]),
        wallets: wallets.sort(([a], [b]) => a - b),
      }
    }
    expect(contents(restored)).toEqual(contents(active))
  }
  expect(forms.get(true)).toBeGreaterThan(0)
  expect(forms.get(false)).toBeGreaterThan(0)
})

it('stores journals under the field names that older versions wrote and read', async () => {
  const { state, store, history } = startFold(marketMoney('eth'))
  foldLines({ state, store, history }, generateRecording({ seed: 41, chain: 'eth', blocks: 5 }))
  await new CheckpointWriter(store, 'test').capture(state, new StoredHistory(store), 5)()
  const fields = [...store.entries('j/')].map(({ value }) => Object.keys(unpack<object>(value).fields))
  const names = ['seq', 'head', 'nowS', 'before', 'texts', 'wallets', 'events', 'mainPairs', 'toldPairs', 'toldTokens']
  expect(fields).toEqual(state.journals.map(() => names))
  expect(fields.length).toBeGreaterThan(0)
})
