/**
 * What the sockets of a key, and of all keys together, may hold. Limits per socket alone do not bound memory: a key may open
 * many sockets. Each push server counts separately.
 */
import { type Capacity, MB, type PlanLimits, type Plans } from '../../core/domain/plans.js'
import type { Access } from '../keys/key-gate.js'
import type { PushUsage } from '../serve-deps.js'
import { createFramePace, type FramePace, type FrameVerdict } from './frame-pace.js'
import { RPC, RpcError } from './rpc.js'

export interface Budgets {
  /** Counts one more socket of the key; throws RpcError, and counts nothing, if that exceeds a budget. */
  openSocket(access: Access): SocketBudget
  usage(): Usage
}

/** One socket's share of the budgets. */
export interface SocketBudget {
  readonly keyId: string
  readonly limits: PlanLimits
  /** Throws RpcError, and counts nothing, if the subscription exceeds a budget. */
  addSubscription(channels: readonly string[]): void
  removeSubscription(channels: readonly string[]): void
  countFrame(): FrameVerdict
  /** Error of a frame that was not `fine`. */
  frameError(): RpcError
  /** Takes memory for merged pushes; false if a budget has none left. */
  takeMemory(bytes: number): boolean
  releaseMemory(bytes: number): void
  /** Releases the socket and what it still holds. */
  close(): void
}

export type Usage = Omit<PushUsage, 'unreadBytes'>

type Held = Omit<Usage, 'keys'>
type OfKey = { held: Held; pace: FramePace }

/** Approximate memory on the heap, measured with made-up ids that nobody shares. */
const SOCKET_BYTES = 4_096
const SUBSCRIPTION_BYTES = 2_000
const ID_BYTES = 500

const nothing = (): Held => ({ sockets: 0, subscriptions: 0, ids: 0, memoryBytes: 0 })

export function createBudgets(plans: Plans, capacity: Capacity, nowMs: () => number): Budgets {
  /** Kept without sockets too: a client must not get a new burst of frames by reconnecting. */
  const byKey = new Map<string, OfKey>()
  const inAll = nothing()
  let keys = 0

  function add(held: Held, own: Held, more: Held, sign: 1 | -1): void {
    count(held, more, sign)
    count(own, more, sign)
    count(inAll, more, sign)
  }

  function openSocket({ id, plan }: Access): SocketBudget {
    const limits = plans[plan]
    const ofKey = byKey.get(id) ?? { held: nothing(), pace: createFramePace(limits.framesPerS, nowMs) }
    const { held, pace } = ofKey
    const own = nothing()

    function check(more: Held): void {
      for (const budget of CHECKED) {
        const wanted = more[budget]
        if (wanted === 0) continue
        const ofPlan = limits[budget]
        if (ofPlan !== null && held[budget] + wanted > ofPlan)
          throw overBudget(budget, { plan, limit: ofPlan, inUse: held[budget], wanted })
        const ofAll = budget === 'subscriptions' ? Number.POSITIVE_INFINITY : capacity[budget]
        if (inAll[budget] + wanted > ofAll)
          throw overBudget(budget, { plan: null, limit: ofAll, inUse: inAll[budget], wanted })
      }
    }

    function take(more: Held): void {
      check(more)
      add(held, own, more, 1)
    }

    take({ ...nothing(), sockets: 1, memoryBytes: SOCKET_BYTES })
    byKey.set(id, ofKey)
    if (held.sockets === 1) keys += 1

    return {
      keyId: id,
      limits,
      addSubscription: (channels) => take(heldFor(channels)),
      removeSubscription: (channels) => add(held, own, heldFor(channels), -1),
      countFrame: pace.count,
      frameError: () =>
        new RpcError(
          RPC.limitExceeded,
          `Too many frames: plan ${plan} allows ${limits.framesPerS} per second and key. Send fewer, or use a key with a larger plan.`,
          { budget: 'frames_per_s', limit: limits.framesPerS, plan },
        ),
      takeMemory(bytes) {
        if (held.memoryBytes + bytes > (limits.memoryBytes ?? Number.POSITIVE_INFINITY)) return false
        if (inAll.memoryBytes + bytes > capacity.memoryBytes) return false
        add(held, own, { ...nothing(), memoryBytes: bytes }, 1)
        return true
      },
      releaseMemory: (bytes) => add(held, own, { ...nothing(), memoryBytes: bytes }, -1),
      close() {
        add(held, own, { ...own }, -1)
        if (held.sockets === 0) keys -= 1
      },
    }
  }

  return { openSocket, usage: () => ({ keys, ...inAll }) }
}

function count(held: Held, more: Held, sign: 1 | -1): void {
  held.sockets += sign * more.sockets
  held.subscriptions += sign * more.subscriptions
  held.ids += sign * more.ids
  held.memoryBytes += sign * more.memoryBytes
}

function heldFor(channels: readonly string[]): Held {
  let memoryBytes = SUBSCRIPTION_BYTES
  for (const { length } of channels) memoryBytes += ID_BYTES + length
  return { sockets: 0, subscriptions: 1, ids: channels.length, memoryBytes }
}

/** In the order they are reported. */
const CHECKED = ['sockets', 'subscriptions', 'ids', 'memoryBytes'] as const
type Checked = (typeof CHECKED)[number]

/** `setting`: as in the configuration. */
const TEXTS: Record<Checked, { setting: string; what: string; fix: string; unit: number }> = {
  sockets: { setting: 'sockets', what: 'open sockets', fix: 'Close one first', unit: 1 },
  subscriptions: { setting: 'subscriptions', what: 'subscriptions', fix: 'Unsubscribe from some first', unit: 1 },
  ids: { setting: 'ids', what: 'subscribed ids', fix: 'Unsubscribe from some first', unit: 1 },
  memoryBytes: { setting: 'memory_mb', what: 'MB of subscriptions', fix: 'Unsubscribe from some first', unit: MB },
}

/** `plan` null: the budget of all keys. */
type Excess = { plan: string | null; limit: number; inUse: number; wanted: number }

function overBudget(budget: Checked, { plan, ...numbers }: Excess): RpcError {
  const { setting, what, fix, unit } = TEXTS[budget]
  const [limit, inUse, wanted] = [numbers.limit, numbers.inUse, numbers.wanted].map((one) => rounded(one / unit))
  const whose = plan === null ? `this server allows ${limit} for all keys` : `plan ${plan} allows ${limit} per key`
  const remedy = plan === null ? 'Retry later, or use another server.' : `${fix}, or use a key with a larger plan.`
  return new RpcError(
    RPC.limitExceeded,
    `Too many ${what}: ${whose}, ${inUse} in use, ${wanted} more requested. ${remedy}`,
    { budget: setting, limit, plan },
  )
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000
