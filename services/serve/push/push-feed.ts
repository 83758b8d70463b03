import type { Applied } from '../memory/apply-update.js'
import type { Memory } from '../memory/memory.js'
import { viewOf } from '../memory/replay-recent.js'
import type { Place } from './cursor.js'
import { createRing, type Ring, type RingLimits } from './replay-ring.js'
import { captureMoment, type Moment } from './update-snapshot.js'

/** Pushes nobody can make: updates that were lost, or another history. */
export type Break = { from: Place; to: Place }

/** The moments of every chain: the last minutes to read again, the newest as it comes. */
export interface Tape {
  ringOf(chain: string): Ring
  /** Behind a chain's last push. */
  headOf(chain: string): Place
  /** Called with each new moment, and with what is missing before it. */
  onMoment(listener: (moment: Moment, missing: Break | undefined) => void): void
  readonly bytes: number
}

export function createTape(memory: Memory, limits: RingLimits): Tape {
  const rings = new Map<string, Ring>()

  function ringOf(chain: string): Ring {
    const known = rings.get(chain)
    if (known !== undefined) return known
    const ring = createRing(limits)
    rings.set(chain, ring)
    return ring
  }

  memory.onRecalled((state, past) => {
    const ring = ringOf(state.chain)
    if (past.startsAnew) ring.clear()
    ring.push(captureMoment(past))
  })

  function take(applied: Applied): { moment: Moment; missing: Break | undefined } {
    const { epoch, seq, chain } = applied.update
    const ring = ringOf(chain)
    const before = ring.head()
    const moment = captureMoment({ ...applied, view: viewOf(applied.state) })
    const follows = ring.push(moment) && applied.missing === 0
    const from = before ?? { epoch, chain, seq: Math.max(0, seq - applied.missing - 1), n: 0 }
    return { moment, missing: follows ? undefined : { from, to: { epoch, chain, seq: seq - 1, n: 0 } } }
  }

  return {
    ringOf,
    headOf(chain) {
      const state = memory.chain(chain)
      const place = { epoch: state?.epoch ?? 0, chain, seq: Math.max(0, state?.seq ?? 0), n: 0 }
      const head = rings.get(chain)?.head()
      return head?.epoch === place.epoch && head.seq === place.seq ? head : place
    },
    onMoment(listener) {
      memory.onApplied((applied) => {
        const { moment, missing } = take(applied)
        listener(moment, missing)
      })
    },
    get bytes() {
      return [...rings.values()].reduce((sum, ring) => sum + ring.bytes, 0)
    },
  }
}
