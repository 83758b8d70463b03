/**
 * The group of aggregators changes while a chain is switched to its replay: its owner leaves, or is frozen until the others have
 * finished the switch and goes on with it then, and another aggregator joins.
 */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createReplays, type ReplayPhase } from '../../services/core/coordination/replays.js'
import { chainsOf } from '../rig/cluster/owners.js'
import type { Service } from '../rig/cluster/service.js'
import { seedOf } from '../rig/counts.js'
import { removeScratchFolders } from '../rig/http/command.js'
import { marketMoney } from '../rig/market/money.js'
import { expectSwitched, type ReplayedCluster, startReplayedCluster } from '../rig/replay/replayed-cluster.js'

const CHAIN = 'eth'
const SEED = seedOf('clusterReplays')
const CLIENTS = 20
/** The phase in which the owner is disturbed, and how. */
const ROUNDS: readonly [ReplayPhase, 'leaves' | 'freezes'][] = [
  ['switching', 'leaves'],
  ['switching', 'freezes'],
  ['cleaning', 'freezes'],
  ['ready', 'freezes'],
]
const LIMIT_MS = 600_000

let replayed: ReplayedCluster

beforeAll(async () => {
  const plan = { seed: SEED, chains: [CHAIN], aggregates: 3, serves: 2, replays: ROUNDS.length }
  replayed = await startReplayedCluster(plan)
}, 300_000)

afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(replayed?.cluster.tails(60))
})
afterAll(async () => {
  await replayed?.cluster.stop()
  removeScratchFolders()
})

async function ownerOf(chain: string): Promise<Service> {
  for (const aggregate of replayed.cluster.aggregates) if ((await chainsOf(aggregate)).includes(chain)) return aggregate
  throw new Error(`no aggregator has ${chain}`)
}

/** Watches the record that the processes agree by. */
async function onceIn(phase: ReplayPhase, act: () => void): Promise<() => Promise<void>> {
  const replays = createReplays(replayed.cluster.log)
  await replays.load()
  let isDone = false
  replays.onChange((chain, replay) => {
    if (chain !== CHAIN || replay.phase !== phase || isDone) return
    isDone = true
    act()
  })
  return async () => {
    await replays.close()
    expect(isDone).toBe(true)
  }
}

it(
  `${ROUNDS.length} switches with ${CLIENTS} clients (seed ${SEED})`,
  async () => {
    const { cluster } = replayed
    const listeners = await replayed.listen(CLIENTS)
    for (const [round, [phase, how]] of ROUNDS.entries()) {
      const owner = await ownerOf(CHAIN)
      const joining = cluster.aggregates.find((one) => one !== owner) as Service
      await joining.stop()
      const disturbed: Promise<unknown>[] = []
      const watched = await onceIn(phase, () => {
        disturbed.push(how === 'leaves' ? owner.stop() : owner.pause(), joining.restart())
      })
      const money = { ...marketMoney(CHAIN), majors: [], ...(round % 2 === 0 ? { stables: [] } : {}) }
      await expectSwitched(CHAIN, replayed.begin(CHAIN, replayed.environmentWith([money])))
      await watched()
      await Promise.all(disturbed)
      if (how === 'leaves') await owner.restart()
      else await owner.resume()
      for (const aggregate of cluster.aggregates) await aggregate.until('ready', aggregate.isReady)
    }
    await replayed.finish(listeners)
    expect(cluster.aggregates.map((aggregate) => aggregate.fallen())).toEqual([undefined, undefined, undefined])
    await replayed.verify()
  },
  LIMIT_MS,
)
