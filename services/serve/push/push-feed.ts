import type { AppliedUpdate } from '../memory/apply-update.js'
import type { Memory } from '../memory/memory.js'
import { viewOf } from '../memory/replay-recent.js'
import { signalChannel } from './channels.js'
import type { Place } from './cursor.js'
import { createReplayRing, type ReplayRing, type RingLimits } from './replay-ring.js'
import type { SmartBuySignals } from './smart-buys.js'
import { snapshotUpdate, type UpdateSnapshot } from './update-snapshot.js'

/** Pushes that cannot be made: their updates are missing, or the epoch changed. */
export type MissingPushes = { from: Place; to: Place }

/** The snapshots of every chain's updates: the last minutes for replay, and each new one. */
export interface PushFeed {
  ringOf(chain: string): ReplayRing
  /** The place after a chain's last push. */
  headOf(chain: string): Place
  /** Called with each new update, and with the gap before it, if any. */
  onUpdate(listener: (update: UpdateSnapshot, missing: MissingPushes | undefined, applied: AppliedUpdate) => void): void
  /** Called when a chain continues in another epoch, before its first update. */
  onEpoch(listener: (missing: MissingPushes) => void): void
  readonly bytes: number
}

/** `isWanted`: whether somebody subscribes to a channel. */
export function createPushFeed(
  memory: Memory,
  limits: RingLimits,
  isWanted: (channel: string) => boolean,
  smartBuys?: SmartBuySignals,
): PushFeed {
  const rings = new Map<string, ReplayRing>()

  function ringOf(chain: string): ReplayRing {
    const known = rings.get(chain)
    if (known !== undefined) return known
    const ring = createReplayRing(limits)
    rings.set(chain, ring)
    return ring
  }

  function withSmartBuys(update: UpdateSnapshot): UpdateSnapshot {
    if (smartBuys === undefined) return update
    smartBuys.note(update, isWanted(signalChannel(update.chain)), ringOf(update.chain))
    update.smartBuys = smartBuys
    return update
  }

  memory.onReplayed((state, past) => {
    const ring = ringOf(state.chain)
    ring.push(withSmartBuys(snapshotUpdate(past)))
    ring.dropThrough(past.inexactThrough)
  })

  function capture(applied: AppliedUpdate): { update: UpdateSnapshot; missing: MissingPushes | undefined } {
    const { epoch, seq, chain } = applied.update
    const ring = ringOf(chain)
    const before = ring.head()
    const update = withSmartBuys(snapshotUpdate({ ...applied, view: viewOf(applied.state) }))
    const follows = ring.push(update) && applied.missingUpdates === 0
    const from = before ?? { epoch, chain, seq: Math.max(0, seq - applied.missingUpdates - 1), n: 0 }
    return { update, missing: follows ? undefined : { from, to: { epoch, chain, seq: seq - 1, n: 0 } } }
  }

  return {
    ringOf,
    headOf(chain) {
      const state = memory.chain(chain)
      const place = { epoch: state?.epoch ?? 0, chain, seq: Math.max(0, state?.seq ?? 0), n: 0 }
      const head = rings.get(chain)?.head()
      return head?.epoch === place.epoch && head.seq === place.seq ? head : place
    },
    onUpdate(listener) {
      memory.onApplied((applied) => {
        const { update, missing } = capture(applied)
        listener(update, missing, applied)
      })
    },
    onEpoch(listener) {
      memory.onAdopted(({ chain, epoch, seq }) => {
        const ring = ringOf(chain)
        const from = ring.head()
        ring.clear()
        const to = { epoch, chain, seq, n: 0 }
        listener({ from: from ?? to, to })
      })
    },
    get bytes() {
      return [...rings.values()].reduce((sum, ring) => sum + ring.bytes, 0)
    },
  }
}
