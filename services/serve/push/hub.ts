import type { ServeMetrics } from '../metrics.js'
import type { RpcId } from './rpc.js'
import type { OnSlow, Publisher, Push } from './topic.js'

/** Sends one text to all sockets of a group: uWebSockets' publish, or a test's list. */
export type Broadcast = (group: string, text: string) => void

/** A live subscription of one socket. */
export type Subscription = {
  topic: string
  canonical: string
  id: RpcId
  channels: readonly string[]
  onSlow: OnSlow
  /** Where set, the socket is slow: pushes are merged here instead of being sent. */
  backlog: Backlog | undefined
}

/** What a slow socket will get once it has read what it was sent: the last push of each merge key. */
export type Backlog = { pushes: Map<string, string>; merged: number }

/** Merge keys kept for a slow socket; beyond it the oldest is counted as merged away. */
const MAX_BACKLOG_KEYS = 2000

/** Subscribers of a channel that share a request id, so that one encoded text serves them all. */
type Group = { name: string; idJson: string; members: Set<Subscription> }

export interface Hub extends Publisher {
  /** Enters a subscription; gives the groups its socket must join. */
  add(subscription: Subscription): string[]
  /** Takes it out; gives the groups its socket must leave. */
  remove(subscription: Subscription): string[]
  groupsOf(subscription: Subscription): string[]
  counts(): ReadonlyMap<string, number>
}

export type HubDeps = { broadcast: Broadcast; metrics: ServeMetrics; nowMs: () => number }

export function createHub({ broadcast, metrics, nowMs }: HubDeps): Hub {
  const channels = new Map<string, Map<string, Group>>()
  const counts = new Map<string, number>()

  const groupName = (subscription: Subscription, channel: string): string =>
    `${subscription.topic}#${JSON.stringify(subscription.id)}#${channel}`
  const groupsOf = (subscription: Subscription): string[] =>
    subscription.channels.map((channel) => groupName(subscription, channel))
  const count = (topic: string, by: number) => counts.set(topic, (counts.get(topic) ?? 0) + by)

  function add(subscription: Subscription): string[] {
    count(subscription.topic, 1)
    return subscription.channels.map((channel) => {
      const groups = channels.get(channel) ?? new Map<string, Group>()
      channels.set(channel, groups)
      const name = groupName(subscription, channel)
      const group = groups.get(name) ?? { name, idJson: JSON.stringify(subscription.id), members: new Set() }
      groups.set(name, group)
      group.members.add(subscription)
      return name
    })
  }

  function remove(subscription: Subscription): string[] {
    count(subscription.topic, -1)
    return subscription.channels.map((channel) => {
      const name = groupName(subscription, channel)
      const groups = channels.get(channel)
      const group = groups?.get(name)
      group?.members.delete(subscription)
      if (group?.members.size === 0) groups?.delete(name)
      if (groups?.size === 0) channels.delete(channel)
      return name
    })
  }

  function publish(wanted: readonly string[], push: Push): void {
    metrics.pushesEncoded.add(push.topic)
    const tail = push.sentTime ? `,"sent_time":${nowMs()}}` : '}'
    for (const channel of wanted) {
      for (const group of channels.get(channel)?.values() ?? []) {
        const text = `{"id":${group.idJson},"jsonrpc":"2.0","result":${push.result}${tail}`
        broadcast(group.name, text)
        for (const { backlog } of group.members) if (backlog !== undefined) merge(backlog, push, text)
      }
    }
  }

  function merge(backlog: Backlog, push: Push, text: string): void {
    const isReplaced = backlog.pushes.delete(push.mergeKey)
    backlog.pushes.set(push.mergeKey, text)
    const [oldest] = backlog.pushes.size > MAX_BACKLOG_KEYS ? backlog.pushes.keys() : []
    if (oldest !== undefined) backlog.pushes.delete(oldest)
    if (isReplaced || oldest !== undefined) {
      backlog.merged += 1
      metrics.pushesConflated.add(push.topic)
    }
  }

  return { add, remove, groupsOf, publish, isWanted: (channel) => channels.has(channel), counts: () => counts }
}
