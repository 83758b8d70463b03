/** A chain loaded before it is switched to a replay, and then what changed since: as if all of it were loaded after the switch. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { memoryStateStore } from '../../services/aggregate/checkpoint/state-store.js'
import { moveReplayedRows } from '../../services/aggregate/replay/replayed-rows.js'
import { createReplays } from '../../services/core/coordination/replays.js'
import { moneyOf } from '../../services/core/domain/money.js'
import { CANDLE_WIDTH } from '../../services/core/domain/packed-candles.js'
import { createCodec } from '../../services/core/log/codec.js'
import { openEmbedded } from '../../services/core/log/embedded-log.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import type { Store } from '../../services/core/store/port.js'
import { replayDatabase } from '../../services/core/store/tables.js'
import { loadChain } from '../../services/serve/memory/load-chain.js'
import { loadOpenCandles } from '../../services/serve/memory/load-recent.js'
import { createPreparedEpochs } from '../../services/serve/memory/prepare-epochs.js'
import { KEEPS_ALL, type ServedChain } from '../../services/serve/memory/served-chain.js'
import { appendLines, runPipeline } from '../rig/aggregate/pipeline-run.js'
import { isLongRun } from '../rig/counts.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'
import { openTestStore, openTestStoreBeside } from './rig.js'
import { servedAnswers } from './second-windows.js'

const directory = mkdtempSync(join(tmpdir(), 'dextape-prepared-'))
const { log, registry } = openEmbedded({ path: join(directory, 'log'), maxValueBytes: 1_000_000 })
const codec = createCodec(registry)
let store: Store
beforeAll(async () => {
  store = await openTestStore(directory)
}, 60_000)
afterAll(async () => {
  await store.close()
  await log.close()
  rmSync(directory, { recursive: true, force: true })
})

const EPOCH = 2
const BLOCKS = 160
const SEEDS = isLongRun() ? 20 : 3
/** Progress, pairs, tokens and open candles. */
const QUERIES = 4

/** The replay of a market: `append` folds and stores more of its lines, `move` puts them into the live tables. */
async function openReplay(chain: string) {
  const beside = await openTestStoreBeside(directory, store, chain)
  await beside.migrate()
  const facts = { ...marketMoney('eth'), chain }
  const deps = { log, codec, facts, store: beside, stateStore: memoryStateStore(), beside: { epoch: EPOCH } }
  return {
    async append(lines: ReturnType<typeof generateRecording>) {
      await appendLines(deps, lines)
      await runPipeline(deps)
    },
    move: () => moveReplayedRows(store, chain, async () => true),
    close: () => beside.close(),
  }
}

/** What is ready is told by the record that the command writes. */
async function tellReady(chain: string): Promise<void> {
  const replays = createReplays(log)
  const money = moneyOf(marketMoney('eth'))
  await replays.put(chain, { phase: 'ready', epoch: EPOCH, generation: 1, fingerprint: '', began: 1, money })
  await replays.close()
}

function contentsOf(state: ServedChain | undefined) {
  if (state === undefined) return undefined
  const { epoch, seq, head, nowS, finalized, flushed, pairs, open } = state
  // The slot in the index of names follows the order of loading.
  const tokens = new Map([...state.tokens].map(([token, { slot: _slot, ...rest }]) => [token, rest]))
  const answers = servedAnswers(state)
  const candles = open
    .takeEnded(Number.POSITIVE_INFINITY)
    .map(({ pair, interval, candle: { data, at } }) => `${pair} ${interval} ${data.subarray(at, at + CANDLE_WIDTH)}`)
  const pairsOf = new Map([...tokens.keys()].map((token) => [token, [...state.targetPairs.of(token)].sort()]))
  return { epoch, seq, head, nowS, finalized, flushed, pairs, tokens, pairsOf, answers, candles: candles.sort() }
}

async function loadAll(chain: string): Promise<ServedChain | undefined> {
  const state = await loadChain(store, chain)
  if (state !== undefined) await loadOpenCandles(store, chain, state.open, { ...state, now: state.nowS })
  return state
}

describe('a chain that is loaded before it is switched to its replay', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1)
    it(`is as if it were loaded after it (seed ${seed})`, async () => {
      const chain = `prepared${seed}`
      const options = { retracts: { probability: 0.1, maxDepth: 4 }, secondsPerBlock: 20 }
      const lines = generateRecording({ seed, chain: 'eth', blocks: BLOCKS, options })
      const cut = createRandom(seed).int(lines.length / 2, lines.length - 1)
      const replay = await openReplay(chain)
      let answered = 0
      const counting: Store = {
        ...store,
        query: (sql, ...given) =>
          store.query<object>(sql, ...given).finally(() => {
            if (sql.includes(replayDatabase(store.database, chain))) answered += 1
          }) as never,
      }
      const prepared = createPreparedEpochs({ log, store: counting, keeps: KEEPS_ALL, logger: silentLogger })
      await replay.append(lines.slice(0, cut))
      await tellReady(chain)
      await prepared.start()
      await vi.waitFor(() => expect(answered).toBe(QUERIES), 20_000)
      await replay.append(lines.slice(cut))
      await replay.move()

      const taken = await prepared.take(chain, EPOCH)
      const whole = await loadAll(chain)
      expect(whole?.seq).toBe(lines.length)
      expect(contentsOf(taken)).toEqual(contentsOf(whole))
      expect(answered).toBe(QUERIES)
      // It is for one switch.
      expect(await prepared.take(chain, EPOCH)).toBeUndefined()
      await prepared.stop()
      await replay.close()
    })
})
