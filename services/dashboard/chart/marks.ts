/** Trades and liquidity events as marks on the chart. */
import { ask } from '../app/session.js'
import { toNumber, usdShort } from '../show/format.js'
import type { Mark } from './draw-chart.js'

const TRADES = 300
/** Only the largest: a mark per trade would hide the candles. */
const SHOWN = 40
const EVENTS = 100

export async function readTradeMarks(pairId: string, signal: AbortSignal): Promise<Mark[]> {
  const [{ txs }, pair] = await Promise.all([
    ask('txsSwap', { pair_id: pairId, limit: TRADES, sort: 'desc' }, signal),
    ask('pairDetail', { pair_id: pairId }, signal),
  ])
  return txs
    .toSorted((a, b) => toNumber(b.amount_usd) - toNumber(a.amount_usd))
    .slice(0, SHOWN)
    .map((swap) => ({
      timeS: swap.tx_time,
      kind: swap.to_token_address === pair?.target_token ? 'buy' : 'sell',
      text: usdShort(swap.amount_usd),
    }))
}

export async function readLiquidityMarks(pairId: string, signal: AbortSignal): Promise<Mark[]> {
  const { txs } = await ask('txsLiq', { pair_id: pairId, limit: EVENTS, sort: 'desc' }, signal)
  return txs.map((event) => ({
    timeS: event.tx_time,
    kind: event.type === 'removeLiquidity' ? 'remove' : 'add',
    text: usdShort(event.amount_usd),
  }))
}
