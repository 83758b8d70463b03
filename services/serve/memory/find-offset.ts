import type { EventLog } from '../../core/log/port.js'
import { isAtOrBefore, type Position } from './candle-overlay.js'
import { decodeUpdates, type UpdateCodec } from './decode.js'

/**
 * An offset of an updates topic from which nothing after `position` is missed. (epoch, seq) grows along the topic but for
 * runs written again after a crash; each such run passes `position` without a hole, so whichever crossing the search
 * meets is good. The margin takes in the first parts of a split update; what was seen is dropped.
 */
export async function findOffset(
  log: EventLog,
  topic: string,
  codec: UpdateCodec,
  position: Position,
  marginRecords = 256,
): Promise<number> {
  const { start, end } = await log.info(topic)
  let low = start
  let high = end
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [update] = await decodeUpdates(codec, topic, await log.read(topic, { from: middle, maxRecords: 1 }))
    if (update === undefined) high = middle
    else if (isAtOrBefore(update, position)) low = middle + 1
    else high = middle
  }
  return Math.max(start, low - marginRecords)
}
