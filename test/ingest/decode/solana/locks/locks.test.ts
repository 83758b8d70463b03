/** Locks of tokens and of pool shares on Solana: real token programs, and lockers in the layout of their public IDLs. */
import { describe, expect, it, test } from 'vitest'
import { lockFacts } from '../../../../../services/ingest/decode/lock-facts.js'
import { CP_AUTHORITY } from '../../../../../services/ingest/decode/solana/locks/burn-and-earn.js'
import { inspectLocks } from '../../../../../services/ingest/decode/solana/locks/inspect-locks.js'
import { TOKEN, TOKEN_2022 } from '../../../../../services/ingest/decode/solana/native-programs.js'
import { readRounds } from '../../../../../services/ingest/sources/solana/check-tokens.js'
import { createTokenFacts } from '../../../../../services/ingest/sources/solana/token-facts.js'
import { seedsOf } from '../../../../rig/counts.js'
import { createRandom } from '../../../../rig/market/random.js'
import { key } from '../anchor-calls.js'
import { startMachine } from '../token/machine.js'
import { burn } from '../token/token-calls.js'
import { CP_LOCK_AUTHORITY, depositOf, released, type Terms, type Token, World } from './stand-ins.js'

const { signal } = new AbortController()
const machine = startMachine(key('payer'))
const world = new World(machine)
const nodes = { accounts: machine.accounts, listed: world.listed }
const INCINERATOR = '1nc1nerator11111111111111111111111111111111'
const NOW_S = 1_800_000_000
const DAY_S = 86_400

async function locksOf(token: Token, pool: string | null, nowS = NOW_S, of = nodes) {
  const [found] = await readRounds([inspectLocks(token.mint, pool, nowS)], of, signal)
  if (found === null || found === undefined) throw new Error('not a mint')
  return found
}

const factsOf = async (...args: Parameters<typeof locksOf>) => lockFacts(await locksOf(...args))
const until = (days: number, raw: bigint): Terms => ({
  ...{ cliffAt: NOW_S + days * DAY_S, cliffAmount: raw, period: 1, rate: 0n, periods: 0 },
})

test('the authority of locked shares is that of mainnet', () => expect(CP_AUTHORITY).toBe(CP_LOCK_AUTHORITY))

describe('locked tokens', () => {
  it('count until they can be withdrawn', async () => {
    const token = world.token('locked', 1_000_000n)
    world.stream('a cliff', token, until(10, 300_000n))
    world.escrow('an escrow', token, { ...until(5, 100_000n), period: DAY_S, rate: 20_000n, periods: 5 })
    const { facts } = await factsOf(token, null)
    expect(facts).toMatchObject({ lock_raw: '500000', token_lock_percent: 0.5, burn_raw: '0' })
    expect(facts.locks).toEqual([
      {
        ...{ of: 'token', platform: 'Streamflow', locker: key('authority of a cliff'), raw: '300000' },
        unlock_at: NOW_S + 10 * DAY_S,
      },
      {
        ...{ of: 'token', platform: 'Jupiter Lock', locker: key('an escrow'), raw: '200000' },
        unlock_at: NOW_S + 10 * DAY_S,
      },
    ])
    expect((await factsOf(token, null, NOW_S + 7 * DAY_S)).facts).toMatchObject({ lock_raw: '360000' })
    expect((await factsOf(token, null, NOW_S + 10 * DAY_S)).facts).toMatchObject({ lock_raw: '0' })
  })

  it('do not count if somebody may cancel the lock, it is closed, or its vault is empty', async () => {
    const token = world.token('cancelable', 1_000_000n)
    world.stream('a cancelable stream', token, until(10, 1_000n), { isCancelable: true })
    world.stream('a canceled stream', token, until(10, 1_000n), { canceledAt: 5 })
    world.stream('closed', token, until(10, 1_000n), { isClosed: true })
    world.stream('without tokens', token, until(10, 1_000n), { isBacked: false })
    world.escrow('a cancelable escrow', token, until(10, 1_000n), 1)
    expect((await factsOf(token, null)).facts).toMatchObject({ lock_raw: '0', token_lock_percent: 0 })
  })

  it('have no date if their release can be made faster', async () => {
    const token = world.token('faster', 1_000_000n, TOKEN_2022)
    world.stream('a faster stream', token, until(10, 1_000n), { isRateOpen: true })
    expect((await locksOf(token, null)).token.locks).toMatchObject([{ amount: 1_000n, unlockAtS: null }])
  })

  it('are unknown, not 0, where no node lists accounts', async () => {
    const token = world.token('unlisted', 1_000_000n)
    const { facts, isLpNotLocked } = await factsOf(token, null, NOW_S, { ...nodes, listed: async () => null })
    expect(facts).not.toHaveProperty('lock_raw')
    expect(isLpNotLocked).toBe(-1)
  })
})

describe('shares of a pool', () => {
  it.each([
    ['v4', TOKEN],
    ['cpmm', TOKEN],
    ['pump', TOKEN_2022],
  ] as const)('of %s: burnt, incinerated and locked ones cannot be withdrawn', async (kind, program) => {
    const token = world.token(`traded on ${kind}`, 1_000_000n)
    const shares = world.token(`shares of ${kind}`, 1_000n, program, 9)
    const pool = world.pool(kind, shares, 1_000n)
    const free = await factsOf(token, pool)
    expect(free).toMatchObject({
      isLpNotLocked: 1,
      facts: { pair_lock_percent: 0, pair_total_raw: '1000', pair_decimals: 9 },
    })
    expect(free.reasons).toHaveLength(1)
    machine.run(burn(program, shares.account, shares.mint, shares.owner, 500n))
    world.send(shares, INCINERATOR, 100n)
    expect(await factsOf(token, pool)).toMatchObject({ isLpNotLocked: 1, facts: { pair_lock_percent: 0.6 } })
    world.send(shares, CP_LOCK_AUTHORITY, 200n)
    world.stream(`shares of ${kind} locked`, shares, until(10, 150n))
    const locked = await factsOf(token, pool)
    expect(locked).toMatchObject({
      isLpNotLocked: 0,
      facts: { pair_lock_percent: 0.95, pair_total_raw: '1000' },
      reasons: [],
    })
    expect(locked.facts.lock_platform).toBe('Raydium, Streamflow')
    expect(await factsOf(token, pool, NOW_S + 11 * DAY_S)).toMatchObject({
      isLpNotLocked: 1,
      facts: { pair_lock_percent: 0.8 },
    })
  })

  it('are known to be burnt even where no node lists accounts', async () => {
    const token = world.token('burnt pool', 1_000_000n)
    const shares = world.token('burnt shares', 1_000n, TOKEN_2022)
    const pool = world.pool('pump', shares, 1_000n)
    const unlisted = { ...nodes, listed: async () => null }
    expect((await factsOf(token, pool, NOW_S, unlisted)).isLpNotLocked).toBe(-1)
    machine.run(burn(TOKEN_2022, shares.account, shares.mint, shares.owner, 990n))
    expect((await factsOf(token, pool, NOW_S, unlisted)).isLpNotLocked).toBe(0)
  })

  it('are in the risk of the token', async () => {
    const token = world.token('risky', 1_000_000n)
    const pool = world.pool('v4', world.token('risky shares', 1_000n), 1_000n)
    const facts = await createTokenFacts(machine.accounts).fresh(
      new Map([[token.mint, await locksOf(token, pool)]]),
      signal,
    )
    const found = facts.get(token.mint)
    expect(found?.totalSupply).toBe(1_000_000n)
    expect(found?.risk).toMatchObject({ is_lp_not_locked: 1, lock_raw: '0', pair_lock_percent: 0, risk_score: 40 })
    expect(found?.risk.risk_info).toMatchObject({
      reasons: ['new tokens can be minted', "liquidity can be withdrawn: 0 % of the pool's shares are burnt or locked"],
      unchecked: [],
    })
  })
})

describe('positions of a CLMM pool', () => {
  const [base, quote] = [world.token('clmm base', 10n ** 12n), world.token('clmm quote', 10n ** 12n)]
  const pool = (name: string, liquidity: bigint, held: [bigint, bigint]) =>
    world.clmmPool(name, {
      ...{ tick: 0, liquidity },
      vaults: [world.send(base, key(`0 ${name}`), held[0]), world.send(quote, key(`1 ${name}`), held[1])],
    })

  it('that are locked and in range count, by their liquidity', async () => {
    // 10^9 of liquidity from tick -10000 to 10000 is about 393,489,000 of each token.
    const made = pool('ranged', 10n ** 9n, [393_489_000n, 393_489_000n])
    expect(await factsOf(base, made)).toMatchObject({ isLpNotLocked: 1, facts: { pair_lock_percent: 0 } })
    world.lockPosition('most', made, { lower: -10_000, upper: 10_000, liquidity: 950_000_000n })
    expect(await factsOf(base, made)).toMatchObject({ isLpNotLocked: 0, facts: { pair_lock_percent: 0.95 } })
  })

  it('do not prove anything if most tokens are outside the present price', async () => {
    const made = pool('far', 10n ** 9n, [10n ** 10n, 393_489_000n])
    world.lockPosition('all in range', made, { lower: -10_000, upper: 10_000, liquidity: 10n ** 9n })
    world.lockPosition('out of range', made, { lower: 20_000, upper: 30_000, liquidity: 10n ** 9n })
    expect(await factsOf(base, made)).toMatchObject({ isLpNotLocked: -1, facts: { pair_lock_percent: 1 } })
  })
})

test.each(seedsOf('solanaLockSeeds'))('random locks, burns and waiting: seed %i', async (seed) => {
  const random = createRandom(seed)
  const supply = 10n ** 12n
  const program = random.pick([TOKEN, TOKEN_2022])
  const token = world.token(`token of ${seed}`, supply, program)
  const shares = world.token(`shares of ${seed}`, supply, TOKEN)
  const pool = world.pool(random.pick(['v4', 'cpmm']), shares, supply)
  let nowS = NOW_S
  const locks: { of: Token; terms: Terms }[] = []
  const gone = { burnt: 0n, incinerated: 0n, sharesGone: 0n, locked: 0n }
  for (let step = 0; step < 20; step += 1) {
    const of = random.pick([token, shares])
    const raw = BigInt(random.int(1, 10 ** 9))
    const vesting = { period: random.int(1, DAY_S), rate: BigInt(random.int(1, 10 ** 6)), periods: random.int(0, 300) }
    const terms = { cliffAt: nowS + random.int(-DAY_S, 10 * DAY_S), cliffAmount: raw, ...vesting }
    const kind = random.pick(['stream', 'escrow', 'burn', 'incinerate', 'lock', 'time'])
    if (kind === 'stream') world.stream(`${seed} ${step}`, of, terms)
    if (kind === 'escrow') world.escrow(`${seed} ${step}`, of, terms)
    if (kind === 'stream' || kind === 'escrow') locks.push({ of, terms })
    if (kind === 'burn') {
      machine.run(burn(of.program, of.account, of.mint, of.owner, raw))
      if (of === token) gone.burnt += raw
      else gone.sharesGone += raw
    }
    if (kind === 'incinerate') {
      world.send(of, INCINERATOR, raw)
      if (of === token) gone.incinerated += raw
      else gone.sharesGone += raw
    }
    if (kind === 'lock') {
      world.send(shares, CP_LOCK_AUTHORITY, raw)
      gone.locked += raw
    }
    if (kind === 'time') nowS += random.int(1, 3 * DAY_S)
  }
  const held = (one: Token) =>
    locks.reduce((sum, { of, terms }) => (of === one ? sum + depositOf(terms) - released(terms, nowS) : sum), 0n)
  const { token: ofToken, pair } = await locksOf(token, pool, nowS)
  const sum = (of: typeof ofToken | null) => (of?.locks ?? []).reduce((total, { amount }) => total + amount, 0n)
  expect([ofToken.total, ofToken.burnt, sum(ofToken)]).toEqual([supply - gone.burnt, gone.incinerated, held(token)])
  expect([pair?.total, pair?.burnt, sum(pair)]).toEqual([supply, gone.sharesGone, held(shares) + gone.locked])
})
