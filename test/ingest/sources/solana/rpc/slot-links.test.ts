/** What parent links prove, without a node. */
import { expect, test } from 'vitest'
import { findLinkProblems } from '../../../../../services/ingest/sources/solana/rpc/slot-links.js'
import { chainOf, headerAt, slotsBut } from './slot-chain.js'

const chain = chainOf(slotsBut(10, 20, 13, 14, 19))
const but = (...skipped: number[]) =>
  [...chain.keys()].filter((slot) => !skipped.includes(slot)).map((slot) => headerAt(chain, slot))

test('skipped slots are valid', () => {
  expect(findLinkProblems(but(), 10)).toEqual({ missing: [], broken: [] })
  expect(findLinkProblems([], 10)).toEqual({ missing: [], broken: [] })
})

test('a parent without a block is missing; for the first block only if its parent is in the range', () => {
  expect(findLinkProblems(but(12), 10)).toEqual({ missing: [{ slot: 12, child: 15 }], broken: [] })
  expect(findLinkProblems(but(10, 17), 10)).toEqual({
    missing: [
      { slot: 10, child: 11 },
      { slot: 17, child: 18 },
    ],
    broken: [],
  })
  expect(findLinkProblems(but(10), 11)).toEqual({ missing: [], broken: [] })
  // No block links to the last one.
  expect(findLinkProblems(but(20), 10)).toEqual({ missing: [], broken: [] })
})

test('a block of another fork is reported together with its neighbour', () => {
  const other = { ...headerAt(chain, 12), hash: headerAt(chain, 11).parentHash }
  const mixed = but().map((header) => (header.number === 12 ? other : header))
  expect(findLinkProblems(mixed, 10)).toEqual({ missing: [], broken: [{ earlier: 12, later: 15 }] })
  const dead = { ...headerAt(chain, 12), number: 14, parentNumber: 12, parentHash: headerAt(chain, 12).hash }
  const withDead = [...but(), dead].sort((one, two) => one.number - two.number)
  expect(findLinkProblems(withDead, 10)).toEqual({ missing: [], broken: [{ earlier: 14, later: 15 }] })
})
