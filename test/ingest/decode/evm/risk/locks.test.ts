/** Locks of tokens and liquidity shares on a real local chain, against what the lockers' own functions say. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KnownLocker, LockerKind } from '../../../../../services/core/config/contracts/lockers.js'
import type { MetaEvent } from '../../../../../services/core/domain/records.js'
import type { TrialPool } from '../../../../../services/ingest/decode/evm/risk/trade-trial.js'
import { seedsOf } from '../../../../rig/counts.js'
import { word } from '../../../../rig/evm/abi.js'
import { openRiskChain, openRiskPlace, type RiskChain } from '../../../../rig/evm/risk/risk-chain.js'
import { lookAt, view } from '../../../../rig/evm/transactions.js'
import { UINT256_MAX } from '../../../../rig/evm/world.js'
import { createRandom } from '../../../../rig/market/random.js'

const DEAD = '0x000000000000000000000000000000000000dead'
const ETHER = 10n ** 18n
const SUPPLY = 1_000_000_000n * ETHER
const DAY_S = 86_400

let chain: RiskChain
let lockers: KnownLocker[]
const lockerAt = new Map<string, string>()

beforeAll(async () => {
  chain = await openRiskChain()
  const kinds: [string, LockerKind][] = [
    ['UncxLocker', 'uncx'],
    ['PinkLocker', 'pinklock'],
    ['PinkLockerV1', 'pinklock-v1'],
    ['TeamLocker', 'team-finance'],
    ['TeamLockerListing', 'team-finance'],
  ]
  lockers = []
  for (const [name, kind] of kinds) {
    const address = await chain.token(name)
    lockerAt.set(name, address)
    lockers.push({ address, kind, name })
  }
}, 60_000)
afterAll(() => chain?.stop())

const at = (name: string): string => lockerAt.get(name) ?? ''
const nowS = async () =>
  Number((await chain.node.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])).timestamp)
const balance = async (token: string, holder: string) =>
  word(await lookAt(chain.node, token, 'balanceOf(address)', holder))

async function send(to: string, signature: string, ...args: Parameters<typeof view>[2][]): Promise<void> {
  await chain.send({ from: chain.owner, ...view(to, signature, ...args) })
}

async function approveAll(token: string): Promise<void> {
  for (const { address } of lockers) await send(token, 'approve(address,uint256)', address, UINT256_MAX)
}

async function passTime(seconds: number): Promise<void> {
  await chain.node.mine((await nowS()) + seconds)
}

async function fresh(): Promise<{ token: string; pool: TrialPool; shares: bigint }> {
  const token = await chain.token('Plain')
  const pool = await chain.pair(token)
  await approveAll(token)
  await approveAll(pool.pool)
  return { token, pool, shares: word(await lookAt(chain.node, pool.pool, 'totalSupply()')) }
}

test('liquidity that its owner holds can be withdrawn, and says so', async () => {
  const { token, pool } = await fresh()
  const risk = await chain.risk(token, pool, lockers)
  expect(risk).toMatchObject({
    is_lp_not_locked: 1,
    pair_lock_percent: 0,
    lock_raw: '0',
    burn_raw: '0',
    risk_score: 10,
  })
  expect(risk).not.toHaveProperty('locks')
  const { reasons, unchecked } = risk.risk_info as { reasons: string[]; unchecked: string[] }
  expect(reasons).toEqual(["liquidity can be withdrawn: 0 % of the pool's shares are burnt or locked"])
  expect(unchecked).not.toContain('is_lp_not_locked')
})

test('burnt and locked shares count, until the lock ends', async () => {
  const { token, pool, shares } = await fresh()
  const unlockAt = (await nowS()) + DAY_S
  await send(pool.pool, 'transfer(address,uint256)', DEAD, shares / 2n)
  await send(at('UncxLocker'), 'lockLPToken(address,uint256,uint256)', pool.pool, (shares * 45n) / 100n, unlockAt)
  const locked = await chain.risk(token, pool, lockers)
  expect(locked).toMatchObject({
    is_lp_not_locked: 0,
    pair_lock_percent: 0.95,
    risk_score: 0,
    lock_platform: 'UncxLocker',
  })
  expect(locked.locks).toEqual([
    {
      ...{ of: 'pair', platform: 'UncxLocker', locker: at('UncxLocker') },
      ...{ raw: ((shares * 45n) / 100n).toString(), unlock_at: unlockAt },
    },
  ])
  await passTime(DAY_S)
  expect(await chain.risk(token, pool, lockers)).toMatchObject({ is_lp_not_locked: 1, pair_lock_percent: 0.5 })
})

test('a vesting lock releases step by step', async () => {
  const { token, pool } = await fresh()
  const first = (await nowS()) + DAY_S
  const vest = 'vestingLock(address,uint256,uint256,uint256,uint256,uint256)'
  await send(at('PinkLocker'), vest, token, 1_000n * ETHER, first, 2_000, DAY_S, 3_000)
  const read = async () => {
    const { lock_raw, locks = [] } = (await chain.risk(token, pool, lockers)) as {
      lock_raw: string
      locks: { unlock_at: number }[]
    }
    expect(BigInt(lock_raw)).toBe(word(await lookAt(chain.node, at('PinkLocker'), 'lockedNow(address)', token)))
    return [BigInt(lock_raw) / ETHER, locks.map(({ unlock_at }) => unlock_at - first)]
  }
  expect(await read()).toEqual([1000n, [3 * DAY_S]])
  await passTime(DAY_S + 10)
  expect(await read()).toEqual([800n, [3 * DAY_S]])
  await passTime(DAY_S)
  await send(at('PinkLocker'), 'unlock(address,uint256)', token, 0)
  expect(await read()).toEqual([500n, [3 * DAY_S]])
  await passTime(2 * DAY_S)
  expect(await read()).toEqual([0n, []])
})

test('a locker that does not tell until when counts as held, and never makes liquidity safe', async () => {
  const { token, pool, shares } = await fresh()
  await send(
    at('TeamLocker'),
    'lockToken(address,uint256,uint256)',
    pool.pool,
    (shares * 99n) / 100n,
    (await nowS()) + DAY_S,
  )
  const risk = await chain.risk(token, pool, lockers)
  expect(risk).toMatchObject({ is_lp_not_locked: -1, pair_lock_percent: 0.99 })
  expect(risk.locks).toMatchObject([{ platform: 'TeamLocker', unlock_at: null }])
  expect((risk.risk_info as { unchecked: string[] }).unchecked).toContain('is_lp_not_locked')
})

test('without a pool whose shares are tokens nothing is said about liquidity', async () => {
  const token = await chain.token('Plain')
  const risk = await chain.risk(token, await chain.v3Pool(token), lockers)
  expect(risk).toMatchObject({ is_lp_not_locked: -1, lock_raw: '0' })
  expect(risk).not.toHaveProperty('pair_lock_percent')
})

test.each(seedsOf('lockSeeds'))(
  'random locks, burns and withdrawals: seed %i',
  async (seed) => {
    const random = createRandom(seed)
    const { token, pool } = await fresh()
    /** What was locked, by us. */
    const dated: { amount: bigint; unlockAt: number; isWithdrawn: boolean; withdraw?: () => Promise<void> }[] = []
    const counts = new Map<string, number>()
    const next = (name: string) => {
      const count = counts.get(name) ?? 0
      counts.set(name, count + 1)
      return count
    }
    for (let step = 0; step < 8; step += 1) {
      const amount = BigInt(random.int(1, 1_000_000)) * ETHER
      const unlockAt = (await nowS()) + random.int(100, 3000)
      const kind = random.pick(['uncx', 'pink', 'pink1', 'team', 'burn', 'withdraw', 'time'])
      if (kind === 'uncx') {
        const index = next('uncx')
        await send(at('UncxLocker'), 'lockLPToken(address,uint256,uint256)', token, amount, unlockAt)
        const withdraw = () => send(at('UncxLocker'), 'withdraw(address,uint256,uint256)', token, index, amount)
        dated.push({ amount, unlockAt, isWithdrawn: false, withdraw })
      } else if (kind === 'pink') {
        const index = next('pink')
        const vest = 'vestingLock(address,uint256,uint256,uint256,uint256,uint256)'
        await send(at('PinkLocker'), vest, token, amount, unlockAt, 0, 0, 0)
        const withdraw = () => send(at('PinkLocker'), 'unlock(address,uint256)', token, index)
        dated.push({ amount, unlockAt, isWithdrawn: false, withdraw })
      } else if (kind === 'pink1') {
        await send(at('PinkLockerV1'), 'lock(address,uint256,uint256)', token, amount, unlockAt)
        dated.push({ amount, unlockAt, isWithdrawn: false })
      } else if (kind === 'team') {
        await send(at('TeamLockerListing'), 'lockToken(address,uint256,uint256)', token, amount, unlockAt)
        dated.push({ amount, unlockAt, isWithdrawn: false })
      } else if (kind === 'burn') await send(token, 'transfer(address,uint256)', DEAD, amount)
      else if (kind === 'time') await passTime(random.int(100, 1500))
      else {
        const now = await nowS()
        const ended = dated.find((lock) => !lock.isWithdrawn && lock.unlockAt <= now && lock.withdraw !== undefined)
        await ended?.withdraw?.()
        if (ended !== undefined) ended.isWithdrawn = true
      }
    }
    const now = await nowS()
    const locked = dated.reduce((sum, lock) => (lock.unlockAt > now ? sum + lock.amount : sum), 0n)
    expect(await chain.risk(token, pool, lockers)).toMatchObject({
      lock_raw: locked.toString(),
      burn_raw: (await balance(token, DEAD)).toString(),
      token_lock_percent: Number((locked * 1_000_000n) / SUPPLY) / 1_000_000,
    })
  },
  60_000,
)

test('the source publishes a lock and its end in the block they happen in', async () => {
  const { node } = chain
  const anchor = await chain.token('Plain')
  const { token, pool, shares } = await fresh()
  const place = openRiskPlace(chain, anchor, { checksPerMinute: 1000, recheckS: 1_000_000, history: true, lockers })
  const run = await place.start({})
  const newest = async (): Promise<Record<string, unknown>> => {
    const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    expect(await place.reached(hash, 30_000)).toBe(true)
    const metas = (await place.lines()).flatMap((line) => (line.kind === 'block' ? line.events.filter(isMeta) : []))
    return JSON.parse(metas.findLast((meta) => meta.token === token)?.risk ?? '{}')
  }
  expect(await newest()).toMatchObject({ is_lp_not_locked: 1, lock_raw: '0' })
  const unlockAt = (await nowS()) + DAY_S
  await send(at('UncxLocker'), 'lockLPToken(address,uint256,uint256)', pool.pool, (shares * 95n) / 100n, unlockAt)
  expect(await newest()).toMatchObject({ is_lp_not_locked: 0, pair_lock_percent: 0.95 })
  await send(at('TeamLockerListing'), 'lockToken(address,uint256,uint256)', token, 5n * ETHER, unlockAt)
  expect(await newest()).toMatchObject({ lock_raw: (5n * ETHER).toString() })
  await passTime(2 * DAY_S)
  await send(at('UncxLocker'), 'withdraw(address,uint256,uint256)', pool.pool, 0, (shares * 95n) / 100n)
  expect(await newest()).toMatchObject({ is_lp_not_locked: 1, pair_lock_percent: 0, lock_raw: '0' })
  await run.stop()
}, 60_000)

const isMeta = (event: { type: string }): event is MetaEvent => event.type === 'meta'
