/**
 * What knowing tokens and wallets costs the aggregate: the same swaps alone, with the balances they move, and with risk reports, first
 * liquidity and trades by wallet too. Each runs in a separate process: `token-facts.js MODE KIND DIR`, MODE `stages` or `whole`.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Block, Event, SwapEvent } from '../../services/core/domain/records.js'
import type { Store } from '../../services/core/store/port.js'
import { type Measured, printTable } from './measure.js'
import { FOLD_HEAP, stagesAlone, wholePath, writeLog } from './pipeline.js'
import { benchBlocks, benchFacts } from './workload.js'

const PLAN = { pools: 400, wallets: 4000, blocks: 1000 }
const SWAPS = PLAN.blocks * 100
const LIMIT = 1.25
const ROUNDS = 5
/** A token that trades is checked again after ten minutes. */
const CHECK_EVERY_S = 600
const RISK = JSON.stringify({
  ...{ is_honeypot: 0, risk_score: 45, risk_level: 0, buy_tax: 0, sell_tax: 0, has_code: 1, is_proxy: 0 },
  risk_info: JSON.stringify({ reasons: Array.from({ length: 8 }, (_, n) => `something that was found, number ${n}`) }),
})

const KINDS = ['swaps', 'balances', 'facts'] as const
type Kind = (typeof KINDS)[number]
type Mode = 'stages' | 'whole'

export async function benchTokenFacts(): Promise<boolean> {
  const measured = new Map<Kind, Measured[][]>(KINDS.map((kind) => [kind, []]))
  // In turns: the machine may be slower in one minute than in the next.
  for (let round = 0; round < ROUNDS; round += 1) for (const [kind, runs] of measured) runs.push(await runKind(kind))
  const [alone, held, full] = KINDS.map((kind) => least(measured.get(kind))) as [Least, Least, Least]
  const usOf = (of: Least, name: string) => ((of.get(name) ?? Number.NaN) / SWAPS) * 1e6
  const ratio = (name: string, without: Least) => usOf(full, name) / usOf(without, name)
  printTable(`What knowing tokens and wallets costs (${SWAPS.toLocaleString('en')} swaps, CPU µs a swap)`, [
    ['stage', 'swaps alone', 'with balances', 'with all', '× balances', '× swaps'],
    ...[...full.keys()].map((name) => [
      ...[name, usOf(alone, name), usOf(held, name), usOf(full, name), ratio(name, held), ratio(name, alone)],
    ]),
  ])
  // Two rows more a swap are stored, which its share of the store's work shows: no limit.
  console.log(`  the whole path, as a multiple of swaps alone: ${ratio('whole path', alone).toFixed(2)}`)
  return [
    isWithin('the fold with all of it, as a multiple of swaps alone', ratio('fold', alone)),
    isWithin('the whole path, as a multiple of swaps with balances', ratio('whole path', held)),
  ].every(Boolean)
}

function isWithin(what: string, ratio: number): boolean {
  console.log(`  ${what}: ${ratio.toFixed(2)} (limit ${LIMIT})${ratio > LIMIT ? '  TOO MUCH' : ''}`)
  return ratio <= LIMIT
}

async function runKind(kind: Kind): Promise<Measured[]> {
  const dir = mkdtempSync(join(tmpdir(), 'dextape-bench-'))
  try {
    await writeLog(dir, blocksOf(kind))
    return [...runChild('stages', kind, dir), ...runChild('whole', kind, dir)]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function runChild(mode: Mode, kind: Kind, dir: string): Measured[] {
  const output = execFileSync(process.execPath, [...FOLD_HEAP, fileURLToPath(import.meta.url), mode, kind, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 26,
  })
  return JSON.parse(output.toString().trim().split('\n').at(-1) ?? '[]') as Measured[]
}

type Least = ReadonlyMap<string, number>

/** The least CPU-seconds of each stage: other work on the machine only adds. */
function least(runs: readonly Measured[][] = []): Least {
  const found = new Map<string, number>()
  for (const { name, cpuS } of runs.flat()) found.set(name, Math.min(cpuS, found.get(name) ?? cpuS))
  return found
}

/** The swaps with the target's two balances after each, as `balances: scoped` publishes them, and the facts of tokens. */
function* blocksOf(kind: Kind): Generator<Block> {
  const held = new Set<string>()
  const checkedAtS = new Map<string, number>()
  for (const block of benchBlocks(PLAN)) {
    if (kind === 'swaps') {
      yield block
      continue
    }
    const events: Event[] = []
    const traded = new Set<string>()
    for (const event of block.events) {
      events.push(event)
      if (event.type === 'pool' && kind === 'facts') events.push(firstLiquidity(event))
      if (event.type !== 'swap') continue
      const isSell = event.token_out === benchFacts.native
      const token = isSell ? event.token_in : event.token_out
      if (token === benchFacts.native || token === benchFacts.anchor) continue
      traded.add(token)
      const amount = isSell ? event.amount_in : event.amount_out
      const [from, to] = isSell ? [event.wallet, event.pool] : [event.pool, event.wallet]
      events.push(moved(event, 1, token, from, `-${amount}`), moved(event, 2, token, to, amount))
    }
    for (const token of kind === 'facts' ? traded : []) {
      if (block.time - (checkedAtS.get(token) ?? 0) < CHECK_EVERY_S) continue
      checkedAtS.set(token, block.time)
      events.push(report(token, events.length))
    }
    yield { ...block, events }
  }

  /** The whole balance of a holder that appears for the first time, and changes from then on. */
  function moved(swap: SwapEvent, after: number, token: string, holder: string, delta: string): Event {
    const place = { ...placeOf(swap), log_index: swap.log_index + after }
    const key = `${token}/${holder}`
    if (held.has(key)) return { type: 'balance', ...place, token, holder, delta, balance: null }
    held.add(key)
    return { type: 'balance', ...place, token, holder, delta: null, balance: '1000000000000000000000000' }
  }
}

const placeOf = ({ tx_index, log_index, sub, tx_hash }: Event) => ({ tx_index, log_index, sub, tx_hash })

function firstLiquidity(pool: Extract<Event, { type: 'pool' }>): Event {
  const amounts = { amount0: '1', amount1: '1', reserve0: null, reserve1: null }
  const by = { sender: 'provider', wallet: 'provider' }
  return {
    type: 'liquidity',
    ...{ ...placeOf(pool), sub: 1, pool: pool.pool, amm: pool.amm, kind: 'create', ...by, ...amounts },
  }
}

function report(token: string, n: number): Event {
  const nothing = { total_supply: null, logo_url: null, links: null, holders_complete: null }
  return {
    type: 'meta',
    tx_index: 1_000,
    log_index: 1_000 + n,
    sub: 0,
    tx_hash: '',
    token,
    owner: null,
    risk: RISK,
    ...nothing,
  }
}

/** Without rows by wallet, as before they were stored. */
async function dropWalletRows(store: Store): Promise<void> {
  for (const view of ['wallet_trade_rows_fill', 'orphaned_block_rows_fill']) await store.command(`DROP VIEW ${view}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [mode, kind, dir = ''] = process.argv.slice(2)
  if (mode === undefined) process.exitCode = (await benchTokenFacts()) ? 0 : 1
  else {
    const prepare = kind === 'facts' ? async () => {} : dropWalletRows
    console.log(JSON.stringify(mode === 'stages' ? await stagesAlone(dir) : await wholePath(dir, prepare)))
  }
}
