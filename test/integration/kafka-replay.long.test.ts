/**
 * Chains of a cluster replayed with other money while clients listen at two serve nodes. The replay and the aggregators are killed
 * on the way: no client loses or doubles a push, all are told of the epoch, and no row is wrong.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { ChainFacts } from '../../services/core/domain/chains.js'
import { stateTopic } from '../../services/core/log/port.js'
import { chainsOf } from '../rig/cluster/owners.js'
import { countOf, seedOf } from '../rig/counts.js'
import { removeScratchFolders, runCommand } from '../rig/http/command.js'
import { marketMoney } from '../rig/market/money.js'
import { createRandom } from '../rig/market/random.js'
import { expectSwitched, type ReplayedCluster, startReplayedCluster } from '../rig/replay/replayed-cluster.js'

const CHAINS = ['eth', 'bsc']
const SEED = seedOf('clusterReplays')
const REPLAYS = countOf('clusterReplays')
const CLIENTS = 20
const LIMIT_MS = 900_000

/** Every other replay has stables, none has majors: each changes most prices. */
const moneyFor = (round: number): ChainFacts[] =>
  CHAINS.map(marketMoney).map((money) =>
    round % 2 === 0 ? { ...money, stables: [], majors: [] } : { ...money, majors: [] },
  )

let replayed: ReplayedCluster

beforeAll(async () => {
  replayed = await startReplayedCluster({ seed: SEED, chains: CHAINS, aggregates: 2, serves: 2, replays: REPLAYS })
}, 300_000)

afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(replayed?.cluster.tails(60))
})
afterAll(async () => {
  await replayed?.cluster.stop()
  removeScratchFolders()
})

async function killOwner(chain: string): Promise<void> {
  for (const aggregate of replayed.cluster.aggregates)
    if ((await chainsOf(aggregate)).includes(chain)) await aggregate.restart()
}

/** Runs it to its end; after so many milliseconds it is killed and begun again. */
async function replay(chain: string, env: Record<string, string>, killAfterMs: number, killsOwner: boolean) {
  const first = replayed.begin(chain, env)
  await Promise.race([sleep(killAfterMs), first.ended])
  first.child.kill('SIGKILL')
  await first.ended
  const running = replayed.begin(chain, env)
  let isOver = false
  void running.ended.then(() => {
    isOver = true
  })
  let isKilled = !killsOwner
  while (!isOver) {
    const { replays } = await replayed.cluster.status()
    const isSwitching = replays.some((one) => one.chain === chain && one.running && one.stage === 'switching')
    if (isSwitching && !isKilled) {
      isKilled = true
      await killOwner(chain)
    }
    await Promise.race([sleep(100), running.ended])
  }
  await expectSwitched(chain, running)
}

async function abandon(chain: string, env: Record<string, string>): Promise<void> {
  const { cluster, folder } = replayed
  const running = replayed.begin(chain, env)
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
    const listeners = await replayed.listen(CLIENTS)
    for (let round = 0; round < REPLAYS; round += 1) {
      const env = replayed.environmentWith(moneyFor(round))
      for (const chain of CHAINS) await replay(chain, env, random.int(1500, 6000), random.int(0, 1) === 0)
    }
    const updates = await replayed.finish(listeners)
    await abandon(CHAINS[0] ?? '', replayed.environmentWith(moneyFor(REPLAYS)))
    // Only the checkpoints of the live epoch are kept.
    const topics = await replayed.cluster.log.topicNames()
    for (const chain of CHAINS)
      expect(topics.filter((topic) => topic.startsWith(stateTopic(chain)))).toEqual([
        stateTopic(chain, updates.get(chain)?.at(-1)?.epoch),
      ])
    await replayed.verify()
  },
  LIMIT_MS,
)
