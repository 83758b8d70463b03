import type { ServeMetrics } from '../serve-metrics.js'
import { type Backlog, type BacklogBudget, mergePush, openBacklog, releaseBacklog } from './backlog.js'
import { createChannelIndex } from './channel-index.js'
import { beginningOf, idText } from './push-beginning.js'
import { createPushBytes } from './push-bytes.js'
import type { RpcId } from './rpc.js'
import type { OnSlow, Publisher, Push, SubscriptionSpec } from './topic.js'

/** Sends one text, as UTF-8, to all sockets of a group. The bytes are overwritten once it returns. */
export type Broadcast = (group: string, text: Uint8Array) => void

/** A subscription of one socket. */
export type Subscription = {
  topic: string
  canonical: string
  id: RpcId
  spec: SubscriptionSpec
  onSlow: OnSlow
  /** Set while the socket is slow: pushes are merged here instead of being sent. */
  backlog: Backlog | undefined
  budget: BacklogBudget
}

/** Subscriptions with the same params and request id: one text serves them all; each socket is a member once. */
type Group = {
  /** Short: the transport reads and hashes it for each push. */
  name: string
  beginning: Uint8Array
  size: number
  /** Undefined if none is slow, as in most groups. */
  slow: Set<Subscription> | undefined
}

/** No socket is in it. */
const NO_GROUP = ''

export interface Hub extends Publisher {
  /** Adds a subscription; returns the group its socket must join. */
  add(subscription: Subscription): string
  /** Removes a subscription; returns the group its socket must leave. */
  remove(subscription: Subscription): string
  /** Merges the pushes of a slow socket from now on; returns the group it must leave. */
  pause(subscription: Subscription): string
  /** Resumes a drained socket; returns the group it must join again. */
  resume(subscription: Subscription): string
  counts(): ReadonlyMap<string, number>
}

export type HubDeps = { broadcast: Broadcast; metrics: ServeMetrics; nowMs: () => number }

export function createHub({ broadcast, metrics, nowMs }: HubDeps): Hub {
  const groups = new Map<string, Group>()
  const index = createChannelIndex<Group>()
  const counts = new Map<string, number>()
  const bytes = createPushBytes()
  const sentTime = createSentTime(nowMs)

  /** Groups made so far. */
  let made = 0

  const keyOf = ({ topic, id, canonical }: Subscription): string => `${topic}#${idText(id)}#${canonical}`
  const count = (topic: string, by: number) => counts.set(topic, (counts.get(topic) ?? 0) + by)

  function add(subscription: Subscription): string {
    count(subscription.topic, 1)
    const key = keyOf(subscription)
    const known = groups.get(key)
    if (known !== undefined) {
      known.size += 1
      return known.name
    }
    const name = String(++made)
    const group: Group = { name, beginning: beginningOf(subscription.id), size: 1, slow: undefined }
    groups.set(key, group)
    index.add(group, subscription.spec.channels)
    return name
  }

  function remove(subscription: Subscription): string {
    count(subscription.topic, -1)
    releaseBacklog(subscription.backlog)
    const key = keyOf(subscription)
    const group = groups.get(key)
    if (group === undefined) return NO_GROUP
    group.size -= 1
    endSlow(group, subscription)
    if (group.size > 0) return group.name
    groups.delete(key)
    index.remove(group, subscription.spec.channels)
    return group.name
  }

  /** The end of a push is the same for all its groups, so it is encoded once. */
  function publish(wanted: readonly string[], push: Push): void {
    metrics.pushesEncoded.add(push.topic)
    const end = push.sentTime ? sentTime() : '}'
    bytes.setEnd(push.result, end)
    for (const group of index.membersOf(wanted)) {
      const pushed = bytes.startingWith(group.beginning)
      broadcast(group.name, pushed)
      // Read back: a result is concatenated, and kept like that it would hold all its parts in memory.
      if (group.slow !== undefined) mergeInto(group.slow, push, textOf(pushed))
    }
  }

  function mergeInto(slow: ReadonlySet<Subscription>, push: Push, text: string): void {
    for (const { backlog } of slow) {
      const merged = backlog === undefined ? 0 : mergePush(backlog, push.mergeKey, text)
      if (merged > 0) metrics.pushesConflated.add(push.topic, merged)
    }
  }

  return {
    add,
    remove,
    publish,
    pause(subscription) {
      subscription.backlog = openBacklog(subscription.budget)
      const group = groups.get(keyOf(subscription))
      if (group !== undefined) group.slow = (group.slow ?? new Set()).add(subscription)
      return group?.name ?? NO_GROUP
    },
    resume(subscription) {
      releaseBacklog(subscription.backlog)
      subscription.backlog = undefined
      const group = groups.get(keyOf(subscription))
      if (group !== undefined) endSlow(group, subscription)
      return group?.name ?? NO_GROUP
    },
    isWanted: index.isWanted,
    concerns: index.concerns,
    counts: () => counts,
  }
}

function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString()
}

function endSlow(group: Group, subscription: Subscription): void {
  group.slow?.delete(subscription)
  if (group.slow?.size === 0) group.slow = undefined
}

/** The end of a push with the time, made once per millisecond. */
function createSentTime(nowMs: () => number): () => string {
  let atMs = Number.NaN
  let text = ''
  return () => {
    const now = nowMs()
    if (now !== atMs) text = `,"sent_time":${now}}`
    atMs = now
    return text
  }
}
