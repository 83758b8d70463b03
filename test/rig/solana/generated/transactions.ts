/** Generated transactions of every decoded exchange, in the encoding `json`, each with the events a decoder must return. */
import type { JsonTransaction } from '../../../ingest/decode/solana/encodings.js'
import { callBytes, u64s } from '../borsh.js'
import { randomFrom } from '../seeded.js'
import { createDbc, createLaunchLab, launchLabCurve, tradeDbc, tradeLaunchLab } from './curves.js'
import { createPump, tradeMoonshot, tradePump } from './lamport-curves.js'
import { changeDammV2, changeDlmm, swapDammV1, swapDammV2, swapDlmm } from './meteora.js'
import { changeOrca, swapOrca } from './orca.js'
import { changePumpAmm, tradePumpAmm } from './pump-amm.js'
import { changeClmm, changeCpmm, changeRaydiumV4, swapClmm, swapCpmm, swapRaydiumV4 } from './raydium.js'
import { type ExpectedEvent, type Pair, Scene, SOL, type Trade, USDC } from './scene.js'

export type GeneratedTransaction = {
  name: string
  slot: number
  value: JsonTransaction
  /** Swaps, liquidity, launches and named tokens in order, with the fields that the generator knows. */
  expected: readonly ExpectedEvent[]
}

type Swap = (scene: Scene, trade: Trade) => void
type Change = (scene: Scene, pair: Pair, isAdded: boolean) => void

const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'
const FIRST_SLOT = 290_000_000

/** SOL against dollars: without it nothing has a price in dollars. */
export const SOL_USDC_SWAP = 'generated/raydium-clmm swap of SOL and USDC'
/** Its program’s log repeats what its transfers say. */
export const RAYDIUM_V4_SWAP = 'generated/raydium-v4 swap'
export const PUMP_BUY = 'generated/pump buy'
export const PUMP_SELL = 'generated/pump sell'
export const PUMP_CREATE = 'generated/pump create'
export const ROUTE = 'generated/route over orca, meteora-dlmm and raydium-cpmm'

const swapOf =
  (swap: Swap, isSorted = false) =>
  (scene: Scene) =>
    swap(scene, scene.trade(scene.pair('a', [scene.token('a'), SOL], isSorted)))

/** With a token that withholds a part of each transfer. */
const feeSwapOf =
  (swap: Swap, isSorted = false) =>
  (scene: Scene) =>
    swap(scene, scene.trade(scene.pair('a', [scene.feeToken('a'), SOL], isSorted)))

const changeOf =
  (change: Change, isAdded: boolean, isSorted = false) =>
  (scene: Scene) =>
    change(scene, scene.pair('a', [scene.token('a'), isAdded ? USDC : SOL], isSorted), isAdded)

const SCENES: Readonly<Record<string, (scene: Scene) => void>> = {
  [PUMP_CREATE]: createPump,
  [PUMP_BUY]: (scene) => tradePump(scene, true, 4),
  [PUMP_SELL]: (scene) => tradePump(scene, false, 3),
  'generated/pump buy of the first version': (scene) => tradePump(scene, true, 1),
  'generated/pump sell of the second version': (scene) => tradePump(scene, false, 2),
  'generated/pump-amm buy': (scene) => tradePumpAmm(scene, scene.pair('a', [scene.token('a'), SOL]), true),
  'generated/pump-amm sell': (scene) => tradePumpAmm(scene, scene.pair('a', [scene.token('a'), SOL]), false),
  'generated/pump-amm deposit': changeOf(changePumpAmm, true),
  'generated/pump-amm withdraw': changeOf(changePumpAmm, false),
  [RAYDIUM_V4_SWAP]: swapOf((scene, trade) => swapRaydiumV4(scene, trade, false)),
  'generated/raydium-v4 short swap': swapOf((scene, trade) => swapRaydiumV4(scene, trade, true)),
  'generated/raydium-v4 deposit': changeOf(changeRaydiumV4, true),
  'generated/raydium-v4 withdraw': changeOf(changeRaydiumV4, false),
  'generated/raydium-cpmm swap': swapOf(swapCpmm, true),
  'generated/raydium-cpmm swap with a transfer fee': feeSwapOf(swapCpmm, true),
  'generated/raydium-cpmm deposit': changeOf(changeCpmm, true, true),
  'generated/raydium-cpmm withdraw': changeOf(changeCpmm, false, true),
  [SOL_USDC_SWAP]: (scene) => swapClmm(scene, scene.trade(solUsdc(scene))),
  'generated/raydium-clmm swap with a transfer fee': feeSwapOf(swapClmm, true),
  'generated/raydium-clmm increase': changeOf(changeClmm, true, true),
  'generated/raydium-clmm decrease': changeOf(changeClmm, false, true),
  'generated/launchlab create': createLaunchLab,
  'generated/launchlab buy': (scene) => tradeLaunchLab(scene, launchLabCurve(scene), true),
  'generated/launchlab sell': (scene) => tradeLaunchLab(scene, launchLabCurve(scene), false),
  'generated/orca swap': swapOf(swapOrca),
  'generated/orca swap without an event': swapOf((scene, trade) => swapOrca(scene, trade, true)),
  'generated/orca swap with a transfer fee': feeSwapOf(swapOrca),
  'generated/orca increase': changeOf(changeOrca, true),
  'generated/orca decrease': changeOf(changeOrca, false),
  'generated/meteora-dlmm swap': swapOf((scene, trade) => swapDlmm(scene, trade, false)),
  'generated/meteora-dlmm swap told twice': swapOf((scene, trade) => swapDlmm(scene, trade, true)),
  'generated/meteora-dlmm add': changeOf(changeDlmm, true),
  'generated/meteora-dlmm remove': changeOf(changeDlmm, false),
  'generated/meteora-damm-v1 swap': swapOf(swapDammV1),
  'generated/meteora-damm-v2 swap': swapOf(swapDammV2),
  'generated/meteora-damm-v2 swap with a transfer fee': feeSwapOf(swapDammV2),
  'generated/meteora-damm-v2 add': changeOf(changeDammV2, true),
  'generated/meteora-damm-v2 remove': changeOf(changeDammV2, false),
  'generated/meteora-dbc create': createDbc,
  'generated/meteora-dbc swap': swapOf(tradeDbc),
  'generated/moonshot buy': (scene) => tradeMoonshot(scene, true),
  'generated/moonshot sell': (scene) => tradeMoonshot(scene, false),
  [ROUTE]: (scene) => route(scene, [swapOrca, swapDlmm, swapCpmm]),
  'generated/route over raydium-v4 and meteora-damm-v1': (scene) =>
    route(scene, [(legs, trade) => swapRaydiumV4(legs, trade, false), swapDammV1]),
}

/** Real proportions: one SOL is about 150 dollars. */
function solUsdc(scene: Scene): Pair {
  const pair = scene.pair('sol-usdc', [SOL, USDC], true)
  for (const [side, vault] of pair.vaults.entries()) {
    const amount = pair.tokens[side]?.mint === SOL.mint ? 20_000_000_000_000n : 3_000_000_000_000n
    scene.runtime.hold(vault, side === 0 ? pair.tokens[0] : pair.tokens[1], pair.address, amount)
  }
  return pair
}

/** An aggregator calls one exchange after another, each paid with the output of the one before. */
function route(scene: Scene, swaps: readonly Swap[]): void {
  const tokens = [SOL, ...swaps.map((_, at) => scene.token(`${at}`))]
  const pairs = swaps.map((_, at) => scene.pair(`${at}`, [tokens[at] ?? SOL, tokens[at + 1] ?? SOL], true))
  const source = scene.purse(SOL, 1_000_000_000n)
  const destinations = tokens.slice(1).map((token) => scene.runtime.give(scene.trader, token, 0n))
  const accounts = [scene.trader, source, ...destinations, ...pairs.map(({ address }) => address)]
  scene.runtime.call(JUPITER, accounts, callBytes('route', u64s(1_000_000_000n, 0n)), () => {
    let paying = { source, amountIn: 50_000_000n }
    for (const [at, swap] of swaps.entries()) {
      const pair = pairs[at]
      const destination = destinations[at] ?? ''
      if (pair === undefined) continue
      const side = pair.tokens[0].mint === tokens[at]?.mint ? 0 : 1
      const trade = scene.tradeBetween(pair, side, paying.source, destination, paying.amountIn)
      swap(scene, trade)
      paying = { source: destination, amountIn: trade.amountOut }
    }
  })
}

const made = new Map<number, readonly GeneratedTransaction[]>()

/** All transactions of a seed. */
export function generatedTransactions(seed = 1): readonly GeneratedTransaction[] {
  const known = made.get(seed)
  if (known !== undefined) return known
  const transactions = Object.entries(SCENES).map(([name, play], at) => {
    const scene = new Scene(`${name} ${seed}`, randomFrom(`${name} ${seed}`))
    play(scene)
    return { name, slot: FIRST_SLOT + at, value: scene.finish(), expected: scene.expected }
  })
  made.set(seed, transactions)
  return transactions
}

export function generatedTransaction(name: string, seed = 1): GeneratedTransaction {
  const found = generatedTransactions(seed).find((each) => each.name === name)
  if (found === undefined) throw new Error(`no generated transaction ${name}`)
  return found
}
