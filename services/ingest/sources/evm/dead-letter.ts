import type { DeadLetter } from '../../../core/domain/records.js'
import type { LostLog } from '../../decode/evm/block/decode-block.js'

/** With the log as the node gave it, so that a corrected decoder can take it. */
export function deadLetterOf(
  { log, reason, detail }: LostLog,
  chain: string,
  source: string,
  timeS: number,
): DeadLetter {
  return {
    ...{ chain, reason, detail, source },
    block_number: log.blockNumber,
    position: `${log.txIndex}:${log.logIndex}:0`,
    raw: Buffer.from(JSON.stringify(log)),
    at: timeS,
  }
}
