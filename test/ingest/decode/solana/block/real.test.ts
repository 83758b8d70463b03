/** Recorded transactions compared with the output of other decoders. */
import { expect, it } from 'vitest'
import type { SwapEvent } from '../../../../../services/core/domain/records.js'
import { WRAPPED_SOL } from '../../../../../services/ingest/decode/solana/native-programs.js'
import { describeRecorded, hasRecordings } from '../../../../rig/recordings.js'
import { everyTransaction, realTransaction, sharedJson } from '../real-transactions.js'
import { decoded, USDC } from './decoded.js'

type Expected = {
  fixture: string
  actions: { expected: Record<string, string> }[]
}

const swapsOf = (value: unknown, slot: number): SwapEvent[] =>
  decoded(value, slot).events.filter((event) => event.type === 'swap')

/** Programs whose expected amounts are those of one pool; the others report a whole route. */
const POOL_SWAPS = new Set(['PumpFun', 'raydium_liquidity_pool_v4.ProgramName', 'photon_program.ProgramName'])
const ROUTES = new Set(['jupiter_aggregator_v6.ProgramName', 'okx_dex_aggregation_router_v2.ProgramName'])

/** Also routes over HyaB3W… and Phoenix's order book. */
const MIXED_ROUTE = 'jupiterAggregatorV6_sharedAccountsRoute_1.json'

const tests = hasRecordings
  ? (sharedJson('tx-parser/expected.json') as Expected[]).flatMap(({ fixture, actions }) =>
      actions.map(({ expected }) => ({
        fixture,
        name: `${expected.ProgramName} ${expected.InstructionName}`,
        expected,
      })),
    )
  : []
const trades = tests.filter(({ expected }) => expected.FromToken !== undefined)

describeRecorded('compared with another decoder', 13, () => {
  it('includes trades of pools and of routes', () => {
    expect(trades.filter(({ expected }) => POOL_SWAPS.has(expected.ProgramName ?? '')).length).toBe(5)
    expect(trades.filter(({ expected }) => ROUTES.has(expected.ProgramName ?? '')).length).toBe(4)
  })

  it.each(trades.filter(({ expected }) => POOL_SWAPS.has(expected.ProgramName ?? '')))(
    '$fixture: $name',
    ({ fixture, expected }) => {
      const { value, slot } = realTransaction(`tx-parser/${fixture}`)
      const swaps = swapsOf(value, slot)
      expect(swaps).toHaveLength(1)
      expect(swaps[0]).toMatchObject({
        ...{ wallet: expected.Who, sender: expected.Who, recipient: expected.Who },
        ...{ token_in: expected.FromToken, amount_in: expected.FromTokenAmount },
        ...{ token_out: expected.ToToken, amount_out: expected.ToTokenAmount },
      })
    },
  )

  it.each(trades.filter(({ expected, fixture }) => ROUTES.has(expected.ProgramName ?? '') && fixture !== MIXED_ROUTE))(
    '$fixture: $name has connected legs',
    ({ fixture, expected }) => {
      const { value, slot } = realTransaction(`tx-parser/${fixture}`)
      const net = netOf(swapsOf(value, slot))
      // Intermediate tokens of a route net to zero; a platform may take a fee before or after it.
      expect([...net.keys()].filter((token) => net.get(token) !== 0n).sort()).toEqual(
        [expected.FromToken, expected.ToToken].sort(),
      )
      const paid = -(net.get(expected.FromToken ?? '') ?? 0n)
      expect(paid > 0n && paid <= BigInt(expected.FromTokenAmount ?? '')).toBe(true)
      const got = net.get(expected.ToToken ?? '') ?? 0n
      expect(got >= BigInt(expected.ToTokenAmount ?? '')).toBe(true)
    },
  )

  it('a route that includes undecoded exchanges gives the legs of the others', () => {
    const { value, slot } = realTransaction(`tx-parser/${MIXED_ROUTE}`)
    const legs = swapsOf(value, slot).map(({ amm, token_in, amount_in, token_out, amount_out }) => [
      ...[amm, token_in, amount_in, token_out, amount_out],
    ])
    expect(legs).toEqual([
      ['meteora', USDC, '80000000', '85VBFQZC9TZkfaptBWjvUw7YbZjy52A6mjtPGjstQAmQ', '126665141'],
      ['meteora', WRAPPED_SOL, '580838181', 'oreoN2tQbHXVaZsr3pf66A48miqcBXCDJozganhEJgz', '756562732'],
    ])
  })

  it('a created coin is published with its name and symbol', () => {
    const { value, slot } = realTransaction('tx-parser/pumpfun_create_0.json')
    const { expected } = tests.find(({ expected }) => expected.InstructionName === 'Create') ?? {
      expected: {} as Record<string, string>,
    }
    const { events } = decoded(value, slot)
    expect(events.slice(0, 4)).toMatchObject([
      { type: 'token', token: expected.Mint, name: expected.Name, symbol: expected.Symbol, decimals: 6 },
      { type: 'token', decimals: 9 },
      { type: 'pool', pool: expected.BondingCurve, amm: 'pump', token0: expected.Mint, creator: expected.Who },
      { type: 'launch', token: expected.Mint, stage: 'created', progress: 0, pool: expected.BondingCurve },
    ])
  })

  it('DLMM legs have the amounts of the program’s event', () => {
    const [expected] = sharedJson('anchores/expected_dlmm.json') as {
      signature: string
      expected_event: { amountIn: string; amountOut: string; lbPair: string }
    }[]
    const { value, slot } = realTransaction(`anchores/meteora-dlmm/${expected?.signature}.json`)
    const leg = swapsOf(value, slot).find(({ pool }) => pool === expected?.expected_event.lbPair)
    expect(leg).toMatchObject({
      amm: 'meteora',
      amount_in: expected?.expected_event.amountIn,
      amount_out: expected?.expected_event.amountOut,
    })
  })

  it('a file without a transaction fails with a clear error', () => {
    const { events, lost } = decoded(sharedJson('tx-parser/broken_data_0.json'), 1)
    expect(events).toEqual([])
    expect(lost).toMatchObject([{ reason: 'bad_transaction', detail: expect.stringContaining('must be an object') }])
  })
})

it('no transaction is rejected, and every leg has a distinct position', () => {
  for (const { name, value, slot } of everyTransaction()) {
    const { events, lost } = decoded(value, slot)
    expect(
      lost.map(({ reason, detail }) => `${reason} ${detail}`),
      name,
    ).toEqual([])
    const places = events.map(({ tx_index, log_index, sub }) => (tx_index * 1000 + log_index) * 1000 + sub)
    expect(places, name).toEqual([...new Set(places)].sort((a, b) => a - b))
  }
})
function netOf(swaps: readonly SwapEvent[]): Map<string, bigint> {
  const net = new Map<string, bigint>()
  const add = (token: string, amount: bigint) => net.set(token, (net.get(token) ?? 0n) + amount)
  for (const { token_in, amount_in, token_out, amount_out } of swaps) {
    add(token_in, -BigInt(amount_in))
    add(token_out, BigInt(amount_out))
  }
  return net
}
