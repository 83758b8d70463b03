/** `getTransaction` and `getBlock` results → events. The results are complete, so no pools file is needed. */
import type { ChainFacts } from '../../core/domain/chains.js'
import type { Event } from '../../core/domain/records.js'
import { memoryBook } from '../../ingest/decode/solana/block/book.js'
import { decodeSolanaBlock, type LostInstruction } from '../../ingest/decode/solana/block/decode-block.js'
import { createSolanaRules } from '../../ingest/decode/solana/block/decode-rules.js'
import { BadTransaction } from '../../ingest/decode/solana/decode-errors.js'
import { PROGRAMS } from '../../ingest/decode/solana/programs.js'
import { readBodies, type SolanaBody } from '../../ingest/decode/solana/wire/parse-block.js'
import { badInput, type InputValue } from './input.js'

export type DecodedBody = { body: SolanaBody; events: Event[]; lost: LostInstruction[] }

export async function* decodeBodies(
  values: AsyncIterable<InputValue>,
  { native, anchor, stables, majors }: ChainFacts,
  name: string,
): AsyncGenerator<DecodedBody> {
  const book = memoryBook()
  const rules = createSolanaRules({
    scope: { pools: new Set(), tokens: new Set(), amms: new Set(), balances: 'scoped' },
    money: new Set([native, anchor, ...stables, ...majors].filter((token) => token !== undefined)),
    programs: PROGRAMS,
  })
  for await (const { value, line } of values) {
    for (const body of bodiesOf(value, line)) {
      const { events, lost } = decodeSolanaBlock(body.slot, body.transactions, book, rules)
      yield { body, events, lost }
    }
  }

  function bodiesOf(value: unknown, line: number): SolanaBody[] {
    try {
      return readBodies(value)
    } catch (error) {
      throw error instanceof BadTransaction ? badInput(name, line, error.message) : error
    }
  }
}
