/**
 * A data directory that an earlier version wrote, opened by this one while clients hold cursors. Where the numbers stay the same,
 * no push is lost or doubled; where they change, clients are told what they miss. A newer directory is refused.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { listenedMarket, openingOf, subscriptionsOn } from '../rig/cluster/listened-market.js'
import { verdictOn } from '../rig/cluster/pushes.js'
import { type ResumingClient, startResumingClient } from '../rig/cluster/resuming-client.js'
import { candleDifferences } from '../rig/cluster/stored-candles.js'
import { storeTargetOf } from '../rig/engine.js'
import { DEXTAPE, removeScratchFolders, runCommand, scratchFolder } from '../rig/http/command.js'
import { marketMoney, moneySections } from '../rig/market/money.js'
import { recompute } from '../rig/reference/recompute.js'
import { previousRelease, type Release } from '../rig/release/previous-release.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { readUpdates, withLog } from '../rig/up/contents.js'
import { untilSeqs } from '../rig/up/play.js'
import { startUp, type UpProcess } from '../rig/up/process.js'
import { interleave, seqsOf, writeTape } from '../rig/up/recording.js'

const CHAINS = ['eth', 'solana']
const KEY = 'dx_upgrade_of_tests'
const SEED = 47
const SPEED = '4'
const PUSHES = 400
const CLEAR_OF_OPENING = 10
const started: UpProcess[] = []

afterAll(async () => {
  for (const one of started) await one.kill()
  removeScratchFolders()
})

type Installation = {
  dataDir: string
  lines: Map<string, ReturnType<typeof listenedMarket>>
  client: () => ResumingClient
  /** Starts this program on the directory, and waits until clients got some more pushes. */
  runs(program: string): Promise<UpProcess>
}

/** A market that an earlier version has begun to follow, with a client that listens. */
async function begin(release: Release): Promise<Installation> {
  const folder = scratchFolder()
  const dataDir = join(folder, 'data')
  const lines = new Map(
    CHAINS.map((chain) => [chain, listenedMarket({ seed: SEED, chain, blocks: 1200, isListened: true })]),
  )
  const all = interleave([...lines.values()])
  const opening = openingOf(all, CHAINS)
  const openingTape = writeTape(join(folder, 'opening.jsonl'), opening)
  const tape = writeTape(join(folder, 'tape.jsonl'), all)
  const [http_port, ws_port] = [await steadyPort(), await steadyPort()]
  const config = {
    ...{ http_port, ws_port, chains: moneySections(CHAINS.map(marketMoney)) },
    ...{ intervals: { flush_ms: 200, checkpoint_ms: 500 }, retention: { updates_h: 1_000_000, s1_candles_d: 100_000 } },
  }
  let client: ResumingClient | undefined

  function start(program: string, events: string, speed: string): UpProcess {
    const command = [process.execPath, '--max-semi-space-size=32', program] as const
    const up = startUp({ dataDir, config, events, speed, command: [...command], env: { DEXTAPE_API_KEY: KEY } })
    started.push(up)
    return up
  }

  const first = start(release.program, openingTape, 'max')
  await untilSeqs(first, seqsOf(opening))
  expect((await first.stop()).code).toBe(0)
  const told = () => client?.told.flatMap(({ cursors }) => [...cursors.values()]).flat().length ?? 0
  return {
    ...{ dataDir, lines },
    client: () => {
      if (client === undefined) throw new Error('nobody listens yet')
      return client
    },
    async runs(program) {
      const up = start(program, tape, SPEED)
      await up.until('blocks behind the opening', async () => {
        const status = await up.status()
        return [...seqsOf(opening)].every(([chain, seq]) => (status.get(chain)?.seq ?? 0) > seq + CLEAR_OF_OPENING)
      })
      const url = `ws://127.0.0.1:${ws_port}`
      client ??= startResumingClient({ url, key: KEY, subscriptions: subscriptionsOn(lines, CHAINS) })
      await client.listening
      const before = told()
      await up.until('pushes', async () => told() > before + PUSHES)
      return up
    },
  }
}

/** Every candle is what the reference computes, and `verify` finds no difference. */
async function expectStored({ dataDir, lines }: Installation): Promise<void> {
  for (const chain of CHAINS) {
    // Each line is one update; the last lines may not have been folded when it stopped.
    const folded = (await readUpdates(dataDir, chain)).at(-1)?.seq
    const reference = recompute((lines.get(chain) ?? []).slice(0, folded), marketMoney(chain))
    expect(reference.candles.size).toBeGreaterThan(100)
    expect((await candleDifferences(storeTargetOf(dataDir), reference)).slice(0, 10)).toEqual([])
  }
  const env = { DEXTAPE_DATA_DIR: dataDir, DEXTAPE_CONFIG: `${dataDir}.config.json` }
  const { code, out, err } = await runCommand(['verify'], { cwd: join(dataDir, '..'), env, program: DEXTAPE })
  expect({ code, out, err: code === 0 ? '' : err }).toMatchObject({ code: 0, err: '' })
}

describe('a data directory of the previous release with the same rules', () => {
  const release = previousRelease('same rules')

  const back = release.hasSameTables ? release.program : DEXTAPE

  it(`is upgraded in place, back if tables allow, and again, with every push once (from ${release.name})`, async () => {
    const installation = await begin(release)
    for (const [at, program] of [release.program, DEXTAPE, back, DEXTAPE].entries()) {
      const up = await installation.runs(program)
      const { code } = at === 1 ? await up.kill() : await up.stop()
      expect(code).toBe(at === 1 ? null : 0)
    }
    const { told, notices, connections, close } = installation.client()
    await close()
    const { pushes, due, ...verdict } = await withLog(installation.dataDir, (opened) => verdictOn(opened, CHAINS, told))
    console.info(`${pushes} pushes over ${connections()} connections; ${due} due, ${verdict.lost} lost`)
    expect({ ...verdict, notices: notices.slice(0, 5) }).toEqual({
      ...{ lost: 0, twice: 0, disordered: 0, undue: 0, examples: [], notices: [] },
    })
    await expectStored(installation)
  }, 600_000)
})

describe('a data directory of the previous release with other rules', () => {
  const release = previousRelease('other rules')

  it(`is folded again in a new epoch, and clients are told what they miss (from ${release.name})`, async () => {
    const installation = await begin(release)
    expect((await (await installation.runs(release.program)).stop()).code).toBe(0)
    const up = await installation.runs(DEXTAPE)
    const { told, notices, close } = installation.client()
    const epoch = release.isPrevious ? 2 : 1
    const isPushed = (chain: string) =>
      told.some(({ cursors }) => cursors.get(chain)?.at(-1)?.startsWith(`${epoch}:`) === true)
    await up.until(`pushes of epoch ${epoch}`, async () => CHAINS.every(isPushed))
    await up.until('no backlog', async () => {
      const metrics = await up.metrics()
      return CHAINS.every((chain) => (metrics.get(`dextape_fold_backlog_records{chain="${chain}"}`) ?? 99) < 3)
    })
    expect((await up.stop()).code).toBe(0)
    await close()
    const gaps = notices.filter((text) => text.includes('"gap"'))
    expect([gaps.length > 0, notices.length - gaps.length]).toEqual([release.isPrevious, 0])
    const cursors = told.flatMap((one) => [...one.cursors.values()])
    expect(cursors.flatMap((all) => all.length - new Set(all).size).filter((twice) => twice > 0)).toEqual([])
    await expectStored(installation)
  }, 600_000)
})

describe('a data directory of a newer version', () => {
  it('is refused by its version, with one message that names both', async () => {
    const { program } = previousRelease('same rules')
    const folder = scratchFolder()
    const env = { DEXTAPE_DATA_DIR: join(folder, 'data'), DEXTAPE_HTTP_PORT: '0', DEXTAPE_WS_PORT: '0' }
    const up = startUp({ dataDir: env.DEXTAPE_DATA_DIR, config: { simulator: { history_h: 0 } } })
    await up.serving
    await up.stop()
    writeFileSync(join(env.DEXTAPE_DATA_DIR, 'VERSION'), '2\n')
    for (const command of ['up', 'verify']) {
      const { code, out, err } = await runCommand([command], { cwd: folder, env, program })
      expect({ code, out, err }).toEqual({
        ...{ code: 78, out: '' },
        err: `dextape: The data directory ${env.DEXTAPE_DATA_DIR} was written by a newer version of Dextape; expected version 1 or older; got version 2. Run that newer version, or set DEXTAPE_DATA_DIR to another directory.\n`,
      })
    }
  }, 300_000)

  const release = previousRelease('older store')
  it(`is refused where its tables are newer (by ${release.name})`, async () => {
    const folder = scratchFolder()
    const dataDir = join(folder, 'data')
    const up = startUp({ dataDir, config: { simulator: { history_h: 0 } } })
    await up.serving
    await up.stop()
    const env = { DEXTAPE_DATA_DIR: dataDir, DEXTAPE_HTTP_PORT: '0', DEXTAPE_WS_PORT: '0' }
    const { code, err } = await runCommand(['up'], { cwd: folder, env, program: release.program, withinMs: 60_000 })
    expect({ code, err }).toEqual({
      ...{
        code: 78,
        err: expect.stringMatching(
          /The store was created by a newer version of this program; expected nothing after \d+_\w+; got \d+_\w+/,
        ),
      },
    })
  }, 300_000)
})
