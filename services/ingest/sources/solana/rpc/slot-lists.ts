/** Which slots have blocks according to the nodes. Requested in wide windows, which are cached once settled. */

import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { blameOn, type FaultKind, NodeFault } from '../../nodes/node-fault.js'
import { RecentMap } from '../recent-map.js'
import type { Commitment } from '../slot-block.js'
import { isCount } from './check-block.js'
import { listRequest } from './rpc-messages.js'

export interface SlotLists {
  /** In order. Null: no node lists them. A list may omit blocks and may include an orphaned one. */
  slotsIn(from: number, to: number, settledTo: number, asking: Asking): Promise<number[] | null>
}

/** Nodes accept 500,000 (agave, `MAX_GET_CONFIRMED_BLOCKS_RANGE`), providers less. */
const WINDOW_SLOTS = 1000
const REMEMBERED_WINDOWS = 8

type Window = { to: number; slots: Promise<number[] | null> }

export function createSlotLists(pool: EndpointPool, chain: string, commitment: Commitment): SlotLists {
  /** By their first slot. */
  const windows = new RecentMap<number, Window>(REMEMBERED_WINDOWS)

  async function ask(from: number, to: number, asking: Asking): Promise<number[] | null> {
    try {
      const [slots] = await pool.ask(
        [listRequest(from, to, commitment)],
        (result, _, endpoint) => {
          const list = Array.isArray(result) ? (result as unknown[]) : [null]
          if (
            !list.every((slot, place) => isCount(slot) && slot >= from && slot <= to && isAfter(slot, list[place - 1]))
          )
            throw blameOn(endpoint, chain)('lies', `returned an invalid list of the slots ${from} to ${to}`, from)
          return list as number[]
        },
        asking,
      )
      return slots ?? []
    } catch (error) {
      if (error instanceof NodeFault && REFUSALS.has(error.kind)) return null
      throw error
    }
  }

  /** Concurrent ranges share one response. */
  async function settled(first: number, low: number, high: number, settledTo: number, asking: Asking) {
    let window = windows.get(first)
    if (window === undefined || window.to < high) {
      const to = Math.min(first + WINDOW_SLOTS - 1, settledTo)
      window = { to, slots: ask(first, to, asking) }
      windows.set(first, window)
    }
    const slots = await window.slots.catch(() => {
      // The shared request may have failed or been aborted by another range.
      if (windows.get(first) === window) windows.set(first, { to: -1, slots: Promise.resolve(null) })
      return null
    })
    asking.signal.throwIfAborted()
    return slots === null ? ask(low, high, asking) : slots.filter((slot) => slot >= low && slot <= high)
  }

  return {
    async slotsIn(from, to, settledTo, asking) {
      const slots: number[] = []
      for (let first = from - (from % WINDOW_SLOTS); first <= to; first += WINDOW_SLOTS) {
        const [low, high] = [Math.max(from, first), Math.min(to, first + WINDOW_SLOTS - 1)]
        const part = await (high <= settledTo ? settled(first, low, high, settledTo, asking) : ask(low, high, asking))
        if (part === null) return null
        slots.push(...part)
      }
      return slots
    },
  }
}

/** The node does not list slots, or not this many. */
const REFUSALS: ReadonlySet<FaultKind> = new Set(['invalid', 'unsupported', 'too_wide'])

const isAfter = (slot: number, before: unknown): boolean => before === undefined || slot > (before as number)
