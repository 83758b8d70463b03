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
    LAUNCHES.map(({ token, creator }) => earlierLaunches(store(), state, creator, token, null)),
  )
  expect(counts).toEqual([0, 0, 1, 1, 2])
  expect(await earlierLaunches(store(), state, 'nobody', 'A', null)).toBe(0)
})

it('counts tokens of the same contract creator, and of who provided their first liquidity', async () => {
  const chain = 'base'
  const state = createServedChain(chain)
  const created = (creator: string | null) => (creator === null ? null : JSON.stringify({ creator_address: creator }))
  /** By order of launch: whose contract it is, and who funded its pools, in their order. */
  const made = [
    { token: 'A', creator: 'dev', funded: ['other'] },
    { token: 'B', creator: null, funded: ['dev'] },
    { token: 'C', creator: null, funded: ['other', 'dev'] },
    { token: 'D', creator: 'other', funded: ['dev'] },
    { token: WETH, creator: null, funded: ['dev'] },
    { token: 'E', creator: 'dev', funded: ['dev'] },
  ]
  const pools = made.flatMap(({ token, funded }, n) =>
    funded.map((wallet, place) => ({ token, wallet, pair: `${token}-${place}`, at: T0 + n * 10 + place })),
  )
  const pairs = pools.map(({ token, pair, at }) =>
    pairUpdate({ pair, info: pairInfo({ token0: token, token1: 'USD', target: 0, created_at: at }) }),
  )
  const tokens = made.map(({ token, creator }, n) =>
    tokenUpdate({ token, info: tokenInfo({ created_at: T0 + n * 10, risk: created(creator) }), main_pair: null }),
  )
  applyUpdate(state, update({ chain, pairs, tokens }), 1)
  const rows = pools.map(({ pair, wallet, at }) => liquidityRow(chain, pair, wallet, at, 0))
  // Undone by a reorg: it was never funded by this one.
  const undone = [liquidityRow(chain, 'A-0', 'gone', T0 + 1, 0), liquidityRow(chain, 'A-0', '', T0 + 1, 1)]
  await store().insert('liquidity_rows', [...rows, ...undone].join(''))
  const count = (creator: string, token: string) => earlierLaunches(store(), state, creator, token, [WETH])
  expect(await Promise.all([count('dev', 'A'), count('dev', 'B'), count('dev', 'E')])).toEqual([0, 1, 2])
  expect(await count('other', 'D')).toBe(1)
  expect(await count('gone', 'E')).toBe(0)
  // Found later to be another's.
  const risk = JSON.stringify({ creator_address: 'other' })
  const corrected = tokenUpdate({ token: 'A', info: tokenInfo({ created_at: T0, risk }), main_pair: null })
  applyUpdate(state, update({ chain, seq: 2, tokens: [corrected] }), 2)
  expect(await count('dev', 'E')).toBe(1)
})

const liquidityRow = (chain: string, pair: string, wallet: string, time: number, deleted: 0 | 1) =>
  row('liquidity_rows', {
    ...{ chain, pair, time, block_number: time, tx_index: 0, log_index: 0, sub: 0, kind: 'create', wallet },
    ...{ version: 1 + deleted, is_deleted: deleted },
  })
