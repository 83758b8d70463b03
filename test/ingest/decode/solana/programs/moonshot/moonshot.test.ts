import { describe, expect, it } from 'vitest'
import { WRAPPED_SOL } from '../../../../../../services/ingest/decode/solana/native-programs.js'
import { moonshot, moonshotTrade } from '../../../../../../services/ingest/decode/solana/programs/moonshot/moonshot.js'
import { curveProgress } from '../../../../../../services/ingest/decode/solana/programs/moonshot/moonshot-curve.js'
import { inOrder, type SolanaTransaction } from '../../../../../../services/ingest/decode/solana/transaction.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import {
  borsh,
  built,
  callData,
  decoded,
  eventData,
  hex,
  key,
  moved,
  places,
  transactionOf,
} from '../../anchor-calls.js'
import { garble } from '../../garble.js'
import { describeGenerated } from '../../generated-cases.js'
import { callsOf } from '../../real-legs.js'
import { parsed, realTransaction } from '../../real-transactions.js'

const MOONSHOT = 'MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG'
const SIGNATURE = '5UWcde33J3rxFusKri4UCihzq2YatSoYbVjEhm5PRbYxx7VGxh2DPAMixkfnZ5wVyoE4wZNhwMLeJCULkufRd5cn'
const recorded = () => parsed(realTransaction(`vixen/tests__fixtures__${SIGNATURE}_txupdate.json`))
const RENT = 3_737_520n

const curveOf = (pool: string, token0: string, creator: string | null = null) => ({
  ...{ pool, amm: 'moonshot', token0, token1: WRAPPED_SOL, fee: null, creator },
})

describeGenerated(moonshot, 'moonshot')

describeRecorded('a recorded transaction', 3, () => {
  const [mint, curve] = ['8bhuFRNgQxiKFVsGzmygaiwX1CyGf4hu4A5giVE9moon', 'Hn7KyhXmojuLe7Z3EovB2JXDAUJniyQEXhoviJwAJrNo']
  const sender = '3xPtPLAfgBan33sbmcoxgDaAm2qkSNRKajMBj1oN1w27'

  it('gives the amounts of the curve, its real reserves and its progress', () => {
    expect(decoded(moonshot, recorded())).toEqual([
      {
        ...{ kind: 'swap', pool: curveOf(curve, mint), sender, recipient: sender, sqrtPrice: null },
        ...{ tokenIn: WRAPPED_SOL, amountIn: 1_965_030n, tokenOut: mint, amountOut: 6_551_568_276_092n },
        ...{ reserve0: 254_600_223_085_627_761n, reserve1: 68_260_006_348n },
      },
      { kind: 'launch', token: mint, platform: 'moonshot', stage: 'curve', progress: 0.931958, pool: curve },
    ])
  })

  it('has all fields of the event', () => {
    const buy = inOrder(recorded()).find(({ programId }) => programId === MOONSHOT)
    if (buy === undefined) throw new Error('no buy')
    expect(moonshotTrade(buy)).toEqual({
      ...{ tokenAmount: 6_551_568_276_092n, collateralAmount: 1_965_030n, dexFee: 9_924n, helioFee: 9_924n },
      ...{ sold: 745_399_776_914_372_239n, curve, collateral: WRAPPED_SOL, sender, isBuy: true },
    })
  })

  it('rejects random data without another error', () => {
    expect(
      garble(moonshot, callsOf(moonshot, [recorded(), sale(900n), migration(70n)]), { seed: 7, times: 2_000 }).refused,
    ).toBeGreaterThan(200)
  })
})

const [curve, mint, user, vault, account] = [key('curve'), key('mint'), key('user'), key('vault'), key('account')]
const { u64 } = borsh

/** A sale of 5,000 tokens for 900 lamports out of the curve, fees included. */
function sale(paid: bigint): SolanaTransaction {
  const accounts = places(11, { 0: user, 1: account, 2: curve, 3: vault, 6: mint })
  const event = eventData(
    'TradeEvent',
    ...[u64(5_000n), u64(900n), u64(5n), u64(4n), u64(10n), borsh.key(curve), borsh.key(WRAPPED_SOL), borsh.key(user)],
    ...[borsh.u8(1), borsh.text('trade')],
  )
  const call = {
    ...built(MOONSHOT, accounts, callData('sell'), [moved(mint, account, vault, 5_000n)]),
    programData: [event],
  }
  const held = [{ account: vault, mint, owner: curve, before: 1_000n, after: 6_000n }]
  const lamports = { accounts: [curve], preLamports: [RENT + 2_000n], postLamports: [RENT + 2_000n - paid] }
  return { ...transactionOf([call], held), ...lamports }
}

function migration(sent: bigint): SolanaTransaction {
  const receiver = key('receiver')
  const accounts = places(12, { 1: user, 2: curve, 3: vault, 4: receiver, 5: mint })
  const event = eventData('MigrationEvent', u64(70n), u64(30n), u64(80_000n), u64(500n), borsh.text('migrate'))
  const inner = [moved(mint, vault, receiver, sent), moved(mint, vault, mint, 30n)]
  return transactionOf([{ ...built(MOONSHOT, accounts, callData('migrate_funds'), inner), programData: [event] }])
}

describe('calls without a recording', () => {
  it('a sale is paid from the curve without a transfer, and checked against its balance', () => {
    expect(decoded(moonshot, sale(900n))).toEqual([
      {
        ...{ kind: 'swap', pool: curveOf(curve, mint), sender: user, recipient: user, sqrtPrice: null },
        ...{ tokenIn: mint, amountIn: 5_000n, tokenOut: WRAPPED_SOL, amountOut: 900n },
        ...{ reserve0: 6_000n, reserve1: 1_100n },
      },
      { kind: 'launch', token: mint, platform: 'moonshot', stage: 'curve', progress: 0.0, pool: curve },
    ])
    expect(() => decoded(moonshot, sale(899n))).toThrow('is 900 in the event and 899 in the transfers')
  })

  it('a sale has its accounts at the indexes of a recorded instruction', () => {
    // sevenlabs-hq/carbon: decoders/moonshot-decoder/tests/fixtures/sell_ix.json. The event and the balances are made up.
    const accounts = [
      ...['93fdoNBQF6t7aBPuPv3SGGpXyWmJVfvWPpPsBXrGqEK7', 'H4QJQ3mm865pMW7Ufvq6BiSXn2P8xUCv2xFd1sWYpmmK'],
      ...['DnTTm5JdDoZS9pY5JxxJJ9LUQx5L3MmcR5DdvHyEDruQ', 'FNkJw68x21iyHrbA7yyUYyzFMmtdsNzxHWy7WwnaorEd'],
      ...['3udvfL24waJcLhskRAsStNMoNUvtyXdxrWQz4hgi953N', '5K5RtTWzzLp4P8Npi84ocf7F1vBsAu29N1irG4iiUnzt'],
      ...['3hrY3mte6rpea8UDSm4Be6D1sUJyLyLpGxFfRBvVmoon', '36Eru7v11oU5Pfrojyn5oY3nETA1a1iqsw2WUu6afkM9'],
    ]
    const [seller = '', its = '', from = '', tokens = '', , , coin = ''] = accounts
    const data = hex('33e685a4017f83ad00ee7b43ff8e0000734a400100000000006400000000000000')
    const [sold, paid] = [157_227_000_000_000n, 20_990_579n]
    const fields = [u64(sold), u64(paid), u64(5n), u64(4n), u64(10n), borsh.key(from), borsh.key(WRAPPED_SOL)]
    const event = eventData('TradeEvent', ...fields, borsh.key(seller), borsh.u8(1), borsh.text('trade'))
    const call = { ...built(MOONSHOT, accounts, data, [moved(coin, its, tokens, sold)]), programData: [event] }
    expect(decoded(moonshot, transactionOf([call]))).toMatchObject([
      {
        ...{ kind: 'swap', pool: curveOf(from, coin), sender: seller, recipient: seller },
        ...{ tokenIn: coin, amountIn: sold, tokenOut: WRAPPED_SOL, amountOut: paid },
      },
      { kind: 'launch' },
    ])
  })

  it('two sales in one transaction leave the reserves between them unknown', () => {
    const { instructions, ...rest } = sale(1_800n)
    const [first] = instructions
    if (first === undefined) throw new Error('no sale')
    const second = { ...first, order: 2, inner: first.inner.map((inner) => ({ ...inner, order: 3 })) }
    const both = decoded(moonshot, { ...rest, instructions: [first, second] })
    expect(both.map((each) => (each.kind === 'swap' ? each.reserve1 : each.kind))).toEqual([
      null,
      'launch',
      200n,
      'launch',
    ])
  })

  it('a trade whose event the node truncated is rejected', () => {
    const { instructions, ...rest } = sale(900n)
    const cut = instructions.map((instruction) => ({ ...instruction, programData: null }))
    expect(() => decoded(moonshot, { ...rest, instructions: cut })).toThrow('no event for a trade')
  })

  it('a token is created with its curve, from recorded bytes', () => {
    const data = hex(
      '032ca4b87b0df5b30800000047616d6573746f700400000024474d454400000068747470733a2f2f63646e2e64657873637265656e65722e636f6d2f636d732f746f6b656e732f6d657461646174612f55676e4e766179684175384b3937616f543342380900000064a7b3b6e00d010000000000000000000000',
    )
    const call = built(MOONSHOT, places(11, { 0: user, 2: curve, 3: mint, 5: vault }), data)
    const [supply, pool] = [1_000_000_000_000_000_000n, curveOf(curve, mint, user)]
    const uri = 'https://cdn.dexscreener.com/cms/tokens/metadata/UgnNvayhAu8K97aoT3B8'
    expect(decoded(moonshot, transactionOf([call]))).toEqual([
      { kind: 'token', token: mint, name: 'Gamestop', symbol: '$GME', decimals: 9, uri },
      { kind: 'pool', pool },
      { kind: 'launch', token: mint, platform: 'moonshot', stage: 'created', progress: 0, pool: curve },
      {
        ...{ kind: 'liquidity', pool, change: 'create', sender: user },
        ...{ amount0: supply, amount1: 0n, reserve0: supply, reserve1: 0n },
      },
    ])
  })

  it('a migrated curve is empty; another transaction names its new pool', () => {
    expect(decoded(moonshot, migration(70n))).toEqual([
      {
        ...{ kind: 'liquidity', pool: curveOf(curve, mint), change: 'remove', sender: user },
        ...{ amount0: 100n, amount1: 80_000n, reserve0: 0n, reserve1: 0n },
      },
      { kind: 'launch', token: mint, platform: 'moonshot', stage: 'graduated', progress: 1, pool: null },
    ])
    expect(() => decoded(moonshot, migration(71n))).toThrow('is 70 in the event and 71 in the transfers')
  })

  it('knows the progress of a curve only if its SOL matches the formula', () => {
    expect(curveProgress(746_509_767_000_000_000n, 68_594_067_284n)).toBe(0.933346)
    expect(curveProgress(799_820_983_207_404_442n, 87_834_819_006n)).toBe(1)
    expect(curveProgress(746_509_767_000_000_000n, 60_000_000_000n)).toBeNull()
    expect(curveProgress(746_509_767_000_000_000n, null)).toBeNull()
  })
})
