/**
 * `up --events` from the first line of a recording to everything stored and served: CPU, memory and disk a swap, of all its
 * processes. Parts of the store that were merged into others do not count: they go after some minutes. A market of 20,000 pools
 * is compared with one of 400: what a swap costs must not follow the number of pools.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeRecording } from '../rig/http/recording-file.js'
import { dataDirOf, startUp, type Up } from '../rig/http/up.js'
import { cpuSecondsOf, memoryOf } from '../rig/servers/figures.js'
import { allocatedBytes, filesOf, filesOfParts } from '../rig/store-parts.js'
import { printTable } from './measure.js'
import { BENCH_CHAIN, benchBlocks, benchFacts, type WorkloadPlan } from './workload.js'

const FEW: WorkloadPlan = { pools: 400, wallets: 4000, blocks: 3000 }
const MANY: WorkloadPlan = { pools: 20_000, wallets: 40_000, blocks: 1000, skew: 1 }
const SWAPS_PER_BLOCK = 100
/** CPU a swap with many pools, as a multiple of the one with few. */
const LIMIT = 4.5

type Cost = { cpuUs: number; perS: number; peakMb: number; logKb: number; stateKb: number; storeKb: number }

export async function benchUp(): Promise<boolean> {
  const few = await play(FEW)
  const many = await play(MANY)
  const row = (name: string, cost: Cost) => [name, ...Object.values(cost)]
  printTable('up --events, from the recording to stored and served, all processes', [
    ['pools', 'CPU µs/swap', 'swaps/s', 'peak MB', 'log KB/swap', 'state KB/swap', 'store KB/swap'],
    row(`${FEW.pools} (${swapsOf(FEW).toLocaleString('en')} swaps)`, few),
    row(`${MANY.pools} (${swapsOf(MANY).toLocaleString('en')} swaps)`, many),
  ])
  const ratio = many.cpuUs / few.cpuUs
  console.log(
    `  ${MANY.pools} ÷ ${FEW.pools} pools = ${ratio.toFixed(2)} (limit ${LIMIT})${ratio > LIMIT ? '  TOO MUCH' : ''}`,
  )
  return ratio <= LIMIT
}

const swapsOf = ({ blocks }: WorkloadPlan) => blocks * SWAPS_PER_BLOCK

async function play(plan: WorkloadPlan): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-bench-up-'))
  try {
    const lines = [...benchBlocks(plan)].map((block) => ({ kind: 'block' as const, ...block }))
    const events = writeRecording(folder, 'market.jsonl', lines)
    lines.length = 0
    const started = performance.now()
    const up = await startUp({ folder, events, speed: 'max', chains: [benchFacts], asUser: true })
    await up.stored(BENCH_CHAIN, plan.blocks + 1)
    const wallS = (performance.now() - started) / 1000
    const { cpuS, peakMb } = usageOf(up)
    await up.stop()
    const swaps = swapsOf(plan)
    const filesIn = (part: string) => filesOf(join(dataDirOf(folder), part))
    const perSwap = (files: readonly string[]) => allocatedBytes(files) / 1000 / swaps
    return {
      ...{ cpuUs: (cpuS / swaps) * 1e6, perS: swaps / wallS, peakMb },
      ...{ logKb: perSwap(filesIn('log')), stateKb: perSwap(filesIn('state')) },
      storeKb: perSwap(filesOfParts(filesIn('store'))),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Of a process and its children. */
function usageOf({ pid }: Up): { cpuS: number; peakMb: number } {
  const all = [pid, ...childrenOf(pid)]
  const sum = (figures: number[]) => figures.reduce((total, figure) => total + figure, 0)
  return { cpuS: sum(all.map(cpuSecondsOf)), peakMb: sum(all.map((one) => memoryOf(one).peakMb)) }
}

function childrenOf(pid: number): number[] {
  const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  const children = own === '' ? [] : own.split(' ').map(Number)
  return children.flatMap((child) => [child, ...childrenOf(child)])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await benchUp()) ? 0 : 1
