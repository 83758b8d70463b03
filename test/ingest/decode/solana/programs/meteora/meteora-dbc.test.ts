import { describe, expect, it } from 'vitest'
import { TOKEN, WRAPPED_SOL } from '../../../../../../services/ingest/decode/solana/native-programs.js'
import { dbcSwap, meteoraDbc } from '../../../../../../services/ingest/decode/solana/programs/meteora/meteora-dbc.js'
import { inOrder } from '../../../../../../services/ingest/decode/solana/transaction.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import {
  borsh,
  built,
  callData,
  decoded,
  eventData,
  key,
  moved,
  places,
  reported,
  transactionOf,
} from '../../anchor-calls.js'
import { garble } from '../../garble.js'
import { describeGenerated } from '../../generated-cases.js'
import { callsOf } from '../../real-legs.js'
import { parsed, realTransaction } from '../../real-transactions.js'

const DBC = 'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN'
const RECORDED = '23BXcBmnM3S3kFxcR49poVKADhGyfdN8GtSGj4tjffFHAYRZHjLpZYWL2McmEMWQT2WcVDwa88CbzvU6N9NjCZCS'
const real = () => parsed(realTransaction(`vixen/tests__fixtures__${RECORDED}_txupdate.json`))

const [curve, base, quote, user, config] = [key('curve'), key('base'), key('quote'), key('user'), key('config')]
const [baseVault, quoteVault, baseAccount, quoteAccount] = [
  'base vault',
  'quote vault',
  'base account',
  'quote account',
].map(key) as [string, string, string, string]
const { u64, u128 } = borsh
const curveOf = (creator: string | null = null) => ({
  ...{ pool: curve, amm: 'meteoradbc', token0: base, token1: quote, fee: null, creator },
})
const launch = (stage: string, progress: number, pool = curve) => ({
  ...{ kind: 'launch', token: base, platform: 'meteoradbc', stage, progress, pool },
})

/** 100 quote tokens for 5,000 base tokens. */
const swapEvent = (name: string, reserve: bigint, threshold: bigint) =>
  eventData(
    name,
    ...[borsh.key(curve), borsh.key(config), borsh.u8(1), borsh.bool(false), u64(100n), u64(1n), borsh.u8(0)],
    ...[u64(100n), u64(99n), u64(0n), u64(5_000n), u128(3n << 64n), u64(1n), u64(0n), u64(0n)],
    ...[u64(reserve), u64(threshold), u64(1_757_147_731n)],
  )
const buy = (name: string, ...events: Uint8Array[]) => {
  const accounts = places(15, {
    ...{ 1: config, 2: curve, 3: quoteAccount, 4: baseAccount, 5: baseVault, 6: quoteVault, 7: base, 8: quote },
    ...{ 9: user, 10: TOKEN, 11: TOKEN },
  })
  const sent = [moved(quote, quoteAccount, quoteVault, 100n), moved(base, baseVault, baseAccount, 5_000n)]
  const held = [{ account: baseVault, mint: base, owner: null, before: 50_000n, after: 45_000n }]
  return transactionOf(
    [built(DBC, accounts, callData(name), [...sent, ...events.map((event) => reported(DBC, event))])],
    held,
  )
}
const bought = (reserve0: bigint, reserve1: bigint) => ({
  ...{ kind: 'swap', pool: curveOf(), sender: user, recipient: user, sqrtPrice: 3n << 64n },
  ...{ tokenIn: quote, amountIn: 100n, tokenOut: base, amountOut: 5_000n, reserve0, reserve1 },
})

describeGenerated(meteoraDbc, 'meteoradbc')

describeRecorded('a recorded transaction', 3, () => {
  const [token, sender] = [
    'EeXMYKCMjVLU1PrjAi4o2fMpC37h9RpuU3y7k4WHBQN9',
    'H2GjtXqmbhRCedTidoMPbzuvVjgSeWt1KYMrKcaCC2R7',
  ]
  const pool = 'CQLuGpgxg5qmuw5BnHCG8zHquKn3jxXuVrgSLYGBk48t'

  it('gives the swap and the progress of the curve', () => {
    expect(decoded(meteoraDbc, real())).toEqual([
      {
        ...{
          kind: 'swap',
          pool: { ...curveOf(), pool, token0: token, token1: WRAPPED_SOL },
          sender,
          recipient: sender,
        },
        ...{ tokenIn: token, amountIn: 47_192_506_267n, tokenOut: WRAPPED_SOL, amountOut: 553_679_124n },
        ...{ sqrtPrice: 1_995_905_826_729_576_341n, reserve0: 796_039_793_851_714n, reserve1: 220_681_418_340n },
      },
      { ...launch('curve', 0.044136, pool), token },
    ])
  })

  it('has all fields of the event', () => {
    const swap = inOrder(real()).find(({ programId }) => programId === DBC)
    if (swap === undefined) throw new Error('no swap')
    expect(dbcSwap(swap)).toEqual({
      ...{ pool, config: swap.accounts[1], isBaseIn: true },
      ...{ amountIn: 47_192_506_267n, amountOut: 553_679_124n, nextSqrtPrice: 1_995_905_826_729_576_341n },
      ...{ fees: [44_300n, 11_074n, 0n], timestamp: 1_759_847_826n },
      quote: { reserve: 220_681_418_340n, threshold: 5_000_000_000_000n },
    })
  })

  it('rejects random data without another error', () => {
    const built = [buy('swap2', swapEvent('EvtSwap2', 1n, 2n)), created('initialize_virtual_pool_with_spl_token')]
    expect(
      garble(meteoraDbc, callsOf(meteoraDbc, [real(), ...built]), { seed: 7, times: 2_000 }).refused,
    ).toBeGreaterThan(200)
  })
})

describe('calls without a recording', () => {
  it.each([
    ['swap', 'EvtSwap2'],
    ['swap2', 'EvtSwap2'],
    ['swap2_with_transfer_hook', 'EvtSwap2WithTransferHook'],
  ])('%s is a swap', (name, event) => {
    expect(decoded(meteoraDbc, buy(name, swapEvent(event, 250n, 1_000n)))).toEqual([
      bought(45_000n, 250n),
      launch('curve', 0.25),
    ])
  })

  it('the swap that completes the curve reports it', () => {
    const complete = eventData('EvtCurveComplete', borsh.key(curve), borsh.key(config), u64(44_000n), u64(1_001n))
    const transaction = buy('swap2', swapEvent('EvtSwap2', 1_001n, 1_000n), complete)
    expect(decoded(meteoraDbc, transaction)).toEqual([bought(44_000n, 1_001n), launch('curve', 1)])
  })

  it('the first version has no reserves, so they are read from the vaults', () => {
    const event = eventData(
      'EvtSwap',
      ...[borsh.key(curve), borsh.key(config), borsh.u8(1), borsh.bool(false), u64(100n), u64(1n)],
      ...[u64(99n), u64(5_000n), u128(3n << 64n), u64(1n), u64(0n), u64(0n), u64(100n), u64(1_757_147_731n)],
    )
    expect(decoded(meteoraDbc, buy('swap', event))).toEqual([{ ...bought(45_000n, 0n), reserve1: null }])
  })

  it.each([
    'initialize_virtual_pool_with_spl_token',
    'initialize_virtual_pool_with_token2022',
    'initialize_virtual_pool_with_token2022_transfer_hook',
  ])('%s creates a token, its curve and all there is to sell', (name) => {
    expect(decoded(meteoraDbc, created(name))).toEqual([
      { kind: 'token', token: base, name: 'Name', symbol: 'SYM', decimals: 9, uri: 'https://uri' },
      { kind: 'pool', pool: curveOf(user) },
      launch('created', 0),
      {
        ...{ kind: 'liquidity', pool: curveOf(user), change: 'create', sender: user },
        ...{ amount0: 1_000_000n, amount1: 0n, reserve0: 1_000_000n, reserve1: 0n },
      },
    ])
  })

  it.each([
    ['migrate_meteora_damm', 7, 22],
    ['migration_damm_v2', 13, 19],
  ])('%s empties the curve and names the new pool', (name, mints, payer) => {
    const accounts = places(31, {
      ...{
        0: curve,
        4: key('new pool'),
        [mints]: base,
        [mints + 1]: quote,
        17: baseVault,
        18: quoteVault,
        [payer]: user,
      },
    })
    const inner = [
      moved(base, baseVault, key('their vault'), 900n),
      moved(quote, quoteVault, key('their other vault'), 80n),
    ]
    const burnt = moved(base, baseVault, base, 7n)
    expect(decoded(meteoraDbc, transactionOf([built(DBC, accounts, callData(name), [...inner, burnt])]))).toEqual([
      {
        ...{ kind: 'liquidity', pool: curveOf(), change: 'remove', sender: user },
        ...{ amount0: 907n, amount1: 80n, reserve0: 0n, reserve1: 0n },
      },
      launch('graduated', 1, key('new pool')),
    ])
  })
})

function created(name: string) {
  const accounts = places(16, { 0: config, 2: user, 3: base, 4: quote, 5: curve, 6: baseVault, 7: quoteVault })
  const data = callData(name, borsh.text('Name'), borsh.text('SYM'), borsh.text('https://uri'))
  const fields = [borsh.key(curve), borsh.key(config), borsh.key(user), borsh.key(base), borsh.u8(0), u64(5n)]
  const event = eventData(name.endsWith('hook') ? 'EvtInitializePoolWithTransferHook' : 'EvtInitializePool', ...fields)
  const call = built(DBC, accounts, data, [moved(base, base, baseVault, 1_000_000n), reported(DBC, event)])
  return transactionOf([call], [{ account: baseVault, mint: base, owner: null, before: 0n, after: 1_000_000n }])
}
