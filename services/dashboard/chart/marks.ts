/** Events as marks on the chart. Pure. */
import { usdShort } from '../show/format.js'

export type EventKind = 'buy' | 'sell' | 'add' | 'remove'
export type EventMark = { timeS: number; kind: EventKind; valueUsd: number }
export type Mark = { timeS: number; kind: EventKind | 'corrected'; text: string }

/** A mark on every bar would hide the candles. */
const MOST_MARKS = 40
/** The others are signs without words: too many, or too near to a larger one of their side. */
const MOST_TEXTS = 14
const TEXT_BARS = 9
const SIDES: Readonly<Record<EventKind, 'above' | 'below'>> = {
  ...{ buy: 'below', add: 'below', sell: 'above', remove: 'above' },
}

/** Of each kind at most one to a bar: the largest, and how many of the others were as notable. */
export function marksOf(events: readonly EventMark[], barTimeOf: (timeS: number) => number, stepS: number): Mark[] {
  const bars = new Map<string, EventMark & { count: number }>()
  for (const event of events.toSorted((a, b) => b.valueUsd - a.valueUsd)) {
    const timeS = barTimeOf(event.timeS)
    const name = `${timeS} ${event.kind}`
    const largest = bars.get(name)
    if (largest === undefined) bars.set(name, { ...event, timeS, count: 1 })
    else largest.count += 1
  }
  const texts: { timeS: number; side: string }[] = []
  const textOf = ({ timeS, kind, valueUsd, count }: EventMark & { count: number }): string => {
    const side = SIDES[kind]
    const isNear = texts.some((one) => one.side === side && Math.abs(one.timeS - timeS) < TEXT_BARS * stepS)
    if (isNear || texts.length >= MOST_TEXTS) return ''
    texts.push({ timeS, side })
    return `${usdShort(valueUsd)}${count > 1 ? ` +${count - 1}` : ''}`
  }
  return [...bars.values()]
    .slice(0, MOST_MARKS)
    .map((mark) => ({ timeS: mark.timeS, kind: mark.kind, text: textOf(mark) }))
}
