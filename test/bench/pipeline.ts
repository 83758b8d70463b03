/**
 * The whole pipeline of a swap compared with the sum of its stages, in CPU-seconds. Each runs in a separate process:
 * `pipeline.js stages DIR`, `pipeline.js whole DIR`; without arguments it prepares the data and compares.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applyRecord, type ChainRecord } from '../../services/aggregate/accept-record.js'
import { StoredHistory } from '../../services/aggregate/checkpoint/applied-history.js'
import { restingState } from '../../services/aggregate/checkpoint/restore-state.js'
import { memoryStateStore, openStateStore } from '../../services/aggregate/checkpoint/state-store.js'
import type { FoldResult } from '../../services/aggregate/fold/block-changes.js'
import { createAggregate } from '../../services/aggregate/main.js'
import { encodeRows, type Insert, rowFactsOf } from '../../services/aggregate/sink/encode-rows.js'
import { RowBatch } from '../../services/aggregate/sink/row-batch.js'
import { FoldState } from '../../services/aggregate/state/fold-state.js'
import type { Block } from '../../services/core/domain/records.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { blocksTopic, updatesTopic } from '../../services/core/log/port.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { openStore } from '../../services/core/store/clickhouse-store.js'
import type { Store } from '../../services/core/store/port.js'
import { type Measured, measure, printTable } from './measure.js'
import { BENCH_CHAIN, benchBlocks, benchFacts } from './workload.js'

const PLAN = { pools: 400, wallets: 4000, blocks: 1000 }
const SWAPS = PLAN.blocks * 100
const FLUSH_ROWS = 50_000
const LIMIT = 1.4
const SETTINGS = {
  ...{ maxTimeBackS: 3600, journalBlocks: 4096, flushEveryMs: 3_600_000, flushRows: FLUSH_ROWS },
  ...{
    checkpointEveryMs: 60_000,
    updatesKeptMs: 86_400_000,
    updatesHeldMs: 0,
    deadKeptMs: 86_400_000,
    secondCandlesKeptS: 30 * 86_400,
  },
}
/** As `up` runs the fold. */
export const FOLD_HEAP = ['--max-semi-space-size=32']
const IN = blocksTopic(BENCH_CHAIN)
const BATCH = 64

export async function benchPipeline(): Promise<boolean> {
  const dir = mkdtempSync(join(tmpdir(), 'dextape-bench-'))
  try {
    await writeLog(dir, benchBlocks(PLAN))
    const stages = runChild('stages', dir)
    const [whole] = runChild('whole', dir)
    if (whole === undefined) throw new Error('the whole run gave no measurement')
    const sum = stages.reduce((total, stage) => total + stage.cpuS, 0)
    const ratio = whole.cpuS / sum
    const row = ({ name, cpuS, wallS }: Measured) => [name, (cpuS / SWAPS) * 1e6, cpuS / sum, SWAPS / wallS]
    printTable(`A swap's way through the aggregate (${SWAPS.toLocaleString('en')} swaps, ${PLAN.pools} pools)`, [
      ['stage', 'CPU µs/swap', '× sum', 'swaps/s'],
      ...stages.map(row),
      ['sum of stages', (sum / SWAPS) * 1e6, 1, ''],
      row({ ...whole, name: 'whole path' }),
    ])
    console.log(`  whole ÷ sum = ${ratio.toFixed(2)} (limit ${LIMIT})${ratio > LIMIT ? '  TOO MUCH' : ''}`)
    return ratio <= LIMIT
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function runChild(mode: string, dir: string): Measured[] {
  const output = execFileSync(process.execPath, [...FOLD_HEAP, fileURLToPath(import.meta.url), mode, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 26,
  })
  return JSON.parse(output.toString().trim().split('\n').at(-1) ?? '[]') as Measured[]
}

export async function writeLog(dir: string, blocks: Iterable<Block>): Promise<void> {
  const { log, registry } = openEmbedded({ path: join(dir, 'log') })
  const codec = createCodec(registry)
  const entries = []
  for (const block of blocks) {
    entries.push({ key: BENCH_CHAIN, value: codec.encodeBlock(IN, block), timestampMs: block.time * 1000 })
    if (entries.length === BATCH) await log.append(IN, entries.splice(0))
  }
  await log.append(IN, entries)
  await log.close()
}

/** Runs the stages one after another per slice of the log, so that no stage pays for the memory of another. */
export async function stagesAlone(dir: string): Promise<Measured[]> {
  const { log, registry } = openEmbedded({ path: join(dir, 'log') })
  const codec = createCodec(registry)
  const store = await openStore({ kind: 'embedded', path: join(dir, 'store-stages') })
  await store.migrate()
  const memory = memoryStateStore()
  const state = new FoldState(benchFacts, SETTINGS, 1, restingState(memory))
  const history = new StoredHistory(memory)
  const facts = rowFactsOf(state)
  const totals = new Map<string, Measured>()
  async function stage<T>(name: string, work: () => Promise<T> | T): Promise<T> {
    let result: T | undefined
    const { cpuS, wallS } = await measure(name, async () => {
      result = await work()
    })
    const total = totals.get(name) ?? { name, cpuS: 0, wallS: 0 }
    totals.set(name, { name, cpuS: total.cpuS + cpuS, wallS: total.wallS + wallS })
    return result as T
  }
  const insert = (inserts: Insert[]) =>
    stage('insert', async () => {
      for (const { table, rows } of inserts) await store.insertRows(table, rows)
    })

  const batch = new RowBatch(BENCH_CHAIN)
  for (let from = 0; ; ) {
    const records = await stage('read', () => log.read(IN, { from, maxRecords: BATCH }))
    if (records.length === 0) break
    from = (records.at(-1)?.offset ?? from) + 1
    const decoded = await stage('decode', () =>
      records.map(({ value, offset }) => codec.decodeLogRecord(value, { topic: IN, offset }) as ChainRecord),
    )
    const results = await stage('fold', () =>
      decoded.flatMap((record): FoldResult | [] => applyRecord(state, history, record) ?? []),
    )
    const encoded = await stage('encode updates', () =>
      results.map(({ update }) => codec.encodeUpdate(updatesTopic(BENCH_CHAIN), update)),
    )
    await stage('append', () =>
      log.append(
        'dex.bench.updates',
        encoded.map((value) => ({ key: BENCH_CHAIN, value, timestampMs: 0 })),
      ),
    )
    const inserts = await stage('encode rows', () => {
      for (const result of results) batch.add(result)
      if (batch.rows < FLUSH_ROWS) return []
      return encodeRows(BENCH_CHAIN, batch, facts)
    })
    await insert(inserts)
    if (inserts.length > 0) batch.clear()
  }
  await insert(await stage('encode rows', () => encodeRows(BENCH_CHAIN, batch, facts)))
  await store.close()
  await log.close()
  return [...totals.values()]
}

export async function wholePath(dir: string, prepare = async (_store: Store) => {}): Promise<Measured[]> {
  const { log, registry } = openEmbedded({ path: join(dir, 'log') })
  const store = await openStore({ kind: 'embedded', path: join(dir, 'store-whole') })
  await store.migrate()
  await prepare(store)
  const aggregate = createAggregate({
    ...{ log, codec: createCodec(registry), store, settings: SETTINGS, logger: silentLogger, nowMs: Date.now },
    openState: (chain) => openStateStore(join(dir, 'state', chain)),
    factsOf: () => benchFacts,
  })
  const controller = new AbortController()
  const { end } = await log.info(IN)
  const whole = await measure('whole path', async () => {
    const running = aggregate.runChain(BENCH_CHAIN, controller.signal)
    const timer = setInterval(() => {
      if (aggregate.status()[0]?.position === end) controller.abort()
    }, 5)
    await running
    clearInterval(timer)
  })
  await store.close()
  await log.close()
  return [whole]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [mode, dir = ''] = process.argv.slice(2)
  if (mode === undefined) process.exitCode = (await benchPipeline()) ? 0 : 1
  else console.log(JSON.stringify(mode === 'stages' ? await stagesAlone(dir) : await wholePath(dir)))
}
