/** The public list of programs matches the decoders. */
import { describe, expect, it } from 'vitest'
import { SOLANA_AMMS, SOLANA_PROGRAMS } from '../../../../services/core/domain/exchanges.js'
import { PROGRAMS } from '../../../../services/ingest/decode/solana/programs.js'
import { decoded } from './block/decoded.js'
import { everyTransaction } from './real-transactions.js'

describe('the list of programs', () => {
  it('names every decoder with its address', () => {
    expect(SOLANA_PROGRAMS.map(({ name, programId }) => ({ name, programIds: [programId] }))).toEqual(
      PROGRAMS.map(({ name, programIds }) => ({ name, programIds })),
    )
  })

  it('has every exchange that publishes pools', () => {
    const reported = everyTransaction().flatMap(({ value, slot }) =>
      decoded(value, slot).events.flatMap((event) => (event.type === 'pool' ? [event.amm] : [])),
    )
    expect([...new Set(reported)].filter((amm) => !SOLANA_AMMS.includes(amm))).toEqual([])
  })
})
