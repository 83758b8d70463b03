/** The processes of a simulated cluster: the real ingest, aggregate and serve, on simulated parts. */
import { createAggregate } from '../../services/aggregate/main.js'
import { createOwnedChains, type OwnedChains } from '../../services/aggregate/owned-chains.js'
import { BUILT_IN_CONTRACTS } from '../../services/core/config/evm-source.js'
import { CAPACITY, PLANS } from '../../services/core/domain/plans.js'
import { createCodec } from '../../services/core/log/codec.js'
import type { SchemaRegistry } from '../../services/core/log/registry.js'
import { silentLogger } from '../../services/core/runtime/logger.js'
import { createMetrics } from '../../services/core/runtime/metrics.js'
import { createIngest } from '../../services/ingest/main.js'
import { claimCheckpoints } from '../../services/ingest/shared-checkpoints.js'
import { assembleServe, type Serve } from '../../services/serve/assemble.js'
import { createPushServer } from '../../services/serve/push/push-server.js'
import { pushLimits } from '../../services/serve/serve-deps.js'
import { marketMoney } from '../rig/market/money.js'
import type { SimulatedProcess } from './faults.js'
import { openSimulatedSource, type SimulatedChain } from './simulated-chain.js'
import { type LogDisk, openSimulatedLog } from './simulated-log.js'
import { type Network, SIMULATED_KEY } from './simulated-network.js'
import { claimState, type StateDisk } from './simulated-state.js'
import { openSimulatedStore, type StoreDisk } from './simulated-store.js'
import type { VirtualTime } from './virtual-time.js'

/** What the processes share, and what survives them. */
export type Cluster = {
  time: VirtualTime
  log: LogDisk
  store: StoreDisk
  states: ReadonlyMap<string, StateDisk>
  chains: readonly SimulatedChain[]
  network: Network
  settings: AggregateTimes
}

export type AggregateTimes = { flushEveryMs: number; checkpointEveryMs: number; updatesKeptMs: number }

/** One for all: a schema's compiled form costs more than a run. */
export const CODEC = createCodec(registryInMemory())

function registryInMemory(): SchemaRegistry {
  const schemas: Parameters<SchemaRegistry['idFor']>[1][] = []
  return {
    idFor(_subject, schema) {
      const text = JSON.stringify(schema)
      const known = schemas.findIndex((one) => JSON.stringify(one) === text)
      return known < 0 ? schemas.push(schema) : known + 1
    },
    schemaFor: (id) => schemas[id - 1],
  }
}

/** Runs until it fails; a process that ends is started again by whoever watches it. */
export async function runIngest(cluster: Cluster, process: SimulatedProcess, node: SimulatedChain): Promise<void> {
  const log = openSimulatedLog(cluster.log, process)
  const source = openSimulatedSource(node, process)
  const checkpoints = await claimCheckpoints(log, { sourceId: source.id ?? '', writer: process.name })
  const ingest = createIngest({
    ...{ source, log, codec: CODEC, checkpoints, logger: silentLogger, chain: node.chain },
    ...{ progressMs: 3_600_000, nowMs: cluster.time.nowMs },
  })
  const outcome = await ingest.run(new AbortController().signal)
  if (outcome.kind === 'failed') throw outcome.error
}

export type AggregateProcess = OwnedChains & {
  /** Seqs up to which everything is published, stored and checkpointed. */
  status: ReturnType<typeof createAggregate>['status']
}

export function startAggregate(
  cluster: Cluster,
  process: SimulatedProcess,
  onFailure: (error: unknown) => void,
): AggregateProcess {
  const { flushEveryMs, checkpointEveryMs, updatesKeptMs } = cluster.settings
  const aggregate = createAggregate({
    log: openSimulatedLog(cluster.log, process),
    store: openSimulatedStore(cluster.store, process),
    ...{ codec: CODEC, logger: silentLogger, nowMs: cluster.time.nowMs, factsOf: marketMoney },
    openState: (chain) => claimState(cluster.states.get(chain) as StateDisk, process),
    settings: {
      ...{ maxTimeBackS: 3600, journalBlocks: 4096, flushEveryMs, flushRows: 400, checkpointEveryMs },
      ...{ publishTrades: false, updatesKeptMs, updatesHeldMs: 2000, deadKeptMs: 86_400_000 },
      secondCandlesKeptS: Number.MAX_SAFE_INTEGER / 2000,
    },
  })
  const owned = createOwnedChains(
    { aggregate, logger: silentLogger, onFailure: (_chain, error) => onFailure(error) },
    new AbortController().signal,
  )
  return { ...owned, status: aggregate.status }
}

export async function startServe(cluster: Cluster, process: SimulatedProcess): Promise<Serve> {
  const { chains, network, time } = cluster
  const serve = assembleServe(
    {
      log: openSimulatedLog(cluster.log, process),
      store: openSimulatedStore(cluster.store, process),
      ...{ codec: CODEC, logger: silentLogger, metrics: createMetrics({ processMetrics: false }), nowMs: time.nowMs },
      keys: { lookup: () => undefined, list: () => [], spentCu: () => 0, addSpentCu: async () => {} },
      wsTokenSecret: 'simulated',
      pipeStatus: () =>
        chains.map(({ chain }) => ({ chain, source: 'simulated', sourceAgeS: null, indexedFrom: null })),
      config: {
        ...{ host: '127.0.0.1', httpPort: 0, wsPort: 1, envelope: 'spec', contracts: BUILT_IN_CONTRACTS },
        apiKey: { kind: 'fixed', key: SIMULATED_KEY },
        chains: new Map(chains.map(({ chain }) => [chain, marketMoney(chain)])),
      },
    },
    {
      push: (deps, parts) => ({
        server: createPushServer({
          ...{ ...parts, logger: deps.logger, limits: pushLimits(), plans: PLANS, capacity: CAPACITY },
          createTransport: network.transportOf(process),
          compresses: false,
        }),
        report: { server: 'ws', fallback_reason: null },
      }),
    },
  )
  await serve.start()
  return serve
}
