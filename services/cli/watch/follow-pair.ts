/** A pair as it changes: its trades, candles and statistics, kept current by subscriptions that resume after a lost connection. */

import type { Interval, PairDetail, Subscription } from '../../../clients/typescript/src/index.js'
import { type Client, createClient, type Swap } from '../../../clients/typescript/src/index.js'
import { printable } from '../../core/runtime/terminal.js'
import type { Candle } from './candle-chart.js'
import type { Trade } from './screen.js'

export type PairEvent =
  | { kind: 'trade'; trade: Trade }
  /** A reorg removed these trades. */
  | { kind: 'retract'; ids: readonly string[] }
  | { kind: 'candle'; candle: Candle }
  /** Something is missing that could not be read: read the history again. */
  | { kind: 'gap' }

export type PairId = { address: string; chain: string; targetToken: string }

export interface PairFeed {
  trades(): AsyncGenerator<PairEvent>
  candles(interval: Interval): AsyncGenerator<PairEvent>
  /** The last ones, oldest first. */
  lastTrades(limit: number): Promise<Trade[]>
  lastCandles(interval: Interval, limit: number): Promise<Candle[]>
  detail(): Promise<PairDetail | null>
  close(): void
}

type FeedOptions = { url: string; key: string; pair: PairId; onRetry: (error: unknown) => void; signal: AbortSignal }

export function createPairFeed({ url, key, pair, onRetry, signal }: FeedOptions): PairFeed {
  const client: Client = createClient({ url, key, onRetry, maxBackoffMs: 5000 })
  const { address, chain, targetToken } = pair
  const pair_id = `${address}-${chain}`
  const tradeOfSwap = (swap: Swap) => fromSwap(swap, targetToken)

  async function* trades(): AsyncGenerator<PairEvent> {
    const pushes: Subscription<'tx'> = client.subscribe(['tx', address, chain], { signal })
    for await (const item of pushes) {
      if (item.topic === 'tx') yield { kind: 'trade', trade: fromPush(item.tx) }
      else if (item.topic === 'retract') yield { kind: 'retract', ids: item.ids }
      else if (item.topic === 'gap') yield { kind: 'gap' }
      else if (item.topic === 'refill') {
        if (item.retracted.length > 0) yield { kind: 'retract', ids: item.retracted }
        for (const swap of item.items) yield { kind: 'trade', trade: tradeOfSwap(swap) }
      }
    }
  }

  async function* candles(interval: Interval): AsyncGenerator<PairEvent> {
    for await (const item of client.subscribe(['kline', address, interval, chain], { signal, snapshot: true })) {
      if (item.topic === 'kline') {
        const { usd } = item.kline
        if (usd !== undefined && usd !== null) yield { kind: 'candle', candle: numbersOf(usd) }
      } else if (item.topic === 'gap') yield { kind: 'gap' }
      else if (item.topic === 'refill')
        for (const candle of item.items) yield { kind: 'candle', candle: numbersOf(candle) }
    }
  }

  return {
    trades,
    candles,
    async lastTrades(limit) {
      const { txs } = await client.txsSwap({ pair_id, limit, sort: 'desc' }, { signal })
      return txs.map(tradeOfSwap).reverse()
    },
    async lastCandles(interval, limit) {
      const { points } = await client.klinesPair({ pair_id, interval, limit }, { signal })
      return points.map(numbersOf)
    },
    detail: () => client.pairDetail({ pair_id }, { signal }),
    close: () => client.close(),
  }
}

type Bar = { time: number; open: string; high: string; low: string; close: string }

function numbersOf({ time, open, high, low, close }: Bar): Candle {
  return { timeS: time, open: Number(open), high: Number(high), low: Number(low), close: Number(close) }
}

/** A known number, or not a number. */
export const numberOf = (text: string | null | undefined): number =>
  text === null || text === undefined || text === '' ? Number.NaN : Number(text)

type Push = Extract<Awaited<ReturnType<Subscription<'tx'>['next']>>['value'], { topic: 'tx' }>['tx']

function fromPush(tx: Push): Trade {
  const isBuy = tx.direction === 'buy'
  return {
    ...{ id: tx.id, timeS: tx.time, side: isBuy ? 'buy' : 'sell', wallet: tx.wallet_address },
    amount: numberOf(isBuy ? tx.to_amount : tx.from_amount),
    symbol: printable(isBuy ? tx.to_symbol : tx.from_symbol),
    priceUsd: numberOf(isBuy ? tx.to_price_usd : tx.from_price_usd),
    amountUsd: numberOf(tx.amount_usd),
  }
}

function fromSwap(swap: Swap, targetToken: string): Trade {
  const isBuy = swap.to_token_address === targetToken
  return {
    ...{ id: swap.id, timeS: swap.tx_time, side: isBuy ? 'buy' : 'sell', wallet: swap.wallet_address },
    amount: numberOf(isBuy ? swap.to_token_amount : swap.from_token_amount),
    symbol: printable(isBuy ? swap.to_token_symbol : swap.from_token_symbol),
    priceUsd: numberOf(isBuy ? swap.to_token_price_usd : swap.from_token_price_usd),
    amountUsd: numberOf(swap.amount_usd),
  }
}
