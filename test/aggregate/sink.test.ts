import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { FoldResult } from '../../services/aggregate/fold/block-changes.js'
import type { RowFacts } from '../../services/aggregate/sink/encode-rows.js'
import { createSink } from '../../services/aggregate/sink/sink.js'
import type { Store } from '../../services/core/store/port.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { generateRecording } from '../rig/market/generate.js'
import { marketMoney } from '../rig/market/money.js'

const NO_FACTS: RowFacts = {
  ...{ pair: () => undefined, token: () => undefined, mainPrices: () => undefined, finalNowS: () => 0 },
}

it('a flush fails if a write before it failed, also when nothing is left to write', async () => {
  const away = { insertRows: () => Promise.reject(new Error('the store is away')) } as unknown as Store
  const sink = createSink('eth', away, NO_FACTS, { flushEveryMs: 0, flushRows: 1 }, 0)
  const [block] = foldLines(startFold(marketMoney('eth')), generateRecording({ seed: 1, chain: 'eth', blocks: 1 }))
  sink.add(block as FoldResult)
  await sink.flushWhenDue(1)
  await nextTurn()
  await expect(sink.flush()).rejects.toThrow('the store is away')
})
