/** A synthetic chain for benchmarks: many pools, a few of them busy, in blocks of 100 swaps. */
import type { ChainFacts } from '../../services/core/domain/chains.js'
import type { Block, Event, Retract } from '../../services/core/domain/records.js'

export const BENCH_CHAIN = 'eth'
const USDC = address('anchor', 0)
const WETH = address('native', 0)

export const benchFacts: ChainFacts = {
  ...{ chain: BENCH_CHAIN, family: 'evm', title: 'Bench', chainId: 1 },
  ...{ anchor: USDC, stables: [], native: WETH, majors: [] },
}

const SWAPS_PER_BLOCK = 100
export const SECONDS_PER_BLOCK = 2
const START_S = 1_704_412_800
const FINALITY = 64
const DEEPEST_REORG = 5

export type WorkloadPlan = {
  pools: number
  wallets: number
  blocks: number
  /** 3 by default: the first pools get most of the trades; 1: all get the same. */
  skew?: number
}

/** Block 0 describes everything; every other block holds swaps. */
export function* benchBlocks(plan: WorkloadPlan): Generator<Block> {
  const market = new Market(plan, SWAPS_PER_BLOCK)
  yield block(0, describe(plan.pools))
  for (let number = 1; number <= plan.blocks; number += 1) yield block(number, market.swaps(number))
}

export type BenchLine = ({ kind: 'block' } & Block) | ({ kind: 'retract' } & Retract)

/** The same with reorgs: after every so many blocks some have to be taken back, and others take their place. */
export function* benchReorgs(
  plan: WorkloadPlan & { swapsPerBlock: number; blocksPerReorg: number },
): Generator<BenchLine> {
  const { pools, blocks, swapsPerBlock, blocksPerReorg } = plan
  const market = new Market(plan, swapsPerBlock)
  yield { kind: 'block', ...block(0, describe(pools)) }
  for (let number = 1; number <= blocks; number += 1) {
    if (number % blocksPerReorg === 0) {
      const last = number + ((number / blocksPerReorg) % DEEPEST_REORG)
      const undo = market.remember()
      for (let orphan = number; orphan <= last; orphan += 1)
        yield {
          kind: 'block',
          ...block(orphan, market.swaps(orphan), orphan === number ? 'block' : 'orphan', 'orphan'),
        }
      undo()
      yield {
        ...{ kind: 'retract', chain: BENCH_CHAIN },
        ...{ from_number: last, from_hash: hash('orphan', last) },
        ...{ to_number: number - 1, to_hash: hash('block', number - 1) },
      }
    }
    yield { kind: 'block', ...block(number, market.swaps(number)) }
  }
}

/** Native at 2,000 USD, tokens at 0.4, so that every trade is good and updates candles. */
class Market {
  private reserves: Reserves[]
  private seed = 1

  constructor(
    private readonly plan: WorkloadPlan,
    private readonly swapsPerBlock: number,
  ) {
    this.reserves = Array.from({ length: plan.pools + 1 }, (_, pool) =>
      pool === 0 ? { target: 5_000, quote: 10_000_000 } : { target: 5_000_000, quote: 1_000 },
    )
  }

  swaps(number: number): Event[] {
    const { pools, wallets, skew = 3 } = this.plan
    const events: Event[] = []
    for (let log = 0; log < this.swapsPerBlock; log += 1) {
      const pool = Math.floor(this.random() ** skew * (pools + 1))
      const wallet = address('wallet', Math.floor(this.random() ** 2 * wallets))
      const [size, sell] = [this.random(), this.random() < 0.5]
      events.push(swap(pool, log, number, wallet, size, sell, this.reserves[pool] as Reserves))
    }
    return events
  }

  /** Returns what takes the reserves back to what they are now. The next trades are others. */
  remember(): () => void {
    const before = this.reserves.map((reserves) => ({ ...reserves }))
    return () => {
      this.reserves = before
    }
  }

  private random(): number {
    this.seed = (Math.imul(this.seed, 1_664_525) + 1_013_904_223) >>> 0
    return this.seed / 2 ** 32
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

function block(number: number, events: Event[], parentFork = 'block', fork = 'block'): Block {
  return {
    ...{ chain: BENCH_CHAIN, number, hash: hash(fork, number), parent_hash: hash(parentFork, number - 1) },
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
