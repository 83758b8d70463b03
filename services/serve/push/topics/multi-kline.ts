import { Type } from '@sinclair/typebox'
import { badParams, readMaxItems } from '../params.js'
import type { Topic } from '../topic.js'
import { askedOf, kline, readKlineItem } from './kline.js'
import { KlineResult } from './kline-result.js'

export const multiKline: Topic = {
  name: 'multi_kline',
  summary: 'Candles of several pairs in one subscription; the pushes’ topic is kline',
  params: Type.Array(kline.params, { minItems: 1 }),
  result: KlineResult,
  onSlow: 'conflate',
  parse(args, context) {
    if (args.length === 0) throw badParams('multi_kline takes one or more arrays [pair address, interval, chain].')
    readMaxItems(context, args.length)
    const items = args.map((item) => {
      if (Array.isArray(item) && item.length === 3) return readKlineItem(item, context)
      throw badParams('Each item of multi_kline is an array [pair address, interval, chain].')
    })
    return askedOf('multi_kline', items, context)
  },
}
