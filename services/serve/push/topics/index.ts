import type { Topic } from '../topic.js'
import { kline, multiKline } from './kline.js'
import { liq } from './liq.js'
import { price } from './price.js'
import { signal } from './signal.js'
import { multiTx, tx } from './tx.js'
import { wallet } from './wallet.js'

/** Every topic: to add one, add a file here and a line below. */
export const TOPICS: ReadonlyMap<string, Topic> = new Map(
  [tx, multiTx, liq, kline, multiKline, price, wallet, signal].map((topic) => [topic.name, topic]),
)
