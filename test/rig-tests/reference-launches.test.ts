import { describe, expect, test } from 'vitest'
import type { LaunchStage } from '../../services/core/domain/records.js'
import type { EventFacts } from '../rig/market/writer.js'
import { liquidity, MONDAY, pool, swap, tape } from '../rig/tape.js'

describe('launches', () => {
  const launch = (stage: LaunchStage, name: string): EventFacts => ({
    type: 'launch',
    token: 'a',
    platform: 'x',
    stage,
    pool: name,
  })
  const curve = () =>
    tape().block(MONDAY, pool('curve', 'a', 'nat'), launch('created', 'curve'), liquidity('curve', 5, 5))
  test('a graduation moves the main pair at once, and the curve does not return', () => {
    const reference = curve()
      .block(MONDAY, pool('dex', 'a', 'usd'), launch('graduated', 'dex'))
      .block(MONDAY, liquidity('curve', 5, 1e9))
      .read()
    expect(reference.mainPairChanges.map(({ block, new_pair }) => [block, new_pair])).toEqual([[2, 'curve'], [3, 'dex']]) // biome-ignore format: a table
  })
  test('applies at that event: later trades of the block are priced by the new pair', () => {
    const reference = tape()
      .block(MONDAY, pool('curve', 'a', 'usd'), launch('created', 'curve'), swap('curve', 4, 'usd', 2, 'a'))
      .block(
        MONDAY,
        pool('q', 'b', 'a'),
        pool('dex', 'a', 'usd'),
        swap('dex', 9, 'usd', 3, 'a'),
        swap('q', 5, 'a', 5, 'b'),
        launch('graduated', 'dex'),
        swap('q', 5, 'a', 5, 'b'),
      )
      .read()
    expect(reference.trades.slice(2).map(({ quote_usd }) => quote_usd)).toEqual([2, 3])
  })
  test('for a pool described later: applies from that event on, with no main pair in between', () => {
    const reference = curve()
      .block(MONDAY, launch('graduated', 'dex'))
      .block(MONDAY, pool('dex', 'a', 'usd'))
      .read()
    expect(reference.mainPairChanges.map(({ new_pair }) => new_pair)).toEqual(['curve', null, 'dex'])
  })
})
