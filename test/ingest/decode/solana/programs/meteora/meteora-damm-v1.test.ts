import { describe, expect, it } from 'vitest'
import { WRAPPED_SOL } from '../../../../../../services/ingest/decode/solana/native-programs.js'
import { meteoraDammV1 } from '../../../../../../services/ingest/decode/solana/programs/meteora/meteora-damm-v1.js'
import { dammV1Swap } from '../../../../../../services/ingest/decode/solana/programs/meteora/meteora-damm-v1-events.js'
import { inOrder } from '../../../../../../services/ingest/decode/solana/transaction.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import {
  type Balance,
  type Built,
  borsh,
  built,
  callData,
  decoded,
  eventData,
  key,
  moved,
  places,
  transactionOf,
} from '../../anchor-calls.js'
import { garble } from '../../garble.js'
import { describeGenerated } from '../../generated-cases.js'
import { callsOf } from '../../real-legs.js'
import { parsed, realTransaction } from '../../real-transactions.js'

const DAMM = 'Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB'
const VAULT = '24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi'
const SIGNATURE = '2mHGPXMzxs6NtaHtbVqku9iKCBy1uAbohMk1yB1it6gku9xXnkQt7TaCh5seb66n7wsADf13MsYYutnYRNrkzbSX'
const recorded = () => realTransaction(`vixen/tests__fixtures__${SIGNATURE}_txupdate.json`)

const SENDER = 'GCvHhEUYQwTJ8jyf8Lc4bv8jBXyZU4LMMsZCobwEPzvM'
const TOKEN_A = '4eDf52YYzL6i6gbZ6FXqrLUPXbtP61f1gPSFM66M4XHe'
const SWAP = {
  kind: 'swap',
  pool: {
    ...{ pool: '3LxstoarWCh6iC2NbQG4eXwvrNuSpr8kH7YyFmFu5tKZ', amm: 'meteoradamm' },
    ...{ token0: TOKEN_A, token1: WRAPPED_SOL, fee: null, creator: null },
  },
  ...{ sender: SENDER, recipient: SENDER, tokenIn: WRAPPED_SOL, amountIn: 455_036_072n },
  ...{ tokenOut: TOKEN_A, amountOut: 124_965_910_713n, sqrtPrice: null },
  // The pool owns shares of two vaults, and nothing in the transaction gives a share's exact value.
  ...{ reserve0: null, reserve1: null },
}

// The event's input may be below the transfer by less than a vault share and one token: one unit more is accepted.
describeGenerated(meteoraDammV1, 'meteoradamm', { wrongAmount: (amount) => 2n * amount })

describeRecorded('a recorded transaction', 4, () => {
  it('gives the swap with the fee paid outside the vault, and unknown reserves', () => {
    expect(decoded(meteoraDammV1, parsed(recorded()))).toEqual([SWAP])
  })

  it('has all fields of the event', () => {
    const swap = inOrder(parsed(recorded())).find(({ programId }) => programId === DAMM)
    if (swap === undefined) throw new Error('no swap')
    expect(dammV1Swap(swap)).toEqual({
      ...{ amountIn: 455_036_072n, amountOut: 124_965_910_713n },
      ...{ tradeFee: 1_092_087n, protocolFee: 273_021n, hostFee: 0n },
    })
  })

  it('is decoded from its transfers alone if the node truncated the logs', () => {
    const { value, ...rest } = recorded()
    const meta = { ...(value.meta as object), logMessages: ['Log truncated'] }
    expect(decoded(meteoraDammV1, parsed({ value: { ...value, meta }, ...rest }))).toEqual([SWAP])
  })

  it('rejects random data without another error', () => {
    const calls = Object.keys(CREATIONS).map((name) => create(name))
    expect(
      garble(meteoraDammV1, callsOf(meteoraDammV1, [parsed(recorded()), ...calls]), { seed: 7, times: 2_000 }).refused,
    ).toBeGreaterThan(50)
  })
})

const [pool, a, b, user] = [key('pool'), key('A'), key('B'), key('user')]
const [vaultA, vaultB, accountA, accountB] = [key('vault A'), key('vault B'), key('account A'), key('account B')]
const [sharesA, sharesB] = [key('shares A'), key('shares B')]
const poolOf = (fee: number | null = null, creator: string | null = null) => ({
  ...{ pool, amm: 'meteoradamm', token0: a, token1: b, fee, creator },
})
const MILLION = 1_000_000n

/** A deposit at half a share per token; `withdrawal` is the reverse. */
function deposit(mint: string, account: string, vault: string, shares: string, amount: bigint): Built {
  return built(VAULT, [], new Uint8Array(0), [
    moved(mint, account, vault, amount),
    moved(key('share'), key('share'), shares, amount / 2n),
  ])
}

function withdrawal(mint: string, vault: string, account: string, shares: string, amount: bigint): Built {
  return built(VAULT, [], new Uint8Array(0), [
    moved(mint, vault, account, amount),
    moved(key('share'), shares, key('share'), amount / 2n),
  ])
}

/** The vaults belong to many pools; this pool's shares end at 50 and 60 million. */
const held = (change: bigint): Balance[] => [
  { account: vaultA, mint: a, owner: null, before: 999n * MILLION, after: 999n * MILLION + change },
  { account: vaultB, mint: b, owner: null, before: 999n * MILLION, after: 999n * MILLION + change },
  { account: sharesA, mint: key('share'), owner: null, before: 50n * MILLION - change / 2n, after: 50n * MILLION },
  { account: sharesB, mint: key('share'), owner: null, before: 60n * MILLION - change / 2n, after: 60n * MILLION },
]

const logged = (call: Built, event: Uint8Array): Built => ({ ...call, programData: [event] })
const liquidityEvent = (name: string, amountA: bigint, amountB: bigint) =>
  eventData(name, borsh.u64(77n), borsh.u64(amountA), borsh.u64(amountB))
const step = { kind: 'liquidity', pool: poolOf(), sender: user, reserve0: null, reserve1: null }

describe('a swap whose event reports less than was transferred, because vault shares are whole', () => {
  const accounts = places(15, {
    ...{ 0: pool, 1: accountA, 2: accountB, 5: vaultA, 6: vaultB, 9: sharesA, 10: sharesB, 12: user },
  })
  const paid = 1_000_001n
  const bought = 900_000n
  /** A share is worth two tokens; the protocol fee of 10 is paid outside the vault. */
  const swapReporting = (amountIn: bigint, amountOut = bought) => {
    const inner = [
      moved(a, accountA, key('protocol fees'), 10n),
      deposit(a, accountA, vaultA, sharesA, paid - 10n),
      withdrawal(b, vaultB, accountB, sharesB, bought),
    ]
    const reported = [amountIn, amountOut, 3n, 10n, 0n].map(borsh.u64)
    const call = logged(built(DAMM, accounts, callData('swap'), inner), eventData('Swap', ...reported))
    return transactionOf([call], held(0n))
  }
  const swap = {
    ...{ kind: 'swap', pool: poolOf(), sender: user, recipient: user, sqrtPrice: null, reserve0: null, reserve1: null },
    ...{ tokenIn: a, amountIn: paid, tokenOut: b, amountOut: bought },
  }

  it.each([0n, 1n, 2n, 3n])('has the transferred amounts if the event reports %s less', (shortfall) => {
    expect(decoded(meteoraDammV1, swapReporting(paid - shortfall))).toEqual([swap])
  })

  it.each([
    ['more than a share and a token less', paid - 4n],
    ['half of it', paid / 2n],
    ['more than was transferred', paid + 1n],
  ])('is rejected if the event reports %s', (_, amountIn) => {
    expect(() => decoded(meteoraDammV1, swapReporting(amountIn))).toThrow(`the amount in is ${amountIn} in the event`)
  })

  it('is rejected if the amount out differs at all', () => {
    expect(() => decoded(meteoraDammV1, swapReporting(paid, bought - 1n))).toThrow('the amount out is 899999')
  })
})

describe('liquidity', () => {
  const accounts = places(16, {
    ...{ 0: pool, 3: sharesA, 4: sharesB, 9: vaultA, 10: vaultB, 11: accountA, 12: accountB, 13: user },
  })
  const added = [
    deposit(a, accountA, vaultA, sharesA, 4n * MILLION),
    deposit(b, accountB, vaultB, sharesB, 4n * MILLION),
  ]

  it.each([
    ['add_balance_liquidity', 'AddLiquidity'],
    ['add_imbalance_liquidity', 'AddLiquidity'],
    ['bootstrap_liquidity', 'BootstrapLiquidity'],
  ])('%s adds', (name, event) => {
    const call = logged(built(DAMM, accounts, callData(name), added), liquidityEvent(event, 4n * MILLION, 4n * MILLION))
    const expected = [{ ...step, change: 'add', amount0: 4n * MILLION, amount1: 4n * MILLION }]
    expect(decoded(meteoraDammV1, transactionOf([call], held(4n * MILLION)))).toEqual(expected)
    const wrong = logged(call, liquidityEvent(event, 4n * MILLION, 5n))
    expect(() => decoded(meteoraDammV1, transactionOf([wrong], held(4n * MILLION)))).toThrow('token1 is 5 in the event')
  })

  it('is removed from both sides', () => {
    const inner = [
      withdrawal(a, vaultA, accountA, sharesA, 4n * MILLION),
      withdrawal(b, vaultB, accountB, sharesB, 4n * MILLION),
    ]
    const call = built(DAMM, accounts, callData('remove_balance_liquidity'), inner)
    const reported = logged(call, liquidityEvent('RemoveLiquidity', 4n * MILLION, 4n * MILLION))
    expect(decoded(meteoraDammV1, transactionOf([reported], held(-4n * MILLION)))).toEqual([
      { ...step, change: 'remove', amount0: 4n * MILLION, amount1: 4n * MILLION },
    ])
  })

  it('is removed from one side', () => {
    const one = places(15, { 0: pool, 3: sharesA, 4: sharesB, 9: vaultA, 10: vaultB, 11: accountB, 12: user })
    const inner = [withdrawal(b, vaultB, accountB, sharesB, 4n * MILLION)]
    const call = built(DAMM, one, callData('remove_liquidity_single_side'), inner)
    const reported = logged(call, liquidityEvent('RemoveLiquidity', 0n, 4n * MILLION))
    expect(decoded(meteoraDammV1, transactionOf([reported], held(-4n * MILLION)))).toEqual([
      { ...step, change: 'remove', amount0: 0n, amount1: 4n * MILLION },
    ])
  })

  it('a full removal leaves zero reserves: without shares, the pool holds nothing', () => {
    const inner = [
      withdrawal(a, vaultA, accountA, sharesA, 4n * MILLION),
      withdrawal(b, vaultB, accountB, sharesB, 4n * MILLION),
    ]
    const call = built(DAMM, accounts, callData('remove_balance_liquidity'), inner)
    const emptied = held(-4n * MILLION).map((balance) =>
      [sharesA, sharesB].includes(balance.account) ? { ...balance, before: 2n * MILLION, after: 0n } : balance,
    )
    expect(decoded(meteoraDammV1, transactionOf([call], emptied))).toEqual([
      { ...step, change: 'remove', amount0: 4n * MILLION, amount1: 4n * MILLION, reserve0: 0n, reserve1: 0n },
    ])
  })

  it('claiming fees is not a liquidity change', () => {
    const claiming = places(18, { 0: pool, 3: user, 7: vaultA, 8: vaultB, 11: sharesA, 12: sharesB })
    const inner = [withdrawal(a, vaultA, accountA, sharesA, 4n * MILLION)]
    expect(
      decoded(meteoraDammV1, transactionOf([built(DAMM, claiming, callData('claim_fee'), inner)], held(-4n * MILLION))),
    ).toEqual([{ ...step, change: 'remove', amount0: 0n, amount1: 0n }])
  })

  it('is skipped if the mints of the vaults are unknown', () => {
    const call = built(DAMM, accounts, callData('add_balance_liquidity'), added)
    expect(() => decoded(meteoraDammV1, transactionOf([call]))).toThrow('the balances have no mint for')
  })
})

const STABLE = Buffer.concat([borsh.u8(1), borsh.zeros(50)])
const CREATIONS: Record<string, { shift: number; creator: number; fields: Buffer[]; fee: number | null }> = {
  initialize_permissionless_pool: { shift: 0, creator: 17, fields: [borsh.u8(0)], fee: null },
  initialize_permissionless_pool_with_fee_tier: { shift: 0, creator: 17, fields: [STABLE, borsh.u64(25n)], fee: 2_500 },
  initialize_permissionless_constant_product_pool_with_config: { shift: 1, creator: 18, fields: [], fee: null },
  initialize_permissionless_constant_product_pool_with_config2: { shift: 1, creator: 18, fields: [], fee: null },
  initialize_customizable_permissionless_constant_product_pool: {
    ...{ shift: 0, creator: 17, fee: 60_000 },
    fields: [borsh.u64(1n), borsh.u64(2n), borsh.u32(6_000)],
  },
}

function create(name: string) {
  const { shift, creator, fields } = CREATIONS[name] ?? { shift: 0, creator: 17, fields: [] }
  const accounts = places(26, {
    ...{ 0: pool, [2 + shift]: a, [3 + shift]: b, [6 + shift]: vaultA, [7 + shift]: vaultB },
    ...{
      [10 + shift]: sharesA,
      [11 + shift]: sharesB,
      [12 + shift]: accountA,
      [13 + shift]: accountB,
      [creator]: user,
    },
  })
  const inner = [
    deposit(a, accountA, vaultA, sharesA, 4n * MILLION),
    deposit(b, accountB, vaultB, sharesB, 4n * MILLION),
  ]
  const event = eventData('PoolCreated', ...[key('lp'), a, b].map(borsh.key), borsh.u8(1), borsh.key(pool))
  return transactionOf([logged(built(DAMM, accounts, callData(name, ...fields), inner), event)], held(4n * MILLION))
}

describe('creation', () => {
  it.each(Object.entries(CREATIONS))('%s includes the first liquidity', (name, { fee }) => {
    const described = poolOf(fee, user)
    expect(decoded(meteoraDammV1, create(name))).toEqual([
      { kind: 'pool', pool: described },
      { ...step, pool: described, change: 'create', amount0: 4n * MILLION, amount1: 4n * MILLION },
    ])
  })

  it('of a permissioned pool has no liquidity', () => {
    const accounts = places(24, { 0: pool, 2: a, 3: b, 15: user })
    const call = built(DAMM, accounts, callData('initialize_permissioned_pool'))
    expect(decoded(meteoraDammV1, transactionOf([call]))).toEqual([{ kind: 'pool', pool: poolOf(null, user) }])
  })
})
