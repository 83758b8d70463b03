/** Locked and burnt positions of V3 pools on a real local chain with Uniswap's contracts, against their own view functions. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KnownLocker } from '../../../../../services/core/config/contracts/lockers.js'
import type { TokenChecks } from '../../../../../services/core/config/evm-source.js'
import type { KnownContract } from '../../../../../services/core/domain/exchanges.js'
import { inspectPositions } from '../../../../../services/ingest/decode/evm/risk/inspect-positions.js'
import { seedsOf } from '../../../../rig/counts.js'
import { type AbiValue, encode, keccak, words } from '../../../../rig/evm/abi.js'
import { creationCode } from '../../../../rig/evm/artifacts.js'
import { deploy } from '../../../../rig/evm/contracts.js'
import { openRiskChain, openRiskPlace, type RiskChain, type V3Contracts } from '../../../../rig/evm/risk/risk-chain.js'
import { lookAt, view } from '../../../../rig/evm/transactions.js'
import { NEVER, UINT256_MAX, ZERO } from '../../../../rig/evm/world.js'
import { createRandom } from '../../../../rig/market/random.js'

const DEAD = '0x000000000000000000000000000000000000dead'
const ETHER = 10n ** 18n
const DAY_S = 86_400
const MINT = 'mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))'

let chain: RiskChain
let v3: V3Contracts
let locker: KnownLocker
let anchor: string

beforeAll(async () => {
  chain = await openRiskChain()
  v3 = await chain.v3()
  locker = { address: await chain.token('UncxV3Locker'), kind: 'uncx-v3', name: 'UNCX' }
  anchor = await chain.token('Plain')
  await send(v3.positions, 'setApprovalForAll(address,bool)', locker.address, true)
}, 60_000)
afterAll(() => chain?.stop())

const send = (to: string, signature: string, ...args: AbiValue[]) =>
  chain.send({ from: chain.owner, ...view(to, signature, ...args) })
const see = async (to: string, signature: string, ...args: AbiValue[]) =>
  words(await lookAt(chain.node, to, signature, ...args))
const latest = () => chain.node.rpc<{ hash: string; timestamp: string }>('eth_getBlockByNumber', ['latest', false])
const nowS = async () => Number((await latest()).timestamp)
const passTime = async (seconds: number) => chain.node.mine((await nowS()) + seconds)
/** The manager numbers them from 1, and none was destroyed. */
const newestId = async () => (await see(v3.positions, 'totalSupply()'))[0] ?? 0n

async function followed() {
  const token = await chain.token('Plain')
  const { pool } = await chain.v3Pool(token)
  const first = await newestId()
  const exchange = { address: v3.factory, protocol: 'uniswap-v3', amm: 'uniswapv3' }
  return {
    token,
    pool,
    first,
    ...(await follow(token, { lockers: [locker], positionManagers: [v3.positions] }, exchange)),
  }
}

/** The newest risk facts of the token, from the real source. */
async function follow(
  token: string,
  held: Pick<TokenChecks, 'lockers' | 'positionManagers'>,
  exchange: KnownContract,
): Promise<{ newest: () => Promise<Record<string, unknown>>; stop: () => Promise<unknown> }> {
  const checks = { checksPerMinute: 10_000, recheckS: 1, history: true, ...held }
  const place = openRiskPlace(chain, anchor, checks, 'scoped', [exchange])
  const run = await place.start({})
  const newest = async (): Promise<Record<string, unknown>> => {
    expect(await place.reached((await latest()).hash, 30_000)).toBe(true)
    const metas = (await place.lines()).flatMap((line) =>
      line.kind === 'block' ? line.events.filter((event) => event.type === 'meta' && event.token === token) : [],
    )
    const last = metas.at(-1)
    return JSON.parse((last?.type === 'meta' ? last.risk : null) ?? '{}')
  }
  return { newest, stop: () => run.stop() }
}

test('a position that is locked, and withdrawn when the lock ended', async () => {
  const { pool, first, newest, stop } = await followed()
  expect(await newest()).toMatchObject({ is_lp_not_locked: 1, pair_lock_percent: 0 })
  const unlockAt = (await nowS()) + DAY_S
  await send(locker.address, 'lock(address,uint256,address,uint256)', v3.positions, first, pool, unlockAt)
  const locked = await newest()
  expect(locked).toMatchObject({ is_lp_not_locked: 0, pair_lock_percent: 1, lock_platform: 'UNCX' })
  expect(locked.locks).toMatchObject([{ of: 'pair', locker: locker.address, unlock_at: unlockAt }])
  await send(locker.address, 'relock(uint256,uint256)', 0, unlockAt + DAY_S)
  expect((await newest()).locks).toMatchObject([{ unlock_at: unlockAt + DAY_S }])
  await passTime(3 * DAY_S)
  await send(locker.address, 'withdraw(uint256,address)', 0, chain.owner)
  expect(await newest()).toMatchObject({ is_lp_not_locked: 1, pair_lock_percent: 0 })
  await send(v3.positions, 'transferFrom(address,address,uint256)', chain.owner, DEAD, first)
  const burnt = await newest()
  expect(burnt).toMatchObject({ is_lp_not_locked: 0, pair_lock_percent: 1 })
  expect((burnt.risk_info as { unchecked: string[] }).unchecked).not.toContain('is_lp_not_locked')
  await stop()
}, 60_000)

test.each(seedsOf('positionSeeds'))(
  'random positions, locks and burns, and a reorg: seed %i',
  async (seed) => {
    const random = createRandom(seed)
    const { token, pool, first, newest, stop } = await followed()
    await newest()
    const [token0, token1] = token < chain.weth ? [token, chain.weth] : [chain.weth, token]
    const mint = async (): Promise<void> => {
      const tick = BigInt.asIntN(24, (await see(pool, 'slot0()'))[1] ?? 0n)
      const middle = Math.round(Number(tick) / 60) * 60 + random.pick([0, 0, -6000, 6000])
      const width = 60 * random.int(5, 50)
      const amounts = [BigInt(random.int(1, 50)) * ETHER, BigInt(random.int(1, 50)) * ETHER]
      const place = [token0, token1, 3000, middle - width, middle + width, ...amounts, 0, 0, chain.owner, NEVER]
      await send(v3.positions, MINT, place)
    }
    const locks: { id: bigint; unlockAt: number }[] = []
    const step = async (): Promise<void> => {
      const kind = random.pick(['mint', 'mint', 'lock', 'burn', 'time'])
      const ids = await ownIds(first)
      if (kind === 'mint') await mint()
      else if (kind === 'time') await passTime(random.int(100, DAY_S))
      else if (ids.length > 0) {
        const id = random.pick(ids)
        if (kind === 'burn') await send(v3.positions, 'transferFrom(address,address,uint256)', chain.owner, DEAD, id)
        else {
          const unlockAt = (await nowS()) + random.int(50, 2 * DAY_S)
          await send(locker.address, 'lock(address,uint256,address,uint256)', v3.positions, id, pool, unlockAt)
          locks.push({ id, unlockAt })
        }
      }
    }
    for (let n = 0; n < 6; n += 1) await step()
    await newest()
    const [snapshot, kept] = [await chain.node.rpc<string>('evm_snapshot', []), [...locks]]
    for (let n = 0; n < 2; n += 1) await step()
    await newest()
    await chain.node.rpc('evm_revert', [snapshot])
    locks.length = 0
    locks.push(...kept)
    for (let n = 0; n < 5; n += 1) await step()
    // A deposit of anybody lets the token be checked at this block.
    await mint()
    const tick = Number(BigInt.asIntN(24, (await see(pool, 'slot0()'))[1] ?? 0n))
    const now = await nowS()
    let pinned = 0n
    for (let id = first; id <= (await newestId()); id += 1n) {
      const [, , , , , lower = 0n, upper = 0n, liquidity = 0n] = await see(v3.positions, 'positions(uint256)', id)
      const owner = `0x${((await see(v3.positions, 'ownerOf(uint256)', id))[0] ?? 0n).toString(16).padStart(40, '0')}`
      const isActive = Number(BigInt.asIntN(24, lower)) <= tick && tick < Number(BigInt.asIntN(24, upper))
      const lock = locks.find((one) => one.id === id)
      const isLocked = owner === locker.address && lock !== undefined && lock.unlockAt > now
      if (isActive && (owner === DEAD || isLocked)) pinned += liquidity
    }
    const [total = 0n] = await see(pool, 'liquidity()')
    const share = Number((pinned * 1_000_000n) / total) / 1_000_000
    expect(await newest()).toMatchObject({ pair_lock_percent: share, pair_total_raw: total.toString() })
    await stop()
  },
  120_000,
)

async function ownIds(first: bigint): Promise<bigint[]> {
  const ids: bigint[] = []
  for (let id = first; id <= (await newestId()); id += 1n) {
    const [owner = 0n] = await see(v3.positions, 'ownerOf(uint256)', id)
    if (owner === BigInt(chain.owner)) ids.push(id)
  }
  return ids
}

test('positions of a V4 pool that are locked, withdrawn and burnt', async () => {
  const token = await chain.token('Plain')
  const manager = await deploy(chain.node, creationCode.v4('PoolManager') + encode(['address'], [chain.owner]).slice(2))
  const positions = await chain.token('V4Positions', manager)
  const v4Locker: KnownLocker = { address: await chain.token('UncxV4Locker'), kind: 'uncx-v4', name: 'UNCX' }
  const key = [...(token < chain.weth ? [token, chain.weth] : [chain.weth, token]), 3000, 60, ZERO]
  const pool = keccak(encode([KEY], [key]))
  const exchange = { address: manager, protocol: 'uniswap-v4', amm: 'uniswapv4', others: { positions } }
  await send(manager, `initialize(${KEY},uint160)`, key, 2n ** 96n)
  await send(token, 'approve(address,uint256)', positions, UINT256_MAX)
  await send(chain.weth, 'approve(address,uint256)', positions, UINT256_MAX)
  const mint = (liquidity: bigint) => send(positions, `mint(${KEY},int24,int24,uint128)`, key, -6000, 6000, liquidity)
  await mint(95n * ETHER)
  const { newest, stop } = await follow(token, { lockers: [v4Locker], positionManagers: [] }, exchange)
  expect(await newest()).toMatchObject({ is_lp_not_locked: 1, pair_lock_percent: 0, is_honeypot: 0, buy_tax: 0 })
  const unlockAt = (await nowS()) + DAY_S
  await send(v4Locker.address, 'lock(address,uint256,bytes32,uint256)', positions, 1, pool, unlockAt)
  const locked = await newest()
  expect(locked).toMatchObject({ is_lp_not_locked: 0, pair_lock_percent: 1, lock_platform: 'UNCX' })
  expect(locked.locks).toMatchObject([{ of: 'pair', locker: v4Locker.address, unlock_at: unlockAt }])
  await mint(5n * ETHER)
  expect(await newest()).toMatchObject({ is_lp_not_locked: 0, pair_lock_percent: 0.95 })
  await passTime(3 * DAY_S)
  await send(v4Locker.address, 'withdraw(uint256)', 0)
  expect(await newest()).toMatchObject({ is_lp_not_locked: 1, pair_lock_percent: 0 })
  await send(positions, 'transferFrom(address,address,uint256)', chain.owner, DEAD, 2)
  expect(await newest()).toMatchObject({ is_lp_not_locked: 1, pair_lock_percent: 0.05 })
  await stop()
}, 60_000)

const KEY = '(address,address,uint24,int24,address)'

test('positions that were never seen are unknown, not free', () => {
  const inspection = inspectPositions(
    { pool: DEAD, tokens: [DEAD, anchor], positions: [], isComplete: false, price: null },
    [],
    0,
  )
  inspection.next()
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  const { value } = inspection.next([
    `0x${word(2n ** 96n)}${word(0n)}`,
    `0x${word(5n)}`,
    `0x${word(1n)}`,
    `0x${word(1n)}`,
  ])
  expect(value).toMatchObject({ total: 5n, isPartial: true, burnt: 0n, locks: [] })
})
