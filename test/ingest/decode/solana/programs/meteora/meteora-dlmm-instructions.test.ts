import { describe, expect, it } from 'vitest'
import { TOKEN_2022 } from '../../../../../../services/ingest/decode/solana/native-programs.js'
import { meteoraDlmm } from '../../../../../../services/ingest/decode/solana/programs/meteora/meteora-dlmm.js'
import { describeRecorded } from '../../../../../rig/recordings.js'
import {
  type Built,
  borsh,
  built,
  decoded,
  eventData,
  hex,
  key,
  moved,
  reported,
  transactionOf,
} from '../../anchor-calls.js'
import {
  DLMM,
  derived,
  liquidityEvent,
  poolOf,
  recorded,
  recordedNames,
  reserves,
  swapEvent,
} from '../../dlmm-calls.js'

describeRecorded('recorded instructions', 24, () => {
  it.each(recordedNames('swap'))('%s is a swap', (name) => {
    const { accounts, data, at } = recorded(name)
    const [pool, x, y, user] = [at('lbPair'), at('tokenXMint'), at('tokenYMint'), at('user')]
    const call = built(DLMM, accounts, data, [
      moved(y, at('userTokenIn'), at('reserveY'), 1_000n),
      moved(x, at('reserveX'), at('userTokenOut'), 900n),
      reported(DLMM, swapEvent(pool, user, false, 1_000n, 900n)),
    ])
    const held = reserves(pool, [at('reserveX'), x, 5_000n, 4_100n], [at('reserveY'), y, 6_000n, 7_000n])
    expect(decoded(meteoraDlmm, transactionOf([call], held))).toEqual([
      {
        ...{ kind: 'swap', pool: poolOf(pool, x, y), sender: user, recipient: user, sqrtPrice: null },
        ...{ tokenIn: y, amountIn: 1_000n, tokenOut: x, amountOut: 900n, reserve0: 4_100n, reserve1: 7_000n },
      },
    ])
  })

  it.each(recordedNames('add_liquidity').filter((name) => !name.includes('one_side')))('%s adds', (name) => {
    const { accounts, data, at } = recorded(name)
    const [pool, x, y] = [at('lbPair'), at('tokenXMint'), at('tokenYMint')]
    const call = built(DLMM, accounts, data, [
      moved(x, at('userTokenX'), at('reserveX'), 30n),
      moved(y, at('userTokenY'), at('reserveY'), 40n),
      reported(DLMM, liquidityEvent('AddLiquidity', pool, at('sender'), 30n, 40n)),
    ])
    const held = reserves(pool, [at('reserveX'), x, 1n, 31n], [at('reserveY'), y, 2n, 42n])
    expect(decoded(meteoraDlmm, transactionOf([call], held))).toEqual([
      {
        ...{ kind: 'liquidity', change: 'add', pool: poolOf(pool, x, y), sender: at('sender') },
        ...{ amount0: 30n, amount1: 40n, reserve0: 31n, reserve1: 42n },
      },
    ])
  })

  it.each(recordedNames('add_liquidity').filter((name) => name.includes('one_side')))('%s adds one token', (name) => {
    const { accounts, data, at } = recorded(name)
    const [pool, y, x, otherReserve] = [
      at('lbPair'),
      at('tokenMint'),
      key('the other mint'),
      derived(at('lbPair'), key('the other mint')),
    ]
    const call = built(DLMM, accounts, data, [
      moved(y, at('userToken'), at('reserve'), 40n),
      reported(DLMM, liquidityEvent('AddLiquidity', pool, at('sender'), 0n, 40n)),
    ])
    const held = reserves(pool, [otherReserve, x, 1n, 1n], [at('reserve'), y, 2n, 42n])
    expect(decoded(meteoraDlmm, transactionOf([call], held))).toEqual([
      {
        ...{ kind: 'liquidity', change: 'add', pool: poolOf(pool, x, y), sender: at('sender') },
        ...{ amount0: 0n, amount1: 40n, reserve0: 1n, reserve1: 42n },
      },
    ])
    const reward = { account: key('a vault of rewards'), mint: key('reward'), owner: pool, before: 1n, after: 1n }
    expect(() => decoded(meteoraDlmm, transactionOf([call], [reward, ...held.slice(1)]))).toThrow(
      'which nothing in the transaction names',
    )
  })

  it.each(recordedNames('remove_'))('%s removes', (name) => {
    const { accounts, data, at } = recorded(name)
    const [pool, x, y] = [at('lbPair'), at('tokenXMint'), at('tokenYMint')]
    const call = built(DLMM, accounts, data, [
      moved(x, at('reserveX'), at('userTokenX'), 30n),
      moved(y, at('reserveY'), at('userTokenY'), 40n),
      reported(DLMM, liquidityEvent('RemoveLiquidity', pool, at('sender'), 30n, 40n)),
    ])
    const held = reserves(pool, [at('reserveX'), x, 31n, 1n], [at('reserveY'), y, 42n, 2n])
    expect(decoded(meteoraDlmm, transactionOf([call], held))).toEqual([
      {
        ...{ kind: 'liquidity', change: 'remove', pool: poolOf(pool, x, y), sender: at('sender') },
        ...{ amount0: 30n, amount1: 40n, reserve0: 1n, reserve1: 2n },
      },
    ])
  })

  it.each(recordedNames('claim_fee'))('%s reduces the reserves without a liquidity change', (name) => {
    const { accounts, data, at } = recorded(name)
    const [pool, x, y] = [at('lbPair'), at('tokenXMint'), at('tokenYMint')]
    const call = built(DLMM, accounts, data, [moved(y, at('reserveY'), at('userTokenY'), 40n)])
    const held = reserves(pool, [at('reserveX'), x, 31n, 31n], [at('reserveY'), y, 42n, 2n])
    expect(decoded(meteoraDlmm, transactionOf([call], held))).toEqual([
      {
        ...{ kind: 'liquidity', change: 'remove', pool: poolOf(pool, x, y), sender: at('sender') },
        ...{ amount0: 0n, amount1: 0n, reserve0: 31n, reserve1: 2n },
      },
    ])
    expect(decoded(meteoraDlmm, transactionOf([built(DLMM, accounts, data)], held))).toEqual([])
  })

  it.each([
    ...recordedNames('initialize_lb_pair'),
    ...recordedNames('initialize_customizable'),
    ...recordedNames('initialize_permission'),
  ])('%s creates a pair', (name) => {
    const { accounts, data, at } = recorded(name)
    const [pool, x, y] = [at('lbPair'), at('tokenMintX'), at('tokenMintY')]
    const creator = name === 'initialize_permission_lb_pair' ? accounts[8] : at('funder')
    const event = eventData('LbPairCreate', borsh.key(pool), borsh.u16(80), borsh.key(x), borsh.key(y))
    const call = built(DLMM, accounts, data, [reported(DLMM, event)])
    expect(decoded(meteoraDlmm, transactionOf([call]))).toEqual([
      { kind: 'pool', pool: { ...poolOf(pool, x, y), creator } },
    ])
  })

  it('other instructions are ignored', () => {
    const others = [
      'claim_reward',
      'close_',
      'go_to',
      'initialize_bin',
      'initialize_position',
      'migrate',
      'set_',
      'update_',
    ]
    const calls = others.flatMap(recordedNames).map((name) => {
      const { accounts, data } = recorded(name)
      return built(DLMM, accounts, data, [moved(key('mint'), accounts[0] ?? '', key('somebody'), 5n)])
    })
    expect(calls.length).toBeGreaterThan(15)
    expect(decoded(meteoraDlmm, transactionOf(calls))).toEqual([])
  })
})

describe('calls without a recording', () => {
  const name = (text: string) => key(text)
  const [pool, x, y, owner] = [name('pair'), name('X'), name('Y'), name('owner')]
  const [reserveX, reserveY, accountX, accountY] = [
    name('reserve X'),
    name('reserve Y'),
    name('account X'),
    name('account Y'),
  ]
  const position = (call: string, length: number, tokenProgram = name('token program')): Built => {
    const accounts = Array.from({ length }, (_, place) => name(`account ${place}`))
    Object.assign(accounts, { 1: pool, 3: accountX, 4: accountY, 5: reserveX, 6: reserveY, 7: x, 8: y, 9: owner })
    Object.assign(accounts, { 10: tokenProgram, 11: tokenProgram, 12: tokenProgram })
    return built(DLMM, accounts, callOf(call))
  }
  const callOf = (call: string) =>
    hex({ rebalance_liquidity: '5c04b0c177b95309', add_liquidity2: 'e4a24e1c46db7473' }[call] ?? '')
  const held = reserves(pool, [reserveX, x, 100n, 130n], [reserveY, y, 100n, 60n])
  const rebalancing = (amounts: readonly bigint[]) =>
    eventData(
      'Rebalancing',
      borsh.key(pool),
      borsh.key(name('position')),
      borsh.key(owner),
      borsh.i32(1),
      ...amounts.map(borsh.u64),
    )

  it('a rebalanced position is removed and added again, although its transfers are netted', () => {
    const call = position('rebalance_liquidity', 17)
    call.inner.push(moved(x, accountX, reserveX, 30n), moved(y, reserveY, accountY, 40n))
    // X: 10 out, 41 in, 1 in fees; Y: 45 out, 5 in, no fees.
    call.inner.push(reported(DLMM, rebalancing([10n, 41n, 45n, 5n, 1n, 0n])))
    const step = { kind: 'liquidity', pool: poolOf(pool, x, y), sender: owner, reserve0: 130n, reserve1: 60n }
    expect(decoded(meteoraDlmm, transactionOf([call], held))).toEqual([
      { ...step, change: 'remove', amount0: 10n, amount1: 45n },
      { ...step, change: 'add', amount0: 41n, amount1: 5n },
    ])
  })

  it('a rebalanced position whose transfers do not match is rejected', () => {
    const call = position('rebalance_liquidity', 17)
    call.inner.push(moved(x, accountX, reserveX, 31n), reported(DLMM, rebalancing([10n, 40n, 0n, 0n, 0n, 0n])))
    expect(() => decoded(meteoraDlmm, transactionOf([call], held))).toThrow(
      'changed by 30 (or 0 less) in the event and by 31 in the transfers',
    )
  })

  it('what a Token-2022 mint withholds may be missing in the event, but counts as sent', () => {
    const call = position('add_liquidity2', 14, TOKEN_2022)
    call.inner.push(moved(x, accountX, reserveX, 10_000n), moved(y, accountY, reserveY, 7n))
    call.inner.push(reported(DLMM, liquidityEvent('AddLiquidity', pool, owner, 9_950n, 7n)))
    const [unseen] = decoded(meteoraDlmm, transactionOf([call]))
    expect(unseen).toMatchObject({ amount0: 10_000n, amount1: 7n, reserve0: null, reserve1: null })
    const seen = (after: bigint) =>
      decoded(meteoraDlmm, transactionOf([call], reserves(pool, [reserveX, x, 0n, after], [reserveY, y, 0n, 7n])))
    expect(seen(9_950n)).toMatchObject([{ amount0: 10_000n, amount1: 7n, reserve0: 9_950n, reserve1: 7n }])
    expect(() => seen(9_951n)).toThrow('token0 is 9950 in the event and 10000 in the transfers')
  })

  it('an event without its call is ignored, a call without its event is rejected', () => {
    expect(decoded(meteoraDlmm, transactionOf([reported(DLMM, swapEvent(pool, owner, true, 1n, 1n))]))).toEqual([])
    expect(() => decoded(meteoraDlmm, transactionOf([position('add_liquidity2', 14)]))).toThrow(
      'no event for added liquidity',
    )
  })
})
