/**
 * Membership in a consumer group: the broker assigns topics to this process. Topics kept through a rebalance continue without
 * a pause; lost ones are reported at once, and a member the broker no longer knows has none.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Broker, type Cluster, MemberAssignment, MemberMetadata } from './internals.js'
import { typeOf } from './kafka-faults.js'
import type { KafkaLog } from './kafka-log.js'

export type GroupOptions = {
  group: string
  /** All topics to share out now. */
  topics: () => Promise<readonly string[]>
  /** Called with all topics of this process, whenever they change. */
  onAssigned: (topics: readonly string[]) => void
  onTrouble: (reason: string) => void
}

export type GroupSettings = { sessionMs: number; heartbeatMs: number }

/** The broker's lower limit: a dead member's topics are reassigned after this long. */
const DEFAULTS: GroupSettings = { sessionMs: 6000, heartbeatMs: 500 }
/** How long a rebalance waits for the other members. */
const REBALANCE_MS = 5000
const LEAVE_WITHIN_MS = 1000
const PROTOCOL = 'dextape-sticky'
const GONE = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID', 'MEMBER_ID_REQUIRED'])

type Joined = { generationId: number; sent: readonly string[] }

/** Runs until the signal aborts; then leaves the group, so that others take over at once. */
export async function runMembership(
  log: KafkaLog,
  { group, topics, onAssigned, onTrouble }: GroupOptions,
  signal: AbortSignal,
  { sessionMs, heartbeatMs }: GroupSettings = DEFAULTS,
): Promise<void> {
  const connections = log.openConnections()
  const groupId = log.fullName(group)
  let memberId = ''
  let owned: readonly string[] = []

  /** Cached per connection: kafkajs would look it up for each of two heartbeats per second. */
  const coordinators = new WeakMap<Cluster, Broker>()

  const withCoordinator = <T>(doing: string, send: (coordinator: Broker) => Promise<T>): Promise<T> =>
    connections.run(`${doing} group ${group}`, async (cluster: Cluster) => {
      const coordinator = coordinators.get(cluster) ?? (await cluster.findGroupCoordinator({ groupId }))
      coordinators.set(cluster, coordinator)
      try {
        return await send(coordinator)
      } catch (error) {
        coordinators.delete(cluster)
        throw error
      }
    })

  function assigned(mine: readonly string[]): void {
    owned = [...mine].sort()
    onAssigned(owned)
  }

  async function join(): Promise<Joined> {
    const sent = [...(await topics())].sort()
    const metadata = MemberMetadata.encode({
      version: 1,
      topics: sent.map(log.fullName),
      userData: Buffer.from(JSON.stringify({ owned })),
    })
    const joined = await withCoordinator('joining', (coordinator) =>
      coordinator.joinGroup({
        ...{ groupId, memberId, sessionTimeout: sessionMs, rebalanceTimeout: REBALANCE_MS },
        groupProtocols: [{ name: PROTOCOL, metadata }],
      }),
    )
    memberId = joined.memberId
    const { generationId } = joined
    log.memberships.set(group, { memberId, groupGenerationId: generationId })
    const groupAssignment = joined.leaderId === joined.memberId ? planOf(joined.members) : []
    const { memberAssignment } = await withCoordinator('syncing', (coordinator) =>
      coordinator.syncGroup({ groupId, generationId, memberId, groupAssignment }),
    )
    const mine = MemberAssignment.decode(memberAssignment)?.assignment ?? {}
    const prefix = log.fullName('')
    assigned(Object.keys(mine).map((topic) => topic.slice(prefix.length)))
    return { generationId, sent }
  }

  function planOf(members: readonly { memberId: string; memberMetadata: Buffer }[]) {
    const known: (Member & { topics: string[] })[] = members.map(({ memberId: id, memberMetadata }) => {
      const { topics: asked, userData } = MemberMetadata.decode(memberMetadata)
      return { id, topics: asked, owned: ownedOf(userData).map(log.fullName) }
    })
    const all = [...new Set(known.flatMap((member) => member.topics))]
    return [...assignTopics(all, known)].map(([id, mine]) => ({
      memberId: id,
      memberAssignment: MemberAssignment.encode({
        version: 0,
        assignment: Object.fromEntries(mine.map((topic) => [topic, [0]])),
        userData: Buffer.alloc(0),
      }),
    }))
  }

  /** Resolves when the group must be joined again. */
  async function stayMember({ generationId, sent }: Joined): Promise<void> {
    while (!signal.aborted) {
      await delay(heartbeatMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      await withCoordinator('heartbeat in', (coordinator) =>
        coordinator.heartbeat({ groupId, groupGenerationId: generationId, memberId }),
      )
      const now = [...(await topics())].sort()
      if (now.join() !== sent.join()) return
    }
  }

  /** An unreachable broker removes the member by itself. */
  const leave = () =>
    withCoordinator('leaving', (coordinator) => coordinator.leaveGroup({ groupId, memberId })).catch(() => {})

  try {
    while (!signal.aborted) {
      try {
        await stayMember(await join())
      } catch (error) {
        const type = typeOf(error)
        if (type === 'REBALANCE_IN_PROGRESS') continue
        if (type === undefined || !GONE.has(type)) throw error
        onTrouble(type)
        memberId = ''
        assigned([])
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    if (memberId !== '' && signal.aborted)
      await Promise.race([leave(), delay(LEAVE_WITHIN_MS, undefined, { ref: false })])
    await connections.close()
  }
}

function ownedOf(userData: Buffer): string[] {
  try {
    const { owned } = JSON.parse(userData.toString('utf8')) as { owned?: unknown }
    return Array.isArray(owned) ? owned.map(String) : []
  } catch {
    return []
  }
}

export type Member = { id: string; owned: readonly string[] }

/** Shares the topics out evenly; no member gives up a topic without need. */
export function assignTopics(topics: readonly string[], members: readonly Member[]): Map<string, string[]> {
  const free = new Set([...topics].sort())
  const shares = [...members]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, owned }) => ({ id, owned, held: [] as string[] }))
  for (const { owned, held } of shares) held.push(...owned.filter((topic) => free.delete(topic)))
  const least = () => shares.reduce((a, b) => (b.held.length < a.held.length ? b : a))
  const most = () => shares.reduce((a, b) => (b.held.length > a.held.length ? b : a))
  if (shares.length === 0) return new Map()
  for (const topic of free) least().held.push(topic)
  while (most().held.length - least().held.length > 1) {
    const moved = most().held.pop()
    if (moved !== undefined) least().held.push(moved)
  }
  return new Map(shares.map(({ id, held }) => [id, held]))
}
