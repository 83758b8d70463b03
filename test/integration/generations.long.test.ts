/** Backfills of a chain whose head moves: what is served after the switch, and after kills around it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { openLog } from '../../services/cli/open-data.js'
import { findDataDir } from '../../services/core/data-dir/data-dir.js'
import { type Held, heldLive } from '../rig/chains/log-contents.js'
import type { ProcessPlan } from '../rig/chains/open-moving-chain.js'
import { countOf, seedOf } from '../rig/counts.js'
import { candleDifferences, pairDifferences, playedBy, tokenDifferences } from '../rig/http/against-reference.js'
import { removeScratchFolders, runCommand, scratchFolder, startCommand } from '../rig/http/command.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { dataDirOf, environmentOf, startUp, type Up, type UpPlan } from '../rig/http/up.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'
import { acceptedBlocks } from '../rig/reference/lines.js'

const CHAIN = 'eth'
const SEED = seedOf('generationSwitches')
const SWITCHES = countOf('generationSwitches')
const PROGRAM = join(repositoryRoot(), 'dist/test/rig/chains/dextape.js')
const options = { retracts: { probability: 0.15, maxDepth: 8 }, quietDay: 0, quietHour: 0, swapsPerBlock: 2 }

afterAll(removeScratchFolders)

/** A market whose first `trueNow` lines have already happened; one more happens every `lineMs`. */
function newMarket(blocks: number, { trueNow, lineMs }: { trueNow: number; lineMs: number }) {
  const lines = generateRecording({ seed: SEED, chain: CHAIN, blocks, options })
  const canonical = acceptedBlocks(lines)
  const folder = scratchFolder()
  const plan: ProcessPlan = {
    tape: writeRecording(folder, 'tape.jsonl', lines),
    ...{ startedMs: Date.now() - trueNow * lineMs, lineMs },
  }
  const planFile = join(folder, 'plan.json')
  writeFileSync(planFile, JSON.stringify(plan))
  const late = acceptedBlocks(lines.slice(0, trueNow))[Math.floor(trueNow / 3)]?.number ?? 0
  const upPlan: UpPlan = {
    ...{ folder, chains: [marketMoney(CHAIN)], program: { file: PROGRAM, args: [planFile, 'up'] } },
    sections: { [CHAIN]: { rpc: ['http://127.0.0.1:1'], start: late } },
    settings: { retention: { s1_candles_d: 3650 }, intervals: { flush_ms: 200, checkpoint_ms: 200, progress_s: 1 } },
  }
  const env = environmentOf(upPlan)
  const backfill = (...args: string[]) =>
    startCommand([planFile, 'backfill', CHAIN, ...args], { cwd: folder, env, program: PROGRAM })
  return { lines, canonical, folder, upPlan, env, late, backfill }
}

type Market = ReturnType<typeof newMarket>

/** Two parts report the folded and the served state, so `indexed_from` may be ahead of the epoch. */
const untilServed = (up: Up, { canonical }: Market, from: number | undefined, epoch = 1) =>
  up.until(CHAIN, `served from ${from} to its head`, (status) => {
    return status.head === canonical.at(-1)?.number && status.indexed_from === from && status.epoch >= epoch
  })

async function held({ folder }: Market): Promise<Held & { generation: number }> {
  const open = await openLog({ log: { kind: 'embedded' } }, () => findDataDir(dataDirOf(folder)))
  try {
    return await heldLive(open, CHAIN)
  } finally {
    await open.log.close()
  }
}

const hashesOf = ({ canonical }: Market, from: number) =>
  canonical.flatMap(({ number, hash }) => (number >= from ? [hash] : []))

async function verified({ folder, env }: Market): Promise<void> {
  const { code, out, err } = await runCommand(['verify'], { cwd: folder, env })
  expect({ code, err: code === 0 ? '' : `${out}\n${err}` }).toEqual({ code: 0, err: '' })
}

describe('a backfill under a running up', () => {
  it('is served in a new epoch, with the numbers of a run over the whole history', async () => {
    const market = newMarket(260, { trueNow: 150, lineMs: 30 })
    const { canonical, late, lines } = market
    const first = canonical[0]?.number ?? 0
    const up = await startUp(market.upPlan)
    const before = await up.until(CHAIN, 'served', ({ head, indexed_from: from }) => head > late && from === late)
    expect(before).toMatchObject({ epoch: 1, source: 'moving:eth' })
    const { code, out, err } = await market.backfill('0').ended
    expect({ code, out: out.split('\n')[0], err: code === 0 ? '' : err }).toEqual({
      ...{ code: 0, out: expect.stringContaining(`Generation 2 of eth is live: blocks ${first} to `), err: '' },
    })
    const after = await untilServed(up, market, first, 2)
    expect(after).toMatchObject({ epoch: 2, stopped: null, gaps: 0 })
    const played = playedBy(lines, marketMoney(CHAIN))
    expect(await pairDifferences(up, played)).toEqual([])
    expect(await tokenDifferences(up, played)).toEqual([])
    expect(
      await candleDifferences(up, played, (series) => (series % 13 < countOf('candleSeries') ? ['u'] : [])),
    ).toEqual([])
    expect((await up.stop()).code).toBe(0)
    expect(await held(market)).toMatchObject({ generation: 2, wrong: [], hashes: hashesOf(market, 0) })
    await verified(market)
  })

  if (SWITCHES > 0)
    it(`loses and repeats no block when either process is killed around the switch (seed ${SEED})`, async () => {
      const market = newMarket(200 + 50 * SWITCHES, { trueNow: 200, lineMs: 25 })
      const random = createRandom(SEED)
      let up = await startUp(market.upPlan)
      // A backfill joins a live history, so there must be one.
      await up.until(CHAIN, 'served', ({ head }) => head > market.late)
      let [tookMs, switched, kills] = [1500, 0, 0]
      const killUp = async () => {
        await up.stop('SIGKILL')
        kills += 1
        up = await startUp(market.upPlan)
      }
      // Rounds kill in turn: the backfill, up during the backfill, up during the switch.
      for (let round = 0; switched < SWITCHES || round < 3; round += 1) {
        const started = Date.now()
        const writing = market.backfill()
        if (round % 3 === 0) {
          // During the backfill, or right at the switch.
          await Promise.race([sleep(random.int(Math.floor(tookMs / 2), tookMs + 100)), writing.ended])
          if (writing.child.kill('SIGKILL')) kills += 1
        } else if (round % 3 === 1) {
          // During the backfill, or at the switch.
          await Promise.race([sleep(random.int(Math.floor(tookMs / 2), tookMs)), writing.ended])
          await killUp()
        }
        const { code, err } = await writing.ended
        if (code === 0) {
          switched += 1
          tookMs = Date.now() - started
          await sleep(random.int(0, 200))
          if (round % 3 === 2) await killUp()
        } else expect({ code, err: code === null ? '' : err }).toEqual({ code: null, err: '' })
      }
      expect(kills).toBeGreaterThan(SWITCHES / 2)
      await untilServed(up, market, market.late)
      expect((await up.stop()).code).toBe(0)
      const { generation, wrong, hashes } = await held(market)
      expect(generation).toBeGreaterThanOrEqual(switched + 1)
      expect(wrong).toEqual([])
      expect(hashes).toEqual(hashesOf(market, market.late))
      await verified(market)
    })
})
