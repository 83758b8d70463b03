/** The place of events that end a block. */
import type { Event } from '../../../../core/domain/records.js'
import { endOfBlock } from '../../end-of-block.js'
import type { EvmBlock } from '../log.js'

/** Behind the block's last event, or at its last log if it has none. */
export function placeAfter(last: Event | undefined, { logs }: Pick<EvmBlock, 'logs'>): ReturnType<typeof endOfBlock> {
  const log = logs.at(-1)
  const atLastLog = { tx_index: log?.txIndex ?? 0, log_index: log?.logIndex ?? 0, sub: 0, tx_hash: log?.txHash ?? '' }
  return endOfBlock(last, atLastLog)
}
