/**
 * A day of a pool, folded with the wrong money, is replayed with the right one beside a running `up` while clients listen and the replay is
 * killed: no client loses or doubles a push, all are told of the epoch, and every candle is as if it had always been folded with it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import type { ChainFacts } from '../../services/core/domain/chains.js'
import { seedOf } from '../rig/counts.js'
import { generatedDay, recordedDay } from '../rig/evm/day.js'
import { candleDifferences, pairDifferences, playedBy } from '../rig/http/against-reference.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { environmentOf, KEY, startUp, type UpPlan } from '../rig/http/up.js'
import { createRandom } from '../rig/market/random.js'
import { hasRecordings } from '../rig/recordings.js'
import { expectPushes } from '../rig/replay/expect-pushes.js'
import { type Listener, listenTo } from '../rig/replay/listeners.js'
import { replayBeside } from '../rig/replay/replay-beside.js'
import { readUpdates } from '../rig/up/contents.js'

const SEED = seedOf('replayedMarkets')
const CLIENTS = 200
const KILLS = 5
/** Of the day's blocks: played before the clients come. */
const HISTORY_SHARE = 0.75
/** The rest of the day takes 90 s. */
const SPEED = 240
const CHAIN = 'eth'
const LIMIT_MS = 600_000
const DAY = hasRecordings ? recordedDay() : generatedDay()

const RIGHT_MONEY: ChainFacts = {
  ...{ chain: CHAIN, family: 'evm' as const, title: 'Ethereum', stables: [], majors: [] },
  anchor: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  native: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
}
/** DAI, which the pool does not trade: nothing has a price in dollars. */
const WRONG_MONEY: ChainFacts = { ...RIGHT_MONEY, anchor: '0x6b175474e89094c44da98b954eedeac495271d0f' }

afterAll(removeScratchFolders)

it(
  `${DAY.name} with ${CLIENTS} clients and ${KILLS} kills (seed ${SEED})`,
  async () => {
    const [lines, folder] = [DAY.lines(), scratchFolder()]
    const history = Math.floor(lines.length * HISTORY_SHARE)
    const settings = {
      ...{ retention: { s1_candles_d: 3650, updates_h: 100_000 } },
      intervals: { checkpoint_ms: 2000, progress_s: 1 },
    }
    const events = writeRecording(folder, 'day.jsonl', lines.slice(0, history))
    const plan: UpPlan = { folder, chains: [WRONG_MONEY], settings, events }
    const first = await startUp(plan)
    await first.applied(CHAIN, history)
    expect((await first.stop()).code).toBe(0)

    writeRecording(folder, 'day.jsonl', lines)
    const up = await startUp({ ...plan, speed: String(SPEED) })
    const listeners: Listener[] = []
    for (let at = 0; at < CLIENTS; at += 1) listeners.push(await listenTo(up.wsUrl, KEY, CHAIN, () => {}))
    // What the configuration file says from now on; `up` is not restarted.
    const env = environmentOf({ ...plan, chains: [RIGHT_MONEY] })
    const killed = await replayBeside(up, {
      ...{ chain: CHAIN, folder, env, kills: KILLS, killAfterMs: [2000, 9000], random: createRandom(SEED) },
    })
    const { seq } = await up.until(CHAIN, 'any', () => true)
    await up.stored(CHAIN, lines.length)
    await sleep(2000)
    const pushes = listeners.reduce((sum, { cursors }) => sum + cursors.length, 0)
    console.info(`${pushes} pushes; switched before seq ${seq} of ${lines.length}; killed: ${killed.join(', ')}`)
    expect(listeners.filter((listener) => listener.isClosed())).toEqual([])
    const switches = expectPushes(listeners, await readUpdates(up.dataDir, CHAIN))
    expect(switches.length).toBeGreaterThan(0)
    for (const listener of listeners) listener.close()

    const played = playedBy(lines, RIGHT_MONEY)
    expect(played.reference.trades).toHaveLength(DAY.swaps)
    expect(await pairDifferences(up, played)).toEqual([])
    expect(await candleDifferences(up, played, () => ['u', 'm', 'r'])).toEqual([])
    expect((await up.stop()).code).toBe(0)
    const verified = await runCommand(['verify'], { cwd: folder, env })
    expect({ code: verified.code, err: verified.code === 0 ? '' : verified.out + verified.err }).toEqual({
      ...{ code: 0, err: '' },
    })
  },
  LIMIT_MS,
)
