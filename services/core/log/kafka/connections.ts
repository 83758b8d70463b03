/** Connections of one purpose to the brokers. After a failure they are made anew: kafkajs does not always find back itself. */
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Broker, Cluster } from './internals.js'
import { closedFault, faultOf, isPassing, reasonOf } from './kafka-faults.js'

export type Wire = {
  /** Tries until the work is done, fails for good, the patience ends or the wire is closed. */
  run<T>(doing: string, work: (cluster: Cluster) => Promise<T>): Promise<T>
  /** Ends what waits, at once. */
  close(): Promise<void>
}

export type WireDeps = {
  makeCluster: () => Cluster
  presence: Presence
  patienceMs: number
}

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 1000

export function createWire({ makeCluster, presence, patienceMs }: WireDeps): Wire {
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)
  let current: Promise<Cluster> | undefined
  const wire = {}

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
          presence.answering(wire)
          return result
        } catch (error) {
          if (closing.signal.aborted) throw closedFault(doing)
          if (!isPassing(error)) throw faultOf(error, doing)
          drop(cluster)
          presence.failing(wire, reasonOf(error))
          if (performance.now() - startedMs >= patienceMs) throw faultOf(error, doing)
        }
        await delay(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 10)), undefined, {
          signal: closing.signal,
        }).catch(() => {})
      }
    },
    async close() {
      presence.forget(wire)
      closing.abort()
      const last = current
      current = undefined
      await last?.then((cluster) => cluster.disconnect()).catch(() => {})
    },
  }
}

/** Does not wait for an answer that nobody wants any more. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, doing: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(closedFault(doing))
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** The broker that leads a topic's one partition; undefined where there is no such topic. */
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

/** Whether the broker is there, as the log's connections see it together: told once when it goes and once when it is back. */
export type Presence = {
  failing(wire: object, reason: string): void
  answering(wire: object): void
  /** It asks no more: nothing follows from that. */
  forget(wire: object): void
}

/** One lost connection is made anew at once and is no news. */
const FAILURES_BEFORE_NEWS = 2

export function createPresence(onAway: (reason: string) => void, onBack: () => void): Presence {
  const failures = new Map<object, number>()
  let isAway = false
  return {
    failing(wire, reason) {
      const count = (failures.get(wire) ?? 0) + 1
      failures.set(wire, count)
      if (isAway || count < FAILURES_BEFORE_NEWS) return
      isAway = true
      onAway(reason)
    },
    forget: (wire) => void failures.delete(wire),
    answering(wire) {
      failures.delete(wire)
      if (!isAway || failures.size > 0) return
      isAway = false
      onBack()
    },
  }
}
