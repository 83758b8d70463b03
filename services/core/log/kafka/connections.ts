/** Connections to the brokers for one purpose. Replaced after a failure: kafkajs does not always recover by itself. */
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Broker, Cluster } from './internals.js'
import { closedFault, faultOf, isTransient, reasonOf } from './kafka-faults.js'

export type Connections = {
  /** Retries until the work is done, fails permanently, `patienceMs` is over or the connections are closed. */
  run<T>(doing: string, work: (cluster: Cluster) => Promise<T>): Promise<T>
  /** Ends waiting calls at once. */
  close(): Promise<void>
}

export type ConnectionsDeps = {
  makeCluster: () => Cluster
  reachability: BrokerReachability
  patienceMs: number
}

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 1000

export function createConnections({ makeCluster, reachability, patienceMs }: ConnectionsDeps): Connections {
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)
  let current: Promise<Cluster> | undefined
  const self = {}

  function connected(): Promise<Cluster> {
    current ??= (async () => {
      const cluster = makeCluster()
      try {
        await cluster.connect()
        await cluster.refreshMetadata()
        return cluster
      } catch (error) {
        void cluster.disconnect().catch(() => {})
        throw error
      }
    })()
    return current
  }

  function drop(failed: Promise<Cluster>): void {
    if (current === failed) current = undefined
    void failed.then((cluster) => cluster.disconnect()).catch(() => {})
  }

  return {
    async run(doing, work) {
      const startedMs = performance.now()
      for (let attempt = 0; ; attempt++) {
        if (closing.signal.aborted) throw closedFault(doing)
        const cluster = connected()
        try {
          const result = await unlessAborted(cluster.then(work), closing.signal, doing)
          reachability.answering(self)
          return result
        } catch (error) {
          if (closing.signal.aborted) throw closedFault(doing)
          if (!isTransient(error)) throw faultOf(error, doing)
          drop(cluster)
          reachability.failing(self, reasonOf(error))
          if (performance.now() - startedMs >= patienceMs) throw faultOf(error, doing)
        }
        await delay(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 10)), undefined, {
          signal: closing.signal,
        }).catch(() => {})
      }
    },
    async close() {
      reachability.forget(self)
      closing.abort()
      const last = current
      current = undefined
      await last?.then((cluster) => cluster.disconnect()).catch(() => {})
    },
  }
}

/** Stops waiting for the answer once the signal aborts. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, doing: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(closedFault(doing))
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** The leader of a topic's one partition; undefined if the topic does not exist. */
export async function leaderOf(cluster: Cluster, topic: string): Promise<Broker | undefined> {
  const node = leaderNode(cluster, topic)
  if (node !== undefined) return cluster.findBroker({ nodeId: node })
  await cluster.refreshMetadata()
  const found = leaderNode(cluster, topic)
  return found === undefined ? undefined : cluster.findBroker({ nodeId: found })
}

function leaderNode(cluster: Cluster, topic: string): string | undefined {
  return Object.keys(cluster.findLeaderForPartitions(topic, [0]))[0]
}

/** Whether the broker is reachable, over all connections of the log. Reports each change once. */
export type BrokerReachability = {
  failing(connections: object, reason: string): void
  answering(connections: object): void
  /** These connections are closed: their failures no longer count. */
  forget(connections: object): void
}

/** One lost connection is replaced at once and is not reported. */
const FAILURES_BEFORE_REPORT = 2

export function createBrokerReachability(
  onUnreachable: (reason: string) => void,
  onReachable: () => void,
): BrokerReachability {
  const failures = new Map<object, number>()
  let isUnreachable = false
  return {
    failing(connections, reason) {
      const count = (failures.get(connections) ?? 0) + 1
      failures.set(connections, count)
      if (isUnreachable || count < FAILURES_BEFORE_REPORT) return
      isUnreachable = true
      onUnreachable(reason)
    },
    forget: (connections) => void failures.delete(connections),
    answering(connections) {
      failures.delete(connections)
      if (!isUnreachable || failures.size > 0) return
      isUnreachable = false
      onReachable()
    },
  }
}
