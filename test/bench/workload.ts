/** A synthetic chain for benchmarks: many pools, a few of them busy, in blocks of 100 swaps. */
import type { ChainFacts } from '../../services/core/domain/chains.js'
import type { Block, Event } from '../../services/core/domain/records.js'

export const BENCH_CHAIN = 'eth'
const USDC = address('anchor', 0)
const WETH = address('native', 0)

export const benchFacts: ChainFacts = {
  ...{ chain: BENCH_CHAIN, family: 'evm', title: 'Bench', chainId: 1 },
  ...{ anchor: USDC, stables: [], native: WETH, majors: [] },
}

const SWAPS_PER_BLOCK = 100
const SECONDS_PER_BLOCK = 2
const START_S = 1_704_412_800
const FINALITY = 64

export type WorkloadPlan = {
  pools: number
  wallets: number
  blocks: number
  /** 3 by default: the first pools get most of the trades; 1: all get the same. */
  skew?: number
}

/** Block 0 describes everything; every other block holds swaps. */
export function* benchBlocks({ pools, wallets, blocks, skew = 3 }: WorkloadPlan): Generator<Block> {
  yield block(0, describe(pools))
  // Native at 2,000 USD, tokens at 0.4, so that every trade is good and updates candles.
  const reserves = Array.from({ length: pools + 1 }, (_, pool) =>
    pool === 0 ? { target: 5_000, quote: 10_000_000 } : { target: 5_000_000, quote: 1_000 },
  )
  let seed = 1
  const random = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed / 2 ** 32
  }
  for (let number = 1; number <= blocks; number += 1) {
    const events: Event[] = []
    for (let log = 0; log < SWAPS_PER_BLOCK; log += 1) {
      const pool = Math.floor(random() ** skew * (pools + 1))
      const wallet = address('wallet', Math.floor(random() ** 2 * wallets))
      events.push(swap(pool, log, number, wallet, random(), random() < 0.5, reserves[pool] as Reserves))
    }
    yield block(number, events)
  }
}

type Reserves = { target: number; quote: number }

/** Pool 0 is native against the anchor, the others tokens against native; constant product without fee. */
function swap(
  pool: number,
  log: number,
  number: number,
  wallet: string,
  size: number,
  sell: boolean,
  r: Reserves,
): Event {
  const target = pool === 0 ? WETH : address('token', pool)
  const quote = pool === 0 ? USDC : WETH
  const product = r.target * r.quote
  const quoteMoved = r.quote * (0.0001 + size * 0.002)
  const quoteAfter = sell ? r.quote - quoteMoved : r.quote + quoteMoved
  const targetMoved = Math.abs(r.target - product / quoteAfter)
  r.target = product / quoteAfter
  r.quote = quoteAfter
  const [targetRaw, quoteRaw] = [raw(targetMoved), raw(quoteMoved)]
  return {
    ...{ type: 'swap', tx_index: log, log_index: log * 3, sub: 0, tx_hash: hash('tx', number * 1000 + log) },
    ...{ pool: address('pool', pool), amm: 'uniswapv2', sender: address('router', 0), recipient: wallet, wallet },
    ...{ token_in: sell ? target : quote, amount_in: sell ? targetRaw : quoteRaw },
    ...{ token_out: sell ? quote : target, amount_out: sell ? quoteRaw : targetRaw },
    ...{ reserve0: raw(r.target), reserve1: raw(r.quote), sqrt_price: null, profile: null },
  } as Event
}

function describe(pools: number): Event[] {
  const events: Event[] = []
  const place = () => ({ tx_index: 0, log_index: events.length, sub: 0, tx_hash: hash('tx', 0) })
  const token = (name: string, at: string) =>
    events.push({ type: 'token', ...place(), token: at, name, symbol: name, decimals: 18, total_supply: null })
  token('USDC', USDC)
  token('WETH', WETH)
  for (let pool = 0; pool <= pools; pool += 1) {
    const target = pool === 0 ? WETH : address('token', pool)
    if (pool > 0) token(`T${pool}`, target)
    const tokens = { token0: target, token1: pool === 0 ? USDC : WETH }
    events.push({
      type: 'pool',
      ...place(),
      pool: address('pool', pool),
      amm: 'uniswapv2',
      ...tokens,
      fee: 3000,
      creator: null,
    })
  }
  return events
}

function block(number: number, events: Event[]): Block {
  return {
    ...{ chain: BENCH_CHAIN, number, hash: hash('block', number), parent_hash: hash('block', number - 1) },
    ...{ time: START_S + number * SECONDS_PER_BLOCK, finalized_number: Math.max(0, number - FINALITY) },
    ...{ part: 0, last_part: 0, events },
  }
}

function raw(amount: number): string {
  return `${BigInt(Math.max(1, Math.round(amount * 1e6)))}000000000000`
}

export function address(kind: string, n: number): string {
  return `0x${digits(kind, n).slice(0, 40)}`
}

export function hash(kind: string, n: number): string {
  return `0x${digits(kind, n)}`
}

function digits(kind: string, n: number): string {
  let state = n + 1
  for (const letter of kind) state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193)
  let text = ''
  while (text.length < 64) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9
    text += (state >>> 0).toString(16).padStart(8, '0')
  }
  return `${text.slice(0, 56)}${n.toString(16).padStart(8, '0')}`
}
