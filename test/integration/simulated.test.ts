/** The simulated market: live on every topic within seconds, separate from real data, complete after a crash. */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BUILT_IN_CHAINS } from '../../services/core/config/built-in-chains.js'
import { flagships } from '../../services/ingest/sources/simulator/simulator.js'
import { isLongRun } from '../rig/counts.js'
import { storeEnvironmentOf } from '../rig/engine.js'
import { removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { generateRecording } from '../rig/market/generate.js'
import { startUp, type UpProcess } from '../rig/up/process.js'
import { connect, type Frame } from '../serve/push-client.js'

const CHAINS = ['eth', 'bsc', 'solana'] as const
const KEY = 'dx_simulated'
/** The slowest chain has a block every twelve seconds. */
const LIVE_LAG_S = 20
const SMALL = { simulator: { history_h: 0.05 }, intervals: { checkpoint_ms: 500 } }
/** For tests that only need a simulated data directory. */
const EMPTY = { ...SMALL, simulator: { history_h: 0 } }

let dataDir: string
const running: UpProcess[] = []
beforeEach(() => {
  dataDir = join(scratchFolder(), 'data')
})
afterEach(async () => {
  for (const up of running.splice(0)) await up.kill()
})
afterAll(removeScratchFolders)

function start(options: Partial<Parameters<typeof startUp>[0]> = {}): UpProcess {
  const up = startUp({ dataDir, config: SMALL, env: { DEXTAPE_API_KEY: KEY }, ...options })
  running.push(up)
  return up
}

const place = () => ({ cwd: dirname(dataDir), env: { ...storeEnvironmentOf(dataDir) } })
const command = (...args: string[]) => runCommand([...args, '--data-dir', dataDir], place())
/** For commands that are rejected before they open anything. */
const commandHere = (...args: string[]) => runHere([...args, '--data-dir', dataDir], place())

const live = async (up: UpProcess) =>
  up.until('the clock', async () => [...(await up.status()).values()].every(({ lag_s }) => lag_s < LIVE_LAG_S))

describe('a simulated market', () => {
  test('pushes on every topic of every chain within 20 s', async () => {
    const up = start()
    const { ws, rest } = await up.serving
    const { simulated, chains } = (await (await fetch(`${rest}/status`)).json()) as {
      simulated: boolean
      chains: { chain: string; source: string }[]
    }
    expect(simulated).toBe(true)
    expect(chains.map(({ chain, source }) => [chain, source])).toEqual(
      ['bsc', 'eth', 'solana'].map((chain) => [chain, 'simulator']),
    )
    const facts = BUILT_IN_CHAINS.filter(({ chain }) => (CHAINS as readonly string[]).includes(chain))
    const client = await connect(ws, { 'x-api-key': KEY })
    const waiting = new Set<string>()
    for (const { chain, pair, token } of flagships(1, facts)) {
      const wanted: [string, unknown[]][] = [
        ['tx', ['tx', pair, chain]],
        ['multi_tx', ['multi_tx', token, chain]],
        ['liq', ['liq', pair, chain]],
        ['kline', ['kline', pair, 's1', chain]],
        ['multi_kline', ['multi_kline', [pair, 'k1', chain], [pair, 'k15', chain]]],
        ['price', ['price', [`${token}-${chain}`]]],
      ]
      for (const [topic, params] of wanted) {
        const id = `${topic} ${chain}`
        waiting.add(id)
        expect(await client.call('subscribe', params, id)).toMatchObject({ id, result: { status: 'ok' } })
      }
    }
    const deadline = Date.now() + 20_000
    const note = ({ id, result }: Frame) => result?.topic !== undefined && waiting.delete(String(id))
    client.frames.splice(0).forEach(note)
    client.socket.on('message', (data) => note(JSON.parse(String(data)) as Frame))
    while (waiting.size > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50))
    expect([...waiting]).toEqual([])
    client.close()
    expect((await up.stop()).code).toBe(0)
  })

  // In every run crash.test.ts kills `up`, and ingest/simulator/resume.test.ts resumes the market.
  if (isLongRun())
    test('resumes after kill -9 and after a stop with correct numbers', async () => {
      const first = start()
      await live(first)
      await first.kill()
      const second = start()
      await live(second)
      const before = await second.status()
      expect((await second.stop()).code).toBe(0)
      const third = start()
      await live(third)
      for (const [chain, { indexed_from, stopped, dead_letters, epoch, head }] of await third.status()) {
        const was = before.get(chain)
        expect({ indexed_from, stopped, dead_letters, epoch }).toEqual({
          ...{ indexed_from: was?.indexed_from, stopped: null },
          ...{ dead_letters: 0, epoch: was?.epoch },
        })
        expect(head).toBeGreaterThanOrEqual(was?.head ?? 0)
      }
      expect((await third.stop()).code).toBe(0)
      const verified = await command('verify')
      expect({ code: verified.code, err: verified.err.includes('differs') }).toEqual({ code: 0, err: false })
    })
})

describe('simulated and real data', () => {
  const recording = () =>
    writeRecording(dirname(dataDir), 'real.jsonl', generateRecording({ seed: 5, chain: 'eth', blocks: 20 }))
  const refusal = (held: string, wanted: string) =>
    `The data directory ${dataDir} holds ${held} data; it cannot be mixed with ${wanted}`

  test('rejects a recording in a simulated data directory or in its store', async () => {
    const up = start({ config: EMPTY })
    await up.serving
    await up.stop()
    for (const args of [
      ['up', '--events', recording()],
      ['topics', 'import', recording()],
    ]) {
      const { code, err } = await commandHere(...args)
      expect({ code, err }).toEqual({ code: 78, err: expect.stringContaining(refusal('simulated (seed 1)', 'real')) })
    }
    // The directory is now marked as real, but its store is still marked as simulated.
    writeFileSync(join(dataDir, 'ORIGIN'), 'real\n')
    const { code, err } = await command('up', '--events', recording())
    expect({ code, err }).toEqual({ code: 78, err: expect.stringContaining('The store holds simulated data') })
  })

  test('serves a directory of real data without simulating, and rejects a simulation in it', async () => {
    expect((await commandHere('topics', 'import', recording())).code).toBe(0)
    for (const args of [['--simulate'], ['--rate', '5'], ['--seed', '3']]) {
      const { code, err } = await commandHere('up', ...args)
      expect({ code, err }).toEqual({ code: 78, err: expect.stringContaining(refusal('real', 'simulated')) })
    }
    const up = start()
    const { rest } = await up.serving
    expect(await (await fetch(`${rest}/status`)).json()).toMatchObject({ simulated: false })
    const { out } = await up.stop()
    expect(out).toContain('No source: serving existing data only')
    expect(out).not.toContain('SIMULATED')
  })

  test('rejects an invalid rate or seed', async () => {
    for (const [option, value] of [
      ['--rate', '0'],
      ['--rate', '50001'],
      ['--seed', '1.5'],
      ['--rate', 'fast'],
    ] as const) {
      const { code, err } = await commandHere('up', option, value)
      expect({ code, err }).toEqual({ code: 78, err: expect.stringContaining(option) })
    }
  })
})
