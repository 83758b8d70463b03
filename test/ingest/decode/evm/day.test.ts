/** One day of a pool: every raw log decoded, compared with an independent decoder and with the recording made from it. */
import { describe, expect, it } from 'vitest'
import type { VenueEvent } from '../../../../services/ingest/decode/evm/protocol.js'
import { uniswapV3 } from '../../../../services/ingest/decode/evm/protocols/uniswap-v3/uniswap-v3.js'
import { v3State } from '../../../../services/ingest/decode/evm/protocols/uniswap-v3/v3-pool.js'
import { type Day, generatedDay, DAY_POOL as POOL, recordedDay, tradesOf } from '../../../rig/evm/day.js'
import { describeRecorded } from '../../../rig/recordings.js'
import { play } from './rig.js'

/** More than the day takes out, so that the pool never runs dry: the files lack earlier reserves. */
const START = [10n ** 18n, 10n ** 27n] as const

describe('a generated day', () => equalsOthers(generatedDay()))
describeRecorded('a day of a mainnet pool', 3, () => equalsOthers(recordedDay()))

function equalsOthers(day: Day): void {
  const { state, events } = play(uniswapV3, POOL, v3State(START), day.logs())
  const trades = events.filter(({ kind }) => kind === 'swap' || kind === 'liquidity')

  it('every swap, mint and burn equals the independent decode', () => {
    expect(trades).toHaveLength(day.swaps + day.liquidity)
    expect(trades.map(decodedRow)).toEqual(day.decoded().filter(({ type }) => type !== 'COLLECT'))
  })

  it('every event equals the recording', () => {
    const recorded = tradesOf(day.lines()).map((event) => {
      const { wallet: _, ...rest } = event as typeof event & { wallet?: string }
      return rest
    })
    expect(trades.map(recordedEvent)).toEqual(recorded)
  })

  it('the final reserves equal the sum over the independent decode', () => {
    const sums = [...START] as [bigint, bigint]
    for (const { type, amount0, amount1 } of day.decoded()) {
      if (type === 'BURN') continue
      const sign = type === 'COLLECT' ? -1n : 1n
      sums[0] += sign * BigInt(amount0)
      sums[1] += sign * BigInt(amount1)
    }
    expect(state.reserves).toEqual(sums)
    expect(events.at(-1)?.reserves).toEqual(sums)
  })
}

function decodedRow(event: VenueEvent) {
  const { log } = event
  const place = `${log.blockNumber}:${log.txIndex}:${log.logIndex}:${log.txHash}`
  if (event.kind === 'swap') {
    const { tokenIn, amountIn, amountOut, sender, recipient, sqrtPrice } = event
    const [amount0, amount1] = tokenIn === 0 ? [amountIn, -amountOut] : [-amountOut, amountIn]
    return {
      place,
      type: 'SWAP',
      sender,
      recipient,
      amount0: `${amount0}`,
      amount1: `${amount1}`,
      sqrtPrice: `${sqrtPrice}`,
    }
  }
  if (event.kind !== 'liquidity') throw new Error(`not in the files: ${event.kind}`)
  const { change, sender, amounts } = event
  const type = change === 'add' ? 'MINT' : 'BURN'
  return { place, type, sender, recipient: '', amount0: `${amounts[0]}`, amount1: `${amounts[1]}`, sqrtPrice: '' }
}

function recordedEvent(event: VenueEvent) {
  const { log } = event
  const head = { block: log.blockNumber, tx_index: log.txIndex, log_index: log.logIndex, tx_hash: log.txHash }
  const pool = { pool: POOL.id, amm: POOL.amm }
  if (event.kind === 'swap') {
    const { sender, recipient, tokenIn, tokenOut, amountIn, amountOut, sqrtPrice } = event
    const tokens = { token_in: POOL.tokens[tokenIn], token_out: POOL.tokens[tokenOut] }
    const amounts = { amount_in: `${amountIn}`, amount_out: `${amountOut}`, sqrt_price: `${sqrtPrice}` }
    return { type: 'swap', ...head, ...pool, sender, recipient, ...tokens, ...amounts }
  }
  if (event.kind !== 'liquidity') throw new Error(`not in the recording: ${event.kind}`)
  const { change, sender, amounts } = event
  return {
    type: 'liquidity',
    ...head,
    ...pool,
    kind: change,
    sender,
    amount0: `${amounts[0]}`,
    amount1: `${amounts[1]}`,
  }
}
