import type { Event, MetaEvent } from '../../core/domain/records.js'

type Place = Pick<MetaEvent, 'tx_index' | 'log_index' | 'sub' | 'tx_hash'>

/** Behind the block's last event, or at `start` if it has none. */
export function endOfBlock(last: Event | undefined, start: Place): Place {
  if (last === undefined) return start
  return { tx_index: last.tx_index, log_index: last.log_index, sub: last.sub + 1, tx_hash: last.tx_hash }
}
