/** Speed of the simulator, compared with a bare constant-product loop in the same run. */
import { fileURLToPath } from 'node:url'
import { BUILT_IN_CHAINS } from '../../services/core/config/built-in-chains.js'
import { interleave } from '../../services/ingest/sources/simulator/simulator.js'
import { type Measured, measure, printTable } from './measure.js'

const SWAPS_PER_S = 50_000
const LIVE_S = 12
const HISTORY_S = 60
/** Limit for a swap with wallets, balances, hashes and event, as a multiple of a bare swap. */
const LIMIT = 25

export async function benchSimulator(): Promise<boolean> {
  const chains = BUILT_IN_CHAINS.filter(({ chain }) => ['eth', 'bsc', 'solana'].includes(chain))
  const startS = 1_763_000_000
  const markets = interleave({ seed: 1, chains, startS, historyS: HISTORY_S, historySwaps: 20_000 })
  const play = (untilMs: number): number => {
    let swaps = 0
    while (markets.nextMs < untilMs) {
      const record = markets.advance(SWAPS_PER_S)
      if (record?.kind === 'block') for (const event of record.block.events) if (event.type === 'swap') swaps += 1
    }
    return swaps
  }
  play((startS + HISTORY_S) * 1000)
  let swaps = 0
  const simulated = await measure('simulated', () => {
    swaps = play((startS + HISTORY_S + LIVE_S) * 1000)
  })
  let letters = 0
  const bare = await measure('constant product alone', () => {
    letters = bareSwaps(swaps)
  })
  if (letters === 0) throw new Error('nothing was swapped')
  const ratio = simulated.cpuS / bare.cpuS
  const row = ({ name, cpuS, wallS }: Measured) => [name, (cpuS / swaps) * 1e6, swaps / cpuS, swaps / wallS]
  printTable(`Making up a market (${swaps.toLocaleString('en')} swaps)`, [
    ['', 'CPU µs/swap', 'swaps/CPU-s', 'swaps/s'],
    row(simulated),
    row(bare),
  ])
  console.log(`  simulated ÷ bare = ${ratio.toFixed(1)} (limit ${LIMIT})${ratio > LIMIT ? '  TOO MUCH' : ''}`)
  return ratio <= LIMIT
}

/** Swaps back and forth, formatting the four amounts. */
function bareSwaps(count: number): number {
  let [reserve0, reserve1] = [5_000n * 10n ** 18n, 15_000_000n * 10n ** 6n]
  let letters = 0
  for (let swap = 0; swap < count; swap += 1) {
    const amountIn = swap % 2 === 0 ? 10n ** 15n + BigInt(swap) : 3_000_000n + BigInt(swap)
    const [reserveIn, reserveOut] = swap % 2 === 0 ? [reserve0, reserve1] : [reserve1, reserve0]
    const amountOut = (amountIn * 9970n * reserveOut) / (reserveIn * 10_000n + amountIn * 9970n)
    reserve0 += swap % 2 === 0 ? amountIn : -amountOut
    reserve1 += swap % 2 === 0 ? -amountOut : amountIn
    letters += `${amountIn}${amountOut}${reserve0}${reserve1}`.length
  }
  return letters
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await benchSimulator()) ? 0 : 1
