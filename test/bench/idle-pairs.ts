/** Memory per pair, token included, after it has been idle for more than a day. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applyRecord } from '../../services/aggregate/accept-record.js'
import { StoredHistory } from '../../services/aggregate/checkpoint/applied-history.js'
import { CheckpointWriter } from '../../services/aggregate/checkpoint/checkpoint-writer.js'
import { restingState } from '../../services/aggregate/checkpoint/restore-state.js'
import { openStateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { FoldState } from '../../services/aggregate/state/fold-state.js'
import type { Block, Event } from '../../services/core/domain/records.js'
import { printTable } from './measure.js'
import { address, benchFacts, hash } from './workload.js'

const PAIRS = 50_000
const PAIRS_PER_BLOCK = 100
const LIMIT_BYTES = 1536
const SETTINGS = { maxTimeBackS: 3600, journalBlocks: 64 }

export function benchIdlePairs(): boolean {
  const script = fileURLToPath(import.meta.url)
  const output = execFileSync(process.execPath, ['--expose-gc', script, 'measure'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { empty, full, resting } = JSON.parse(output.toString()) as { empty: number; full: number; resting: number }
  const perPair = (bytes: number) => Math.round((bytes - empty) / PAIRS)
  printTable(`Memory of an idle pair with its token (${PAIRS.toLocaleString('en')} pairs)`, [
    ['', 'bytes/pair', '× limit'],
    ['just traded', perPair(full), perPair(full) / LIMIT_BYTES],
    ['idle for a day', perPair(resting), perPair(resting) / LIMIT_BYTES],
  ])
  console.log(`  ${perPair(resting)} bytes (limit ${LIMIT_BYTES})`)
  return perPair(resting) < LIMIT_BYTES
}

/** Heap and buffers in use after a full garbage collection. */
function usedBytes(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

async function measureIdle(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'dextape-idle-'))
  const store = await openStateStore(dir)
  const keeper = new CheckpointWriter(store, 'bench')
  const state = new FoldState(benchFacts, SETTINGS, 1, restingState(store, keeper.pendingBalances))
  const history = new StoredHistory(store)
  const apply = async (block: Block) => {
    applyRecord(state, history, { kind: 'block', block })
    if (block.number % 50 === 0) await keeper.capture(state, history, block.number).write()
  }
  const empty = usedBytes()
  let number = 0
  for (let first = 0; first < PAIRS; first += PAIRS_PER_BLOCK) {
    number += 1
    await apply(blockOf(number, 1_704_412_800 + number, pairEvents(first, number)))
  }
  const full = usedBytes()
  // Empty blocks advance the time until everything is final and idle.
  for (let day = 1; day <= 200; day += 1) {
    number += 1
    await apply(blockOf(number, 1_704_412_800 + 2 * 86_400 + number * 12, []))
  }
  await keeper.capture(state, history, number).write()
  console.log(JSON.stringify({ empty, full, resting: usedBytes() }))
  // The state must still be referenced when it is measured.
  if (state.pairs.length !== PAIRS) throw new Error(`${state.pairs.length} pairs`)
  await store.close()
  rmSync(dir, { recursive: true, force: true })
}

function pairEvents(first: number, number: number): Event[] {
  const events: Event[] = []
  const place = () => ({ tx_index: 0, log_index: events.length, sub: 0, tx_hash: hash('tx', number) })
  const native = benchFacts.native ?? ''
  if (first === 0) {
    events.push({
      type: 'token',
      ...place(),
      token: native,
      name: 'Wrapped',
      symbol: 'W',
      decimals: 18,
      total_supply: null,
    })
  }
  for (let n = first; n < first + PAIRS_PER_BLOCK; n += 1) {
    const token = address('token', n)
    const pool = address('pool', n)
    events.push({
      type: 'token',
      ...place(),
      token,
      name: `Token number ${n}`,
      symbol: `TOK${n}`,
      decimals: 18,
      total_supply: '1000000000000000000000000000',
    })
    events.push({
      type: 'pool',
      ...place(),
      pool,
      amm: 'uniswapv2',
      token0: token,
      token1: native,
      fee: 3000,
      creator: null,
    })
    const wallet = address('wallet', n % 5000)
    events.push({
      ...{ type: 'swap', ...place(), pool, amm: 'uniswapv2', sender: wallet, recipient: wallet, wallet },
      ...{
        token_in: native,
        amount_in: '1000000000000000000',
        token_out: token,
        amount_out: `${5_000_000 + n}000000000000000`,
      },
      ...{
        reserve0: `${70_000_000 + n}000000000000000000`,
        reserve1: '100000000000000000000',
        sqrt_price: null,
        profile: null,
      },
    } as Event)
  }
  return events
}

function blockOf(number: number, time: number, events: Event[]): Block {
  const links = { hash: hash('block', number), parent_hash: hash('block', number - 1) }
  return {
    chain: benchFacts.chain,
    number,
    ...links,
    time,
    finalized_number: Math.max(0, number - 8),
    part: 0,
    last_part: 0,
    events,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === 'measure') await measureIdle()
  else process.exitCode = benchIdlePairs() ? 0 : 1
}
