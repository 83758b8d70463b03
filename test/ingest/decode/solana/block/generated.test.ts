/** Generated transactions of every exchange decode to exactly the events their generator expects. */
import { describe, expect, it } from 'vitest'
import { seedsOf } from '../../../../rig/counts.js'
import { generatedTransactions } from '../../../../rig/solana/generated/transactions.js'
import { decoded } from './decoded.js'

describe.each(seedsOf('solanaGeneratedSeeds'))('seed %i', (seed) => {
  it.each(generatedTransactions(seed))('$name', ({ value, slot, expected }) => {
    const { events, lost } = decoded(value, slot)
    expect(lost).toEqual([])
    const reported = events.filter(
      (event) =>
        ['swap', 'liquidity', 'launch'].includes(event.type) || (event.type === 'token' && event.name !== null),
    )
    expect(reported).toMatchObject(expected)
    expect(reported).toHaveLength(expected.length)
  })
})
