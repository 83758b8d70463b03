/** The history operations, which only the wire facts have, in the form of the interface's own. */
import type { Input } from './inputs.js'
import type { SpecOperation } from './spec.js'
import type { HistoryFacts, WireFacts } from './wire-facts.js'

export function historyOperations({ klines, swaps, liquidity }: WireFacts): SpecOperation[] {
  const intervals = [...klines.intervals, 's1', ...klines.intervals.map((minutes) => `k${minutes}`)]
  const candles = [
    choice('interval', intervals, undefined),
    limitOf(klines),
    ...times,
    choice('category', klines.categories, klines.categories[0]),
  ]
  const events = [limitOf(swaps), ...times, choice('sort', ['asc', 'desc'], 'asc')]
  return [
    made('/v2/klines/pair/{pair-id}', klines, candles),
    made('/v2/klines/token/{token-id}', klines, candles),
    made('/v2/txs/swap/{pair-id}', swaps, events),
    made('/v2/txs/{pair-id}', swaps, events),
    made('/v2/txs/liq/{pair-id}', liquidity, [...events, choice('type', liquidity.types, liquidity.types.at(-1))]),
  ]
}

function made(path: string, { costCu }: HistoryFacts, inputs: Input[]): SpecOperation {
  const form = path.includes('token-id') ? 'token-id' : 'pair-id'
  const id: Input = { place: 'path', name: form, type: 'string', required: true, form, zeroIsNone: false }
  return { name: `GET ${path}`, method: 'GET', path, costCu, inputs: [id, ...inputs], success: '', body: 'object' }
}

const times: Input[] = ['from_time', 'to_time'].map((name) => ({
  ...{ place: 'query', name, type: 'integer', required: false, zeroIsNone: false },
}))

function limitOf({ limitDefault, limitMax }: HistoryFacts): Input {
  const standard = limitDefault === undefined ? {} : { default: String(limitDefault) }
  return {
    place: 'query',
    name: 'limit',
    type: 'integer',
    required: false,
    max: limitMax,
    zeroIsNone: false,
    ...standard,
  }
}

/** Without a default it must be given. */
function choice(name: string, values: string[], standard: string | undefined): Input {
  const rule = standard === undefined ? {} : { default: standard }
  return { place: 'query', name, type: 'string', required: standard === undefined, values, zeroIsNone: false, ...rule }
}
