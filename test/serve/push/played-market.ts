/** A generated market, folded line by line into a rig's log and store as aggregate does it. */

import { rowFactsOf } from '../../../services/aggregate/sink/encode-rows.js'
import { createSink } from '../../../services/aggregate/sink/sink.js'
import type { BlockUpdate } from '../../../services/core/domain/records.js'
import { foldLines, startFold } from '../../rig/aggregate/fold-lines.js'
import { generateRecording, type MarketPlan } from '../../rig/market/generate.js'
import { marketMoney } from '../../rig/market/money.js'
import type { Rig } from '../rig.js'

type Lines = ReturnType<typeof generateRecording>

/** `change`: what to add to the generated lines. */
export function playMarket(rig: Rig, plan: MarketPlan, change = (lines: Lines): Lines => lines) {
  const lines = change(generateRecording(plan))
  const fold = startFold(marketMoney(plan.chain))
  const sink = createSink(plan.chain, rig.store, rowFactsOf(fold.state), { flushEveryMs: 0, flushRows: 1 }, 0)
  const updates: BlockUpdate[] = []
  let next = 0

  /** Appends the updates of the next `count` lines without waiting for them to be served. */
  async function play(count: number): Promise<void> {
    const results = lines.slice(next, next + count).flatMap((line) => {
      const applied = foldLines(fold, [line])
      for (const result of applied) sink.add(result)
      return applied
    })
    next += count
    updates.push(...results.map(({ update }) => update))
    await rig.append(...results.map(({ update }) => update))
  }

  return {
    play,
    /** Writes the rows of every update so far. */
    flush: () => sink.flush(),
    updates,
    lines,
    get remainingLines() {
      return Math.max(0, lines.length - next)
    },
    get last(): BlockUpdate {
      const update = updates.at(-1)
      if (update === undefined) throw new Error('nothing was played')
      return update
    },
  }
}
