/**
 * Six hours of a chain with 20,000 pools, 200 swaps a second and a reorg every few minutes, played fast through `up --events`, then
 * `dextape verify`. Memory may grow with the trades inside the windows and with nothing else: it is printed beside them. Takes some two
 * hours: `node dist/test/bench/six-hours.js [hours]`.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../rig/http/command.js'
import { dataDirOf, environmentOf, startUp, type Up, type UpPlan } from '../rig/http/up.js'
import { cpuSecondsOf, memoryOf } from '../rig/servers/figures.js'
import { allocatedBytes, filesOf, filesOfParts } from '../rig/store-parts.js'
import { printTable } from './measure.js'
import { BENCH_CHAIN, type BenchLine, benchFacts, benchReorgs, SECONDS_PER_BLOCK } from './workload.js'

const POOLS = 20_000
const WALLETS = 400_000
const SWAPS_PER_S = 200
const BLOCKS_PER_REORG = 100
/** All trades are inside the longest window, and a set can hold who traded where. */
const MOST_HOURS = 20
const SAMPLES = 12
const POLL_MS = 500
/** Four hours took it 39 minutes beside other load. */
const VERIFY_MS = 6 * 3600 * 1000

/** What the trades inside the windows are to the fold: buckets of a minute, and who traded where. */
type Inside = { swaps: number; pairMinutes: number; pairWallets: number }
type Sample = Inside & { memoryMb: number; cpuS: number; diskMb: number }

async function benchSixHours(hours: number): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-six-hours-'))
  try {
    const events = join(folder, 'market.jsonl')
    const insideAfter = writeMarket(events, (hours * 3600) / SECONDS_PER_BLOCK)
    console.log(`Playing ${insideAfter.length.toLocaleString('en')} blocks and retracts`)
    const plan: UpPlan = { folder, events, speed: 'max', chains: [benchFacts], asUser: true }
    const up = await startUp(plan)
    printSamples(await play(up, folder, insideAfter))
    await up.stored(BENCH_CHAIN, insideAfter.length)
    await up.stop()
    return await isVerified(plan)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns what is inside the windows after each line. */
function writeMarket(file: string, blocks: number): Inside[] {
  const swapsPerBlock = SWAPS_PER_S * SECONDS_PER_BLOCK
  const plan = { pools: POOLS, wallets: WALLETS, blocks, skew: 1, swapsPerBlock, blocksPerReorg: BLOCKS_PER_REORG }
  const counter = new InsideCounter()
  const insideAfter: Inside[] = []
  const to = openSync(file, 'w')
  for (const line of benchReorgs(plan)) {
    writeSync(to, `${JSON.stringify(line)}\n`)
    counter.count(line)
    insideAfter.push(counter.inside())
  }
  closeSync(to)
  return insideAfter
}

/** Orphaned trades count too: they are a few in a thousand. */
class InsideCounter {
  private swaps = 0
  private readonly pairMinutes = new Set<string>()
  private readonly pairWallets = new Set<string>()

  count(line: BenchLine): void {
    if (line.kind !== 'block') return
    for (const event of line.events) {
      if (event.type !== 'swap') continue
      this.swaps += 1
      const pool = event.pool.slice(-8)
      this.pairMinutes.add(`${pool} ${Math.floor(line.time / 60)}`)
      this.pairWallets.add(`${pool} ${event.wallet?.slice(-8)}`)
    }
  }

  inside(): Inside {
    return { swaps: this.swaps, pairMinutes: this.pairMinutes.size, pairWallets: this.pairWallets.size }
  }
}

async function play(up: Up, folder: string, insideAfter: readonly Inside[]): Promise<Sample[]> {
  const samples: Sample[] = []
  const lines = insideAfter.length
  for (let n = 1; n <= SAMPLES; n += 1) {
    const seq = await reached(up, Math.floor((n * lines) / SAMPLES))
    const sample = { ...(insideAfter[seq - 1] as Inside), ...usageOf(up, folder) }
    samples.push(sample)
    console.log(`  ${sample.swaps.toLocaleString('en')} swaps, ${Math.round(sample.memoryMb)} MB`)
  }
  return samples
}

/** However long it takes; asking an ended process fails. */
async function reached(up: Up, seq: number): Promise<number> {
  for (;;) {
    const chain = (await up.status()).find(({ chain: name }) => name === BENCH_CHAIN)
    if (chain !== undefined && chain.seq >= seq) return chain.seq
    await sleep(POLL_MS)
  }
}

function usageOf({ pid }: Up, folder: string): { memoryMb: number; cpuS: number; diskMb: number } {
  const data = dataDirOf(folder)
  const files = [...filesOf(join(data, 'log')), ...filesOf(join(data, 'state'))]
  const parts = filesOfParts(filesOf(join(data, 'store')))
  const diskMb = allocatedBytes([...files, ...parts]) / 1e6
  return { memoryMb: memoryOf(pid).anonymousMb, cpuS: cpuSecondsOf(pid), diskMb }
}

function printSamples(samples: readonly Sample[]): void {
  let before = { swaps: 0, cpuS: 0 }
  const rows = samples.map(({ swaps, pairMinutes, pairWallets, memoryMb, cpuS, diskMb }) => {
    const cpuUs = ((cpuS - before.cpuS) / (swaps - before.swaps)) * 1e6
    before = { swaps, cpuS }
    return [swaps, pairMinutes, pairWallets, memoryMb, cpuUs, (diskMb * 1000) / swaps]
  })
  printTable(`${POOLS.toLocaleString('en')} pools, ${SWAPS_PER_S} swaps a second, played fast`, [
    ['swaps', 'minutes of pairs', 'wallets of pairs', 'MB', 'CPU µs/swap', 'disk KB/swap'],
    ...rows,
  ])
}

async function isVerified(plan: UpPlan): Promise<boolean> {
  const options = { cwd: plan.folder, env: environmentOf(plan), asUser: true, withinMs: VERIFY_MS }
  const started = performance.now()
  const { code, out, err } = await runCommand(['verify'], options)
  console.log(out, code === 0 ? '' : err)
  console.log(`  dextape verify: ${Math.round((performance.now() - started) / 1000)} s, exit code ${code}`)
  return code === 0
}

const hours = Number(process.argv[2] ?? 6)
if (!(hours > 0 && hours <= MOST_HOURS))
  throw new Error(`hours: above 0, at most ${MOST_HOURS}; got ${process.argv[2]}`)
process.exitCode = (await benchSixHours(hours)) ? 0 : 1
