/** Which slots have blocks, by the nodes' word: asked for in wide windows, each remembered once its slots are settled. */
import { blameOn } from '../../nodes/blame.js'
import type { Asking, EndpointPool } from '../../nodes/endpoint-pool.js'
import { type FaultKind, NodeFault } from '../../nodes/node-fault.js'
import type { Commitment } from '../slot-block.js'
import { isCount } from './check-block.js'
import { listRequest } from './requests.js'

export interface SlotLists {
  /** In order. Null: no node lists them. A list may leave blocks out, and may name one that has died. */
  slotsIn(from: number, to: number, settledTo: number, asking: Asking): Promise<number[] | null>
}

/** Nodes take 500,000 (agave, `MAX_GET_CONFIRMED_BLOCKS_RANGE`), providers less. */
const WINDOW_SLOTS = 1000
const REMEMBERED_WINDOWS = 8

export function createSlotLists(pool: EndpointPool, chain: string, commitment: Commitment): SlotLists {
  const windows = new Map<number, Promise<number[] | null>>()

  async function ask(from: number, to: number, asking: Asking): Promise<number[] | null> {
    try {
      const [slots] = await pool.ask(
        [listRequest(from, to, commitment)],
        (result, _, endpoint) => {
          const list = Array.isArray(result) ? (result as unknown[]) : [null]
          if (
            !list.every((slot, place) => isCount(slot) && slot >= from && slot <= to && isAfter(slot, list[place - 1]))
          )
            throw blameOn(endpoint, chain)('lies', `a list of the slots ${from} to ${to} that is none`, from)
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

  /** Ranges side by side wait for the same answer. */
  async function window(place: number, asking: Asking): Promise<number[] | null> {
    const first = place * WINDOW_SLOTS
    const known = windows.get(place) ?? ask(first, first + WINDOW_SLOTS - 1, asking)
    windows.delete(place)
    windows.set(place, known)
    for (const old of windows.keys()) {
      if (windows.size <= REMEMBERED_WINDOWS) break
      windows.delete(old)
    }
    try {
      return await known
    } catch (error) {
      windows.delete(place)
      // It may be another's question that was given up.
      asking.signal.throwIfAborted()
      if (error instanceof NodeFault) throw error
      return null
    }
  }

  return {
    async slotsIn(from, to, settledTo, asking) {
      const slots: number[] = []
      for (let place = Math.floor(from / WINDOW_SLOTS); place * WINDOW_SLOTS <= to; place++) {
        const first = place * WINDOW_SLOTS
        const [low, high] = [Math.max(from, first), Math.min(to, first + WINDOW_SLOTS - 1)]
        const settled = first + WINDOW_SLOTS - 1 <= settledTo ? await window(place, asking) : null
        const part = settled?.filter((slot) => slot >= low && slot <= high) ?? (await ask(low, high, asking))
        if (part === null) return null
        slots.push(...part)
      }
      return slots
    },
  }
}

/** The node does not list slots, or not so many. */
const REFUSALS: ReadonlySet<FaultKind> = new Set(['invalid', 'unsupported', 'too_wide'])

const isAfter = (slot: number, before: unknown): boolean => before === undefined || slot > (before as number)
