import type { Topic } from '../topic.js'
import { kline, multiKline } from './kline.js'
import { liq } from './liq.js'
import { price } from './price.js'
import { multiTx, tx } from './tx.js'

/** Every word a client can subscribe to: a new one is a file beside these and a line here. */
export const TOPICS: ReadonlyMap<string, Topic> = new Map(
  [tx, multiTx, liq, kline, multiKline, price].map((topic) => [topic.name, topic]),
)
