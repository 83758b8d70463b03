/**
 * Chains of a cluster replayed with other money while clients listen at two serve nodes. The replay and the aggregators are killed
 * on the way: no client loses or doubles a push, all are told of the epoch, and no row is wrong.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { ChainFacts } from '../../services/core/domain/chains.js'
import { stateTopic } from '../../services/core/log/port.js'
import { type Cluster, KEY, startCluster } from '../rig/cluster/cluster.js'
import { openedLogOf } from '../rig/cluster/contents.js'
import { chainsOf } from '../rig/cluster/owners.js'
import { countOf, seedOf } from '../rig/counts.js'
import { removeScratchFolders, runCommand, scratchFolder, startCommand } from '../rig/http/command.js'
import { marketMoney, moneySections } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'
import { expectPushes } from '../rig/replay/expect-pushes.js'
import { type Listener, listenTo } from '../rig/replay/listeners.js'
import { updatesIn } from '../rig/up/contents.js'
import { generateTape, seqsOf, writeTape } from '../rig/up/recording.js'

const CHAINS = ['eth', 'bsc']
const SEED = seedOf('clusterReplays')
const REPLAYS = countOf('clusterReplays')
const CLIENTS = 20
const HISTORY = 600
const LIMIT_MS = 900_000

/** Every other replay has stables, none has majors: each changes most prices. */
const moneyFor = (round: number): ChainFacts[] =>
  CHAINS.map(marketMoney).map((money) =>
    round % 2 === 0 ? { ...money, stables: [], majors: [] } : { ...money, majors: [] },
  )

let cluster: Cluster
const folder = scratchFolder()

beforeAll(async () => {
  const options = {
    ...{ quietDay: 0, quietHour: 0, maxTimeBackS: 0, swapsPerBlock: 3, secondsPerBlock: 4 },
    retracts: { probability: 0.03, maxDepth: 4 },
  }
  const lines = generateTape({ seed: SEED, chains: CHAINS, blocksPerChain: HISTORY + 400 * REPLAYS, options })
  const opening = lines.slice(0, HISTORY * CHAINS.length)
  const tape = writeTape(join(folder, 'tape.jsonl'), lines)
  cluster = await startCluster({
    ...{
      ingest: ['--events', writeTape(join(folder, 'opening.jsonl'), opening)],
      aggregates: 2,
      serves: 2,
      chains: CHAINS.map(marketMoney),
    },
    settings: {
      ...{ intervals: { flush_ms: 500, checkpoint_ms: 1000 } },
      retention: { updates_h: 1_000_000, s1_candles_d: 3650 },
    },
  })
  await cluster.untilSeqs(seqsOf(opening), 120_000).catch((error: unknown) => {
    throw new Error(`${error}\n${cluster.tails()}`)
  })
  await cluster.ingest.restart(['--events', tape, '--speed', '8'])
}, 300_000)

afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(cluster?.tails(60))
})
afterAll(async () => {
  await cluster?.stop()
  removeScratchFolders()
})

function environmentWith(money: readonly ChainFacts[]): Record<string, string> {
  const file = join(folder, 'replay.json')
  const settings = JSON.parse(readFileSync(join(cluster.folder, 'dextape.json'), 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...settings, chains: moneySections(money) }))
  return { DEXTAPE_CONFIG: file, DEXTAPE_API_KEY: KEY, CLICKHOUSE_URL: cluster.store.url }
}

async function killOwner(chain: string): Promise<void> {
  for (const aggregate of cluster.aggregates) if ((await chainsOf(aggregate)).includes(chain)) await aggregate.restart()
}

/** Runs it to its end; `killed` after so many milliseconds it is killed and begun again. */
async function replay(chain: string, env: Record<string, string>, killAfterMs: number, killsOwner: boolean) {
  const begin = () => startCommand(['replay', '--chain', chain], { cwd: folder, env })
  const first = begin()
  await Promise.race([sleep(killAfterMs), first.ended])
  first.child.kill('SIGKILL')
  await first.ended
  const running = begin()
  let isOver = false
  void running.ended.then(() => {
    isOver = true
  })
  let isKilled = !killsOwner
  while (!isOver) {
    const { replays } = await cluster.status()
    const isSwitching = replays.some((one) => one.chain === chain && one.running && one.stage === 'switching')
    if (isSwitching && !isKilled) {
      isKilled = true
      await killOwner(chain)
    }
    await Promise.race([sleep(100), running.ended])
  }
  const { code, out, err } = await running.ended
  expect({ code, out, err: code === 0 ? '' : err }).toEqual({
    ...{ code: 0, out: expect.stringMatching(`^${chain} continues in epoch \\d+, as replayed\\.\n$`), err: '' },
  })
}

async function abandon(chain: string, env: Record<string, string>): Promise<void> {
  const running = startCommand(['replay', '--chain', chain], { cwd: folder, env })
  await cluster.serve.until('a replay', async () => (await cluster.status()).replays.some((one) => one.running))
  running.child.kill('SIGKILL')
  await running.ended
  const { code, out, err } = await runCommand(['replay', '--chain', chain, '--abandon'], { cwd: folder, env })
  expect({ code, out, err: code === 0 ? '' : err }).toEqual({
    ...{ code: 0, out: `Deleted the unfinished replay of ${chain}; the live tables were not touched.\n`, err: '' },
  })
}

it(
  `${REPLAYS} replays with ${CLIENTS} clients (seed ${SEED})`,
  async () => {
    const random = createRandom(SEED)
    const listeners: Listener[] = []
    for (let at = 0; at < CLIENTS; at += 1) {
      const url = cluster.wsUrls[at % cluster.wsUrls.length] ?? ''
      listeners.push(await listenTo(url, KEY, CHAINS[(at >> 1) % CHAINS.length] ?? '', () => {}))
    }
    for (let round = 0; round < REPLAYS; round += 1) {
      const env = environmentWith(moneyFor(round))
      for (const chain of CHAINS) await replay(chain, env, random.int(1500, 6000), random.int(0, 1) === 0)
    }
    await cluster.ingest.stop()
    const ends = new Map<string, number>()
    for (const chain of CHAINS) ends.set(chain, (await cluster.log.info(`dex.blocks.${chain}`)).end)
    await cluster.untilSeqs(ends)
    await sleep(2000)
    expect(listeners.filter((listener) => listener.isClosed())).toEqual([])
    for (const chain of CHAINS) {
      const updates = await updatesIn(openedLogOf(cluster), chain)
      const ofChain = listeners.filter((listener) => listener.chain === chain)
      expect(expectPushes(ofChain, updates).length).toBe(REPLAYS)
      if (chain === CHAINS[0]) await abandon(chain, environmentWith(moneyFor(REPLAYS)))
      // Only the checkpoints of the live epoch are kept.
      const states = (await cluster.log.topicNames()).filter((topic) => topic.startsWith(stateTopic(chain)))
      expect(states).toEqual([stateTopic(chain, updates.at(-1)?.epoch)])
    }
    for (const listener of listeners) listener.close()
    // With the configuration of the servers, which has the money from before the first replay.
    const verified = await cluster.run('verify')
    expect({ code: verified.code, err: verified.code === 0 ? '' : verified.out + verified.err }).toEqual({
      ...{ code: 0, err: '' },
    })
  },
  LIMIT_MS,
)
