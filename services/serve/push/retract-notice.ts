import type { Retraction } from './update-snapshot.js'
import { noticeResult } from './notices.js'
import { WHOLE_CHAIN } from './params.js'
import type { PushContext } from './topic.js'
import { liqChannel } from './topics/liq.js'
import { multiTxChannel } from './topics/multi-tx.js'
import { txChannel } from './topics/tx.js'

/** Tells who was told of a pair's events that they never were. */
export function pushRetractNotice({ moment, out, cursor }: PushContext, { pair, ids, tokens, n }: Retraction): void {
  const { chain } = moment
  if (!out.concerns(pair, ...tokens)) return
  const channels = [
    ...[pair, WHOLE_CHAIN].flatMap((address) => [txChannel(address, chain), liqChannel(address, chain)]),
    ...tokens.map((token) => multiTxChannel(token, chain)),
  ].filter(out.isWanted)
  if (channels.length === 0) return
  const mark = cursor(n)
  const result = noticeResult({
    ...{ topic: 'retract', id: pair, chain, to_block: moment.number, ids: [...ids], cursor: mark },
  })
  out.publish(channels, { topic: 'retract', n, result, mergeKey: `retract|${mark}`, sentTime: true })
}
