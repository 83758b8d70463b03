/** One seed: a cluster that lives through everything the seed has in store, then calm, then the check of what is left. */
import type { Serve } from '../../services/serve/assemble.js'
import { createRandom, type Random } from '../rig/market/random.js'
import { checkRun } from './check.js'
import { createSimulatedClient, type SimulatedClient } from './client.js'
import { CALM, createProcess, type FaultPlan, type SimulatedProcess } from './faults.js'
import { type AggregateProcess, type Cluster, runIngest, startAggregate, startServe } from './processes.js'
import { createSimulatedChain } from './simulated-chain.js'
import { createLogDisk } from './simulated-log.js'
import { createNetwork } from './simulated-network.js'
import { createStateDisk } from './simulated-state.js'
import { createStoreDisk } from './simulated-store.js'
import { installVirtualTime } from './virtual-time.js'

export type SeedResult = {
  seed: number
  /** What is wrong; empty: everything stored and pushed is right. */
  problems: string[]
  /** How often each fault was injected. */
  injected: Record<string, number>
  blocks: number
  pushes: number
}

/** Everything is played within this simulated time, or something hangs. */
const LIMIT_MS = 1_800_000
/** Longer than any retry, poll and hand-over. */
const CALM_LIMIT_MS = 120_000
const LAST_PUSHES_MS = 5000
const WITNESS = 'witness'

/** `trace` gets a line for everything that happens to processes and clients. */
export async function runSeed(seed: number, trace: (line: string) => void = () => {}): Promise<SeedResult> {
  const random = createRandom(seed)
  const time = installVirtualTime(createRandom(seed ^ 0x5eed))
  const injected: Record<string, number> = {}
  const tell = (line: string) => trace(`${time.nowMs() % 100_000_000} ${line}`)
  const note = (kind: string, who: string) => {
    injected[kind] = (injected[kind] ?? 0) + 1
    tell(`${who} ${kind}`)
  }
  try {
    const chains = (random.chance(0.25) ? ['eth', 'solana'] : [random.pick(['eth', 'solana'])]).map((chain, at) =>
      createSimulatedChain(chain, seed * 2 + at, random),
    )
    const network = createNetwork(time, random)
    const cluster: Cluster = {
      ...{ time, chains, network, log: createLogDisk(), store: createStoreDisk() },
      states: new Map(chains.map(({ chain }) => [chain, createStateDisk()])),
      settings: {
        flushEveryMs: random.pick([200, 1000, 5000]),
        checkpointEveryMs: random.pick([500, 2000, 10_000]),
        updatesKeptMs: random.pick([60_000, 3_600_000, 86_400_000]),
      },
    }
    const run = startWorld(cluster, random, planOf(random), { note, tell })
    const isPlayed = await time.run(run.isPlayed, LIMIT_MS)
    run.calmDown()
    const isSettled = isPlayed && (await time.run(run.isSettled, CALM_LIMIT_MS))
    // The last pushes arrive, and clients that were away come back.
    const untilMs = time.nowMs() + LAST_PUSHES_MS
    await time.run(() => time.nowMs() >= untilMs, LAST_PUSHES_MS)
    const problems = [...run.failures, ...(isSettled ? [] : [`stuck: ${run.describe()}`])]
    if (isSettled) problems.push(...(await checkRun(cluster, run.witness, run.clients)))
    const pushes = run.clients.reduce((sum, { heard }) => sum + heard.reduce((n, one) => n + one.pushes.length, 0), 0)
    return { seed, problems, injected, blocks: chains.reduce((sum, { blocks }) => sum + blocks.length, 0), pushes }
  } finally {
    time.uninstall()
  }
}

/** Some seeds have every fault, some only one kind, some none but crashes. */
function planOf(random: Random): FaultPlan {
  const some = (probability: number) => (random.chance(0.5) ? probability : 0)
  return {
    ...{ refused: some(0.04), unacknowledged: some(0.05), partial: some(0.08), repeated: some(0.1) },
    ...{ slow: some(0.01), crash: some(random.pick([0.004, 0.02])) },
  }
}

type World = {
  failures: string[]
  witness: SimulatedClient
  clients: SimulatedClient[]
  isPlayed(): boolean
  isSettled(): boolean
  calmDown(): void
  describe(): string
}

type Tracing = { note: (kind: string, who: string) => void; tell: (line: string) => void }

function startWorld(cluster: Cluster, random: Random, plan: FaultPlan, { note, tell }: Tracing): World {
  const { time, chains, network } = cluster
  const failures: string[] = []
  let faults = plan
  let born = 0
  const deaths = new Map<SimulatedProcess, () => void>()
  const world = {
    ...{ time, random, note, faults: () => faults },
    onDeath(process: SimulatedProcess) {
      tell(`${process.name} dies`)
      network.drop(process)
      deaths.get(process)?.()
    },
  }
  const aggregates = new Map<string, { process: SimulatedProcess; running: AggregateProcess }>()
  const serves = new Map<string, Serve>()
  const fail = (name: string, error: unknown) =>
    failures.push(`${name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)

  /** Starts a process again and again: whatever ends it, another one takes its place. */
  async function keep(name: string, isSpared: boolean, start: (process: SimulatedProcess) => Promise<unknown>) {
    for (;;) {
      const process = createProcess(`${name}#${born++}`, world, isSpared)
      tell(`${process.name} starts`)
      const died = new Promise<void>((resolve) => deaths.set(process, resolve))
      const failed = time
        .within(process.life, () => start(process))
        .then(
          () => died,
          (error: unknown) => {
            const isExpected = typeof error === 'object' && error !== null && 'retry' in error
            if (!isExpected) fail(process.name, error)
            process.die()
          },
        )
      await Promise.race([died, failed])
      await time.delay(random.int(50, 3000))
    }
  }

  const ignore = () => {}
  for (const node of chains)
    void keep(`ingest-${node.chain}`, false, (process) => runIngest(cluster, process, node)).catch(ignore)
  for (const name of ['aggregate-a', 'aggregate-b'])
    void keep(name, false, async (process) => {
      const running = startAggregate(cluster, process, (error) => fail(process.name, error))
      aggregates.set(name, { process, running })
    }).catch(ignore)
  for (const name of [WITNESS, 'serve-a', 'serve-b'])
    void keep(name, name === WITNESS, async (process) => {
      serves.delete(name)
      serves.set(name, await startServe(cluster, process))
    }).catch(ignore)

  const owners = startGroup({ time, random, note, isCalm: () => faults === CALM }, chains, aggregates)

  const subscriptions = subscriptionsOf(chains.map(({ chain }) => chain))
  const witness = createSimulatedClient({ time, random, network, tell }, subscriptions, (node) =>
    node.startsWith(WITNESS),
  )
  const clients = [0, 1, 2].map((at) =>
    createSimulatedClient(
      { time, random, network, tell: (line) => tell(`client ${at} ${line}`) },
      subscriptions,
      (node) => !node.startsWith(WITNESS),
    ),
  )
  void witness.start()

  async function play(): Promise<void> {
    while (witness.heard.some(({ began }) => began === undefined)) await time.delay(50)
    for (const client of clients) void client.start()
    for (const node of chains) void node.play(time, random)
    for (;;) {
      await time.delay(random.int(500, 4000))
      if (faults === CALM) return
      if (random.chance(0.3)) {
        note('disconnect', 'client')
        random.pick(clients).disconnect()
      }
    }
  }
  void play()

  /** The owner of each chain has folded its last block, and stored it. */
  const isFolded = (chain: string) => {
    const head = chains.find((one) => one.chain === chain)?.blocks.at(-1)
    const owner = aggregates.get(owners.get(chain) ?? '')
    const status = owner?.process.life.isAlive ? owner.running.status().find((one) => one.chain === chain) : undefined
    return status !== undefined && status.head?.hash === head?.hash && status.flushedSeq === status.seq
  }

  return {
    ...{ failures, witness, clients },
    isPlayed: () => chains.every(({ isComplete }) => isComplete),
    isSettled: () => chains.every(({ chain }) => isFolded(chain)) && serves.size === 3,
    calmDown() {
      faults = CALM
    },
    describe: () =>
      JSON.stringify({
        played: chains.map(({ chain, isComplete, blocks }) => ({ chain, isComplete, head: blocks.at(-1)?.number })),
        owners: [...owners],
        folded: [...aggregates].map(([name, { process, running }]) => ({
          ...{ name, isAlive: process.life.isAlive },
          chains: running.status().map(({ chain, head, seq, flushedSeq, stopped }) => ({
            chain,
            head: head?.number,
            seq,
            flushedSeq,
            stopped,
          })),
        })),
        serves: [...serves.keys()],
      }),
  }
}

type Aggregates = ReadonlyMap<string, { process: SimulatedProcess; running: AggregateProcess }>
type GroupWorld = Pick<Cluster, 'time'> & { random: Random; note: Tracing['note']; isCalm: () => boolean }

/** The owner of each chain among the aggregators. Who dies or is moved loses its chains, and may not know for a while. */
function startGroup(world: GroupWorld, chains: Cluster['chains'], aggregates: Aggregates): ReadonlyMap<string, string> {
  const { time, random, note, isCalm } = world
  const owners = new Map<string, string>()

  function move(chain: string): void {
    const alive = [...aggregates].filter(([, { process }]) => process.life.isAlive).map(([name]) => name)
    const isMoved = !isCalm() && random.chance(0.05)
    if (alive.length === 0 || (alive.includes(owners.get(chain) ?? '') && !isMoved)) return
    if (isMoved) note('rebalance', chain)
    owners.set(chain, random.pick(alive))
  }

  function assign(): void {
    for (const [name, { process, running }] of aggregates) {
      const mine = [...owners].filter(([, owner]) => owner === name).map(([chain]) => chain)
      const isLate = !isCalm() && random.chance(0.3)
      void time.delay(isLate ? random.int(0, 5000) : 0).then(() => {
        if (process.life.isAlive) time.within(process.life, () => running.assign(mine))
      })
    }
  }

  async function balance(): Promise<never> {
    for (;;) {
      await time.delay(random.int(300, 900))
      for (const { chain } of chains) move(chain)
      assign()
    }
  }

  void balance()
  return owners
}

/** Whole chains: every trade, every liquidity event, and the candles of a minute and of an hour. */
function subscriptionsOf(chains: readonly string[]): unknown[][] {
  return chains.flatMap((chain) => [
    ['tx', '*', chain],
    ['liq', '*', chain],
    ['kline', '*', 'k1', chain],
    ['kline', '*', 'k60', chain],
    ['price', [`*-${chain}`]],
  ])
}
