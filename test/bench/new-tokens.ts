/** Cost of a new token on a chain with many pairs, compared with few: it must not grow with the number of pairs. */
import { fileURLToPath } from 'node:url'
import { applyRecord } from '../../services/aggregate/accept-record.js'
import { StoredHistory } from '../../services/aggregate/checkpoint/applied-history.js'
import { restingState } from '../../services/aggregate/checkpoint/restore-state.js'
import { memoryStateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { FoldState } from '../../services/aggregate/state/fold-state.js'
import type { Event } from '../../services/core/domain/records.js'
import { printTable } from './measure.js'
import { address, benchFacts, hash } from './workload.js'

const FEW = 1000
const MANY = 100_000
const TOKENS_PER_BLOCK = 100
const BLOCKS = 50
/** A scan of all pairs gives a ratio over fifty; cache effects alone give a little over one. */
const LIMIT = 5

export function benchNewTokens(): boolean {
  newTokenUs(FEW)
  const [few, many] = [newTokenUs(FEW), newTokenUs(MANY)]
  printTable('A new token with decimals', [
    ['pairs of the chain', 'µs/token', '× few'],
    [FEW, few, 1],
    [MANY, many, many / few],
  ])
  console.log(`  × ${(many / few).toFixed(2)} (limit ${LIMIT})`)
  return many / few < LIMIT
}

function newTokenUs(pairs: number): number {
  const store = memoryStateStore()
  const state = new FoldState(benchFacts, { maxTimeBackS: 3600, journalBlocks: 4 }, 1, restingState(store))
  const history = new StoredHistory(store)
  let number = 0
  const apply = (events: Event[]) => {
    number += 1
    const links = { number, hash: hash('block', number), parent_hash: hash('block', number - 1) }
    const block = { chain: benchFacts.chain, ...links, time: 1_704_412_800 + number, finalized_number: number - 1 }
    applyRecord(state, history, { kind: 'block', block: { ...block, part: 0, last_part: 0, events } })
  }
  const place = (at: number) => ({ tx_index: 0, log_index: at, sub: 0, tx_hash: hash('tx', at) })
  for (let first = 0; first < pairs; first += FEW) {
    const pools = Array.from({ length: FEW }, (_, n) => poolEvent(first + n, place(n)))
    apply(pools)
  }
  const blocks = Array.from({ length: BLOCKS }, (_, block) =>
    Array.from({ length: TOKENS_PER_BLOCK }, (_, n) => tokenEvent(`new ${block}`, n, place(n))),
  )
  const startedMs = performance.now()
  for (const events of blocks) apply(events)
  return ((performance.now() - startedMs) * 1000) / (BLOCKS * TOKENS_PER_BLOCK)
}

type Place = Pick<Event, 'tx_index' | 'log_index' | 'sub' | 'tx_hash'>

function poolEvent(n: number, place: Place): Event {
  const tokens = { token0: address('token', n), token1: benchFacts.native ?? '' }
  return { type: 'pool', ...place, pool: address('pool', n), amm: 'uniswapv2', ...tokens, fee: null, creator: null }
}

function tokenEvent(kind: string, n: number, place: Place): Event {
  const words = { token: address(kind, n), name: `Token ${n}`, symbol: `T${n}` }
  return { type: 'token', ...place, ...words, decimals: 18, total_supply: null }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = benchNewTokens() ? 0 : 1
