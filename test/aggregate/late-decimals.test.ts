/** A token's decimals may come late or change: every pair that has it on either side is published again. */
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { applyRecord, type ChainRecord } from '../../services/aggregate/accept-record.js'
import { StoredHistory } from '../../services/aggregate/checkpoint/applied-history.js'
import { CheckpointWriter } from '../../services/aggregate/checkpoint/checkpoint-writer.js'
import { readMeta, restingState, restoringState } from '../../services/aggregate/checkpoint/restore-state.js'
import { memoryStateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { FoldState } from '../../services/aggregate/state/fold-state.js'
import { PAIR } from '../../services/aggregate/state/pairs.js'
import { TOKEN } from '../../services/aggregate/state/tokens.js'
import { atOnce } from '../../services/core/runtime/in-turns.js'
import { chainRecordOf, FOLD_SETTINGS, startFold } from '../rig/aggregate/fold-lines.js'
import type { EventFacts } from '../rig/market/writer.js'
import type { RecordingBlock } from '../rig/reference/lines.js'
import { MONDAY, MONEY, pool, token } from '../rig/tape.js'

const NAMES = ['usd', 'usdt', 'nat', 'maj', 'a', 'b', 'c', 'd']

/** The block after `head`; `branch` distinguishes blocks of one height. */
function blockAfter(head: FoldState['head'], branch: number, events: EventFacts[]): ChainRecord {
  const number = (head?.number ?? 0) + 1
  const placed = events.map((event, at) => ({ ...event, tx_index: at, log_index: at, tx_hash: `t${number}.${at}` }))
  const links = { number, hash: `h${number}.${branch}`, parent_hash: head?.hash ?? 'h0', time: MONDAY + number }
  const line = { chain: 't', ...links, finalized_number: 0, events: placed as RecordingBlock['events'] }
  return chainRecordOf(line, MONEY)
}

/** What a scan of all pairs finds, as the fold's first version did it. */
function scannedPairs({ pairs }: FoldState, id: number): number[] {
  return Array.from({ length: pairs.length }, (_, pair) => pair).filter(
    (pair) => pairs.rows.get(pair, PAIR.token0) === id || pairs.rows.get(pair, PAIR.token1) === id,
  )
}

const name = fc.constantFrom(...NAMES)
const event = fc.oneof(
  fc.record({ token: name, decimals: fc.constantFrom(null, 6, 9, 18) }),
  fc.record({ pool: fc.nat(30), token0: name, token1: name }),
)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ events: fc.array(event, { maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ retract: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
)

it('publishes again the pairs a scan would find, in that order, through reorgs and restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const store = memoryStateStore()
      let keeper = new CheckpointWriter(store, 'test')
      let state = new FoldState(MONEY, FOLD_SETTINGS, 1, restingState(store, keeper.pendingBalances))
      const history = new StoredHistory(store)
      const parents: string[] = []
      for (const [branch, one] of steps.entries()) {
        if (one === 'restart') {
          await keeper.capture(state, history, 0).write()
          keeper = new CheckpointWriter(store, 'test')
          const meta = readMeta(store)
          if (meta === undefined) throw new Error('no checkpoint')
          state = atOnce(restoringState(MONEY, FOLD_SETTINGS, meta, store, restingState(store, keeper.pendingBalances)))
          keeper.resume(meta.journals)
        } else if ('retract' in one) {
          const depth = Math.min(one.retract, parents.length - 1)
          const head = state.head
          if (depth < 1 || head === null) continue
          const to = parents.at(-depth) as string
          parents.length -= depth
          const retract = { kind: 'retract' as const, chain: 't', from_number: head.number, from_hash: head.hash }
          applyRecord(state, history, { kind: 'retract', retract: { ...retract, to_number: 0, to_hash: to } })
        } else {
          const { tokens } = state
          const known = new Map(NAMES.map((each) => [each, decimalsOf(state, each)]))
          const facts = one.events.map((each) =>
            'pool' in each ? pool(`p${each.pool}`, each.token0, each.token1) : token(each.token, each.decimals),
          )
          const oldPairs = new Set(state.pairs.address)
          parents.push(state.head?.hash ?? 'h0')
          const result = applyRecord(state, history, blockAfter(state.head, branch, facts))
          const changed = one.events.flatMap((each) => {
            if ('pool' in each || each.decimals === null || known.get(each.token) === each.decimals) return []
            known.set(each.token, each.decimals)
            return [each.token]
          })
          const expected = new Set(changed.flatMap((each) => scannedPairs(state, tokens.find(each) ?? -1)))
          const again = result?.update.pairs.filter((entry) => entry.info !== null && oldPairs.has(entry.pair)) ?? []
          const old = [...expected]
            .map((pair) => state.pairs.address[pair] as string)
            .filter((pair) => oldPairs.has(pair))
          expect(again.map((entry) => entry.pair)).toEqual(old)
        }
        for (let id = 0; id < state.tokens.length; id += 1)
          expect(state.tokens.allPairsOf(id)).toEqual(scannedPairs(state, id))
      }
    }),
  )
})

function decimalsOf(state: FoldState, address: string): number {
  const id = state.tokens.find(address)
  return id === undefined ? Number.NaN : state.tokens.rows.get(id, TOKEN.decimals)
}

it('a new token reads as many rows among three thousand pairs as among thirty: no scan', () => {
  const readsAmong = (pairs: number): number => {
    const { state, history } = startFold(MONEY)
    const pools = Array.from({ length: pairs }, (_, n) => pool(`p${n}`, `x${n}`, 'nat'))
    applyRecord(state, history, blockAfter(null, 0, [token('nat'), ...pools]))
    const reads = vi.spyOn(state.pairs.rows, 'get')
    const tokens = Array.from({ length: 10 }, (_, n) => token(`new${n}`))
    const result = applyRecord(state, history, blockAfter(state.head, 0, [...tokens, token('x7', 9)]))
    expect(result?.update.pairs.map((entry) => entry.pair)).toEqual(['p7'])
    return reads.mock.calls.length
  }
  expect(readsAmong(3000)).toBe(readsAmong(30))
})
