/** Updates with one swap in each of many pairs, with amounts and prices of full length as a real market has. */
import { PairState } from '../../services/serve/memory/served-chain.js'
import { txChannel } from '../../services/serve/push/channels.js'
import type { Subscription } from '../../services/serve/push/hub.js'
import { snapshotUpdate, type UpdateSnapshot } from '../../services/serve/push/update-snapshot.js'
import { createRandom } from '../rig/market/random.js'
import { CHAIN, pairInfo, pairUpdate, TOKEN, tokenInfo, trade, update } from '../serve/updates.js'
import { address, hash } from './workload.js'

export const PAIRS = 200
export const SWAPS_PER_UPDATE = 50

const INFO = new Map(Array.from({ length: PAIRS }, (_, index) => [pairAt(index), pairInfo()]))
const TARGET = tokenInfo()
const QUOTE = tokenInfo({ name: 'Wrapped Ether', symbol: 'WETH', decimals: 18 })
const { next } = createRandom(1)
const NO_BUDGET = { takeMemory: () => true, releaseMemory: () => {} }

function pairAt(index: number): string {
  return address('pair', index % PAIRS)
}

export function subscriptionOf(index: number, id: number): Subscription {
  const channel = txChannel(pairAt(index), CHAIN)
  const spec = { canonical: channel, channels: [channel], chains: [CHAIN], refills: () => [], snapshot: () => [] }
  return { topic: 'tx', canonical: channel, id, spec, onSlow: 'disconnect', backlog: undefined, budget: NO_BUDGET }
}

export function updateOfSwaps(seq: number): UpdateSnapshot {
  const quoteUsd = 1000 + next() * 100
  const pairs = Array.from({ length: SWAPS_PER_UPDATE }, (_, n) =>
    pairUpdate({
      pair: pairAt(seq * SWAPS_PER_UPDATE + n),
      info: null,
      tvl: next() * 1e6,
      trades: [swap(seq * 1000 + n, quoteUsd)],
    }),
  )
  const states = new Map(
    pairs.map((pair) => [pair.pair, PairState.of(pair, INFO.get(pair.pair) ?? pairInfo(), 0)] as const),
  )
  const info = (token: string) => (token === TOKEN ? TARGET : QUOTE)
  return snapshotUpdate({
    update: update({ seq, pairs }),
    removedPairs: new Map(),
    closedCandles: [],
    removedCandles: [],
    view: { pair: (name: string) => states.get(name), info, mainPair: () => null },
  })
}

function swap(n: number, quoteUsd: number) {
  const wallet = address('wallet', n)
  return trade({
    ...{ id: `${n}-7`, tx_hash: hash('tx', n), tx_seq: n, sell: next() < 0.5 },
    ...{ sender: address('router', 0), recipient: wallet, wallet },
    ...{ amount_in: integer(18), amount_out: integer(12), reserve0: integer(16), reserve1: integer(22) },
    ...{ price_usd: next() * 3, price_native: next() / 1000, quote_usd: quoteUsd },
    ...{ amount_usd: next() * 1000, amount_native: next() },
  })
}

function integer(digits: number): string {
  return `${Math.floor(1e8 + next() * 9e8)}${Math.floor(next() * 1e9)}`.padEnd(digits, '7').slice(0, digits)
}
