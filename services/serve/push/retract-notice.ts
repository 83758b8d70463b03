import type { RetractedPair } from '../../core/domain/records.js'
import type { PushContext } from './topic.js'
import { txChannel } from './topics/tx.js'

/** Channels that were told of a pair's events and must hear that they never were. */
const EVENT_CHANNELS = [txChannel]

export function pushRetractNotice({ market, applied, out, cursor }: PushContext, gone: RetractedPair, n: number): void {
  const { chain } = market.state
  const channels = EVENT_CHANNELS.map((channel) => channel(gone.pair, chain)).filter((channel) => out.isWanted(channel))
  if (channels.length === 0) return
  const { pair: id, ids } = gone
  const result = JSON.stringify({
    topic: 'retract',
    id,
    chain,
    to_block: applied.update.number,
    ids,
    cursor: cursor(n),
  })
  out.publish(channels, { topic: 'retract', result, mergeKey: `retract|${cursor(n)}`, sentTime: true })
}
