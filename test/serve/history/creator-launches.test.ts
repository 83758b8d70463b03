import { expect, it } from 'vitest'
import { earlierLaunches } from '../../../services/serve/history/creator-launches.js'
import { applyUpdate } from '../../../services/serve/memory/apply-update.js'
import { createServedChain } from '../../../services/serve/memory/served-chain.js'
import { row, storeOfFile } from '../rig.js'
import { pairInfo, pairUpdate, T0, tokenInfo, tokenUpdate, update, WETH } from '../updates.js'

const store = storeOfFile('creators')

const CHAIN = 'solana'
/** By order of launch. */
const LAUNCHES = [
  { token: 'A', creator: 'dev', platform: 'pump' },
  { token: 'B', creator: 'other', platform: 'pump' },
  { token: 'C', creator: 'dev', platform: null },
  { token: 'D', creator: 'dev', platform: 'pump' },
  { token: 'E', creator: 'dev', platform: 'pump' },
]

it('counts the tokens that the same creator launched before, without those of a reorg', async () => {
  const state = createServedChain(CHAIN)
  const pairs = LAUNCHES.map(({ token, creator }) =>
    pairUpdate({ pair: `${token}_fo`, info: pairInfo({ token0: token, token1: WETH, target: 0, creator }) }),
  )
  const tokens = LAUNCHES.map(({ token, platform }, n) =>
    tokenUpdate({ token, info: tokenInfo({ launch_platform: platform, created_at: T0 + n }), main_pair: null }),
  )
  applyUpdate(state, update({ chain: CHAIN, pairs, tokens }), 1)
  const rows = [...LAUNCHES, { token: 'gone', creator: 'dev' }].map(({ token, creator }) =>
    row('pair_rows', {
      chain: CHAIN,
      pair: `${token}_fo`,
      creator,
      token0: token,
      target: 0,
      version: 1,
      is_deleted: 0,
    }),
  )
  // A row is written again with every change of its pair.
  await store().insert('pair_rows', rows.join(''))
  await store().insert('pair_rows', rows.join(''))
  const counts = await Promise.all(
    LAUNCHES.map(({ token, creator }) => earlierLaunches(store(), state, creator, token)),
  )
  expect(counts).toEqual([0, 0, 1, 1, 2])
  expect(await earlierLaunches(store(), state, 'nobody', 'A')).toBe(0)
})
