/** Random histories of blocks and reorgs as updates, with the surviving trades for a naive count of windows. */
import fc from 'fast-check'
import type { BlockUpdate, PairUpdate, Trade } from '../../services/core/domain/records.js'
import { pairInfo, pairUpdate, T0, TOKEN, tokenInfo, tokenUpdate, trade, update, WETH } from './updates.js'

export const OTHER_TOKEN = `0x${'22'.repeat(20)}`
/** Two pairs of one token, once on each side, and a pair of a token with unknown decimals. */
export const PAIRS = [
  { pair: 'p0', info: pairInfo({ token0: TOKEN, token1: WETH, target: 0 }) },
  { pair: 'p1', info: pairInfo({ token0: WETH, token1: TOKEN, target: 1 }) },
  { pair: 'p2', info: pairInfo({ token0: OTHER_TOKEN, token1: WETH, target: 0 }) },
]
export const TOKENS = [
  { token: TOKEN, decimals: 2, main: 'p1', pairs: ['p0', 'p1'] },
  { token: OTHER_TOKEN, decimals: null, main: 'p2', pairs: ['p2'] },
]
/** A reorg moves `now` back by less than this. */
const REORG_REACH_S = 900

export type Swap = { pair: number; wallet: string; sell: boolean; flags: number; price: number; amount: number }
export type Step = { kind: 'block'; forwardS: number; swaps: Swap[] } | { kind: 'retract'; depth: number }

type Block = { number: number; timeS: number; nowS: number; made: Made[] }
export type Made = { pair: string; timeS: number; block: number; trade: Trade }
export type FoldedStep = {
  update: BlockUpdate
  /** Surviving trades after this update, in event order. */
  made: Made[]
  orphaned: Made[]
}

export const swap: fc.Arbitrary<Swap> = fc.record({
  pair: fc.nat(PAIRS.length - 1),
  wallet: fc.constantFrom('', 'ann', 'ben', 'cy'),
  sell: fc.boolean(),
  flags: fc.constantFrom(0, 0, 0, 1, 4),
  price: fc.integer({ min: 1, max: 1000 }),
  amount: fc.integer({ min: 1, max: 500 }),
})

export function steps(mostBackS: number): fc.Arbitrary<Step[]> {
  const forwardS = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -mostBackS, max: 70 }) },
    { weight: 2, arbitrary: fc.integer({ min: 100, max: 400 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1000, max: 2500 }) },
  )
  const block = fc.record({ kind: fc.constant('block' as const), forwardS, swaps: fc.array(swap, { maxLength: 4 }) })
  const retract = fc.record({ kind: fc.constant('retract' as const), depth: fc.integer({ min: 1, max: 6 }) })
  return fc.array(fc.oneof({ weight: 7, arbitrary: block }, { weight: 1, arbitrary: retract }), {
    minLength: 5,
    maxLength: 60,
  })
}

/** The updates the fold publishes for these steps, with only the fields that windows need. */
export function foldSteps(chain: string, list: readonly Step[]): FoldedStep[] {
  const blocks: Block[] = []
  let highestS = 0
  const first = update({ chain, tokens: TOKENS.map(tokenOf), time: T0, now: T0 })
  const folded: FoldedStep[] = [{ update: first, made: [], orphaned: [] }]
  const head = () => blocks.at(-1) ?? { number: 100, timeS: T0, nowS: T0, made: [] }

  for (const step of list) {
    const seq = folded.length + 1
    const before = blocks.flatMap(({ made }) => made)
    if (step.kind === 'block') {
      const timeS = head().nowS + step.forwardS
      const block: Block = { number: head().number + 1, timeS, nowS: Math.max(head().nowS, timeS), made: [] }
      block.made = step.swaps.map((one, index) => madeOf(block, one, index))
      blocks.push(block)
      highestS = Math.max(highestS, block.nowS)
      const made = [...before, ...block.made]
      const pairs = PAIRS.flatMap((known) => pairOf(known, before, block.made))
      folded.push({ update: update({ chain, seq, ...headOf(block), pairs }), made, orphaned: [] })
      continue
    }
    const orphans: Block[] = []
    for (let remaining = step.depth; remaining > 0; remaining -= 1) {
      const parentNowS = blocks.at(-2)?.nowS ?? T0
      if (parentNowS <= highestS - REORG_REACH_S) break
      orphans.push(...blocks.splice(-1))
    }
    const made = blocks.flatMap((block) => block.made)
    const orphaned = orphans.flatMap((block) => block.made)
    const ids = (pair: string) => orphaned.filter((one) => one.pair === pair).map((one) => one.trade.id)
    const touched = PAIRS.filter(({ pair }) => ids(pair).length > 0)
    const stays = (pair: string) => made.some((one) => one.pair === pair)
    folded.push({
      update: update({
        ...{ chain, seq, kind: 'retract', ...headOf(head()) },
        pairs: touched.filter(({ pair }) => stays(pair)).map((known) => stateOf(known, made, [])),
        retracted: touched.map(({ pair }) => ({ pair, ids: ids(pair), gone: !stays(pair) })),
      }),
      ...{ made, orphaned },
    })
  }
  return folded
}

function tokenOf({ token, decimals, main }: (typeof TOKENS)[number]) {
  return tokenUpdate({ token, info: tokenInfo({ decimals }), main_pair: main })
}

function headOf({ number, timeS, nowS }: Block) {
  return { number, hash: `0x${number}`, time: timeS, now: nowS }
}

function madeOf({ number, timeS }: Block, { pair, wallet, sell, flags, price, amount }: Swap, index: number): Made {
  const raw = { amount_in: sell ? String(amount * 100) : '7', amount_out: sell ? '7' : String(amount * 100) }
  const usd = flags >= 4 ? { price_usd: Number.NaN, amount_usd: Number.NaN } : { price_usd: price, amount_usd: amount }
  const place = { id: `${number}-${index}`, log_index: index }
  return {
    ...{ pair: PAIRS[pair]?.pair ?? '', timeS, block: number },
    trade: trade({ ...place, ...raw, ...usd, sell, flags, wallet }),
  }
}

function pairOf(known: (typeof PAIRS)[number], before: Made[], now: Made[]): PairUpdate[] {
  return now.some(({ pair }) => pair === known.pair) ? [stateOf(known, before, now)] : []
}

function stateOf({ pair, info }: (typeof PAIRS)[number], before: Made[], now: Made[]): PairUpdate {
  const own = (list: Made[]) => list.filter((one) => one.pair === pair)
  const all = own([...before, ...now])
  return pairUpdate({
    pair,
    info: own(before).length > 0 && now.length > 0 ? null : info,
    price_usd: lastPrice(all),
    last_price_usd: lastPrice(own(before)),
    last_trade_at: all.at(-1)?.timeS ?? 0,
    trades: own(now).map((one) => one.trade),
  })
}

export const isGood = ({ trade: { flags } }: Made) => flags === 0
export const lastPrice = (list: Made[]) => list.findLast(isGood)?.trade.price_usd ?? Number.NaN
