import { expect, it } from 'vitest'
import { graduatedTo } from '../../../../../services/ingest/decode/evm/block/venue-events.js'
import type { VenueEvent } from '../../../../../services/ingest/decode/evm/protocol.js'
import { address, makeLog, POOL, TOKEN0, TOKEN1, venue } from '../rig.js'

const curve = venue('four-meme', { id: `${TOKEN0}_fo` })
const graduation: Extract<VenueEvent, { kind: 'launch' }> = {
  ...{
    kind: 'launch',
    platform: 'fourmeme',
    token: TOKEN0,
    stage: 'graduated',
    progress: 1,
    pool: null,
    reserves: null,
  },
  log: makeLog('LiquidityAdded(address,uint256,address,uint256)', [], [TOKEN0, 1, 0, 1], { log: 9 }),
}
const funded = (id: string, change: 'add' | 'remove', tx: number, tokens = [TOKEN1, TOKEN0]) => ({
  known: { venue: venue('pancake-v3', { id, tokens }) },
  events: [
    {
      ...({ kind: 'liquidity', change, sender: POOL, amounts: [1n, 1n], reserves: null } as const),
      log: makeLog('Any()', [], [], { tx }),
    },
  ],
})

it('a launch graduates to the pool of its two tokens funded in its transaction, on any exchange', () => {
  const others = [
    funded(curve.id, 'add', 0),
    funded(address(1), 'add', 0, [TOKEN0, address(0x5d)]),
    funded(address(2), 'add', 1),
    funded(address(3), 'remove', 0),
  ]
  expect(graduatedTo(graduation, curve, others)).toBeUndefined()
  expect(graduatedTo(graduation, curve, [...others, funded(POOL, 'add', 0)])).toBe(POOL)
})
