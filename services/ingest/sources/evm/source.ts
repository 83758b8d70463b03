/** An EVM chain as a source. */
import type { Logger } from '../../../core/runtime/logger.js'
import type { DecodeRules } from '../../decode/evm/block/decode-rules.js'
import type { Refusal } from '../../decode/evm/protocol.js'
import type { Source } from '../../source.js'
import { type ChainPosition, type FollowedChain, followChain } from '../following/follow-chain.js'
import { blocksWithSenders } from './blocks-with-senders.js'
import type { ChainReader, LogFilter } from './chain-reader.js'
import { evmDecoder } from './evm-decoder.js'
import type { KeptBook } from './kept-book.js'

export type EvmSourceParts = Pick<
  FollowedChain<never>,
  'chain' | 'name' | 'id' | 'firstBlock' | 'finality' | 'progress' | 'nowMs'
> & {
  reader: ChainReader
  rules: DecodeRules
  filter: LogFilter
  book: KeptBook
  logger: Logger
}

const FIRST_RANGE_BLOCKS = 20

export function createEvmSource(parts: EvmSourceParts): Source<ChainPosition> {
  const refusals = new Map<string, Refusal>()
  return followChain({
    ...parts,
    nodes: blocksWithSenders({ ...parts, refusals }),
    decoder: evmDecoder({ ...parts, refusals }),
    weightOf: ({ logs }) => logs.length,
    chunkSize: { blocks: FIRST_RANGE_BLOCKS },
  })
}
