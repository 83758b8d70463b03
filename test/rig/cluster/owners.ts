/** Who folds which chain, and who wrote a chain's checkpoints. */
import { fetchMessages } from '../../../services/core/log/kafka/topic-reader.js'
import { stateTopic, updatesTopic } from '../../../services/core/log/port.js'
import type { Cluster } from './cluster.js'
import type { Service } from './service.js'

/** As the process itself says; nothing while it does not answer. */
export async function chainsOf(aggregate: Service): Promise<string[]> {
  const response = await aggregate.get('/status').catch(() => undefined)
  if (response === undefined) return []
  const { chains } = (await response.json()) as { chains: { chain: string }[] }
  return chains.map(({ chain }) => chain).sort()
}

/** How long after this call each chain has its next update on the log, in milliseconds. */
export async function untilNextUpdates(
  { log }: Pick<Cluster, 'log'>,
  chains: readonly string[],
  giveUpMs: number,
): Promise<Map<string, number>> {
  const ends = await Promise.all(chains.map(async (chain) => (await log.info(updatesTopic(chain))).end))
  const started = performance.now()
  const waited = new Map<string, number>()
  await Promise.all(
    chains.map(async (chain, at) => {
      const given = AbortSignal.timeout(giveUpMs)
      for await (const _ of log.follow(updatesTopic(chain), { from: ends[at] ?? 0 }, given)) {
        waited.set(chain, Math.round(performance.now() - started))
        return
      }
      waited.set(chain, Number.POSITIVE_INFINITY)
    }),
  )
  return waited
}

type WithProducer = { offset: string; batchContext: { producerEpoch: number } }

/** The producer's epoch of every record of a chain's checkpoints, oldest first: it grows with each claim. */
export async function checkpointClaims({ log }: Pick<Cluster, 'log'>, chain: string): Promise<number[]> {
  const connections = log.openConnections()
  const full = log.fullName(stateTopic(chain))
  try {
    const { start, end } = await log.info(stateTopic(chain))
    const epochs: number[] = []
    for (let from = start; from < end; ) {
      const at = from
      const fetched = await connections.run(`reading ${full}`, (cluster) =>
        fetchMessages(cluster, full, { from: at, waitMs: 200, onlyCommitted: true }),
      )
      if (fetched === undefined || fetched.next === from) break
      for (const message of fetched.taken) epochs.push((message as unknown as WithProducer).batchContext.producerEpoch)
      from = fetched.next
    }
    return epochs
  } finally {
    await connections.close()
  }
}
