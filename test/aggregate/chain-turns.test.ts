import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ChainPipeline } from '../../services/aggregate/chain-pipeline.js'
import { CHECKPOINT_PAIRS, createChainTurns } from '../../services/aggregate/chain-turns.js'
import type { FoldResult } from '../../services/aggregate/fold/block-changes.js'
import type { RowFacts } from '../../services/aggregate/sink/encode-rows.js'
import { createSink } from '../../services/aggregate/sink/sink.js'
import type { EventLog } from '../../services/core/log/port.js'
import type { Store } from '../../services/core/store/port.js'

const INTERVAL_MS = 30_000

/** A chain with a block every second of a clock that the test moves. */
function runChain({ flushEveryMs = INTERVAL_MS, checkpointEveryMs = INTERVAL_MS, disk = Promise.resolve() }) {
  let nowMs = 1_000_000
  let seq = 0
  const startMs = nowMs
  const batches: { atS: number; seq: number }[] = []
  const checkpoints: number[] = []
  let written = 0
  const atS = () => (nowMs - startMs) / 1000
  const store = {
    insertRows: async () => {
      batches.push({ atS: atS(), seq })
    },
  } as unknown as Store
  const facts: RowFacts = {
    pair: () => undefined,
    token: () => undefined,
    mainPrices: () => undefined,
    finalNowS: () => 0,
  }
  const sink = createSink('eth', store, facts, { flushEveryMs, flushRows: 1000 }, 0)
  const state = {
    get seq() {
      return seq
    },
    nowS: 0,
    changedPairs: new Set<number>(),
  }
  const pipeline = {
    state,
    sink,
    get canCheckpoint() {
      return checkpoints.length === written
    },
    process: async () => {
      seq += 1
      sink.add(emptyBlock(seq))
    },
    checkpoint: async () => {
      checkpoints.push(atS())
      await sink.flush(seq)
      await disk
      written += 1
    },
  } as unknown as ChainPipeline
  const settings = { checkpointEveryMs, updatesKeptMs: 0, updatesHeldMs: 0, deadKeptMs: 0, secondCandlesKeptS: 0 }
  const log = {} as EventLog
  const turns = createChainTurns({ log, store, settings, nowMs: () => nowMs }, 'eth', pipeline)
  return {
    ...{ batches, checkpoints, turns },
    async seconds(count: number) {
      for (let second = 0; second < count; second += 1) {
        nowMs += 1000
        await turns.process([])
        await nextTurn()
      }
    },
    seq: () => seq,
    changePairs: (count: number) => {
      for (let pair = 0; pair < count; pair += 1) state.changedPairs.add(pair)
    },
  }
}

/** What it is asked to write waits until the test says so. */
function slowDisk() {
  let [resolve, reject] = [() => {}, (_error: Error) => {}]
  const written = new Promise<void>((...ends) => {
    ;[resolve, reject] = ends
  })
  return { written, resolve, reject }
}

function emptyBlock(seq: number): FoldResult {
  const nothing = { pairs: [], retracted: [], tokens: [], gone_tokens: [], main_pair_changes: [] }
  const moved = { pairs: [], tokens: [] }
  const update = { kind: 'block', epoch: 1, seq, number: seq, hash: '', now: 0, time: 0, ...nothing }
  return {
    update,
    moved,
    pairHours: [],
    holderHours: [],
    holders: [],
    goneEvents: [],
    goneCandles: [],
    goneMainPairs: [],
  } as unknown as FoldResult
}

describe('the turns of a chain', () => {
  it('with equal intervals store one batch per interval, as part of the checkpoint', async () => {
    const chain = runChain({})
    await chain.seconds(95)
    expect(chain.checkpoints).toEqual([30, 60, 90])
    expect(chain.batches).toEqual([30, 60, 90].map((atS) => ({ atS, seq: atS })))
  })

  it('go on while a checkpoint is written, and write one at a time', async () => {
    const disk = slowDisk()
    const chain = runChain({ disk: disk.written })
    await chain.seconds(70)
    expect(chain.seq()).toBe(70)
    expect(chain.checkpoints).toEqual([30])
    disk.resolve()
    await nextTurn()
    await chain.seconds(1)
    expect(chain.checkpoints).toEqual([30, 71])
  })

  it('wait for the checkpoint being written when the next one has become large', async () => {
    const disk = slowDisk()
    const chain = runChain({ disk: disk.written })
    await chain.seconds(31)
    chain.changePairs(CHECKPOINT_PAIRS)
    const next = chain.seconds(1)
    await nextTurn()
    expect(chain.checkpoints).toEqual([30])
    disk.resolve()
    await next
    expect(chain.checkpoints).toEqual([30, 32])
  })

  it('fail when a checkpoint was not written, also where no block follows', async () => {
    const disk = slowDisk()
    const chain = runChain({ disk: disk.written })
    await chain.seconds(30)
    disk.reject(new Error('disk full'))
    await nextTurn()
    await expect(chain.turns.tick()).rejects.toThrow('disk full')
    await expect(chain.seconds(1)).rejects.toThrow('disk full')
    await expect(chain.turns.finish()).rejects.toThrow('disk full')
  })

  it('store a batch when its first row is as old as the interval', async () => {
    const chain = runChain({ flushEveryMs: 10_000, checkpointEveryMs: 3_600_000 })
    await chain.seconds(35)
    // The first row comes after one second, the next batch begins after the one before.
    expect(chain.batches.map(({ atS }) => atS)).toEqual([11, 22, 33])
    expect(chain.checkpoints).toEqual([])
  })

  it('store waiting rows on request, at most once per second', async () => {
    const chain = runChain({})
    await chain.seconds(5)
    await Promise.all([chain.turns.flush(), chain.turns.flush()])
    await chain.turns.flush()
    expect(chain.batches).toEqual([{ atS: 5, seq: 5 }])
    await chain.seconds(1)
    await chain.turns.flush()
    expect(chain.batches.at(-1)).toEqual({ atS: 6, seq: 6 })
  })
})
