/** A day of a real pool: every raw log decoded, against an independent decode and against the recording made from it. */
import { describe, expect, it } from 'vitest'
import type { VenueEvent } from '../../../../services/ingest/decode/evm/protocol.js'
import { uniswapV3 } from '../../../../services/ingest/decode/evm/protocols/uniswap-v3/uniswap-v3.js'
import { v3State } from '../../../../services/ingest/decode/evm/protocols/uniswap-v3/v3-pool.js'
import { gunzip, hasDay, DAY_POOL as POOL, RECORDING, readCsv, readDay } from './mainnet-day.js'
import { play } from './rig.js'

/** More than the day takes out, so that the pool never runs dry: the files do not contain earlier reserves. */
const START = [10n ** 18n, 10n ** 27n] as const

describe.skipIf(!hasDay)('a day of a mainnet pool', () => {
  const logs = hasDay ? readDay() : []
  const { state, events } = play(uniswapV3, POOL, v3State(START), logs)
  const trades = events.filter(({ kind }) => kind === 'swap' || kind === 'liquidity')

  it('every swap, mint and burn equals the independent decode', () => {
    const decoded = readCsv('decoded.csv.gz').filter(({ tx_type }) => tx_type !== 'COLLECT')
    expect(trades).toHaveLength(6169)
    expect(trades.map(decodedRow)).toEqual(
      decoded.map((row) => ({
        place: `${row.block_number}:${row.tx_index}:${row.log_index}:${row.transaction_hash}`,
        type: row.tx_type,
        sender: row.sender,
        recipient: row.receipt,
        amount0: row.amount0,
        amount1: row.amount1,
        sqrtPrice: row.tx_type === 'SWAP' ? row.sqrtPriceX96 : '',
      })),
    )
  })

  it('every event equals the recording', () => {
    const recorded = gunzip(RECORDING)
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => {
        const block = JSON.parse(line) as { number: number; events: Record<string, unknown>[] }
        return block.events.map(({ wallet: _, ...event }) => ({ block: block.number, ...event }))
      })
      .filter((event) => 'sender' in event)
    expect(trades.map(recordedEvent)).toEqual(recorded)
  })

  it('the reserves at the end are those of a plain sum over the independent decode', () => {
    const sums = [...START] as [bigint, bigint]
    for (const { tx_type, amount0 = '', amount1 = '' } of readCsv('decoded.csv.gz')) {
      if (tx_type === 'BURN') continue
      const sign = tx_type === 'COLLECT' ? -1n : 1n
      sums[0] += sign * BigInt(amount0)
      sums[1] += sign * BigInt(amount1)
    }
    expect(state.reserves).toEqual(sums)
    expect(events.at(-1)?.reserves).toEqual(sums)
  })
})

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
