/** Compares received with expected pushes: order, lost, duplicate and unexpected ones. */
import type { Heard } from './client.js'
import { channelsOf, type Due } from './expected.js'
import { CLOSING, numberOf, type Place, seqOf } from './place.js'

export type Verdict = {
  pushes: number
  /** Expected by the log, candles that close apart. */
  due: number
  lost: number
  twice: number
  disordered: number
  undue: number
  examples: string[]
}

export const newVerdict = (): Verdict => ({
  pushes: 0,
  due: 0,
  lost: 0,
  twice: 0,
  disordered: 0,
  undue: 0,
  examples: [],
})

const SHOWN = 5

/** Compares one subscription on one chain, from its start to `lastSeq`. */
export function compare(verdict: Verdict, heard: Heard, chain: string, due: Due, lastSeq: number): void {
  const channels = channelsOf(heard.params).get(chain) ?? []
  const since = heard.since.get(chain) ?? Number.POSITIVE_INFINITY
  const inRange = (place: Place) => place > since && seqOf(place) <= lastSeq
  const must = new Set(channels.flatMap((channel) => due.must.get(channel) ?? []).filter(inRange))
  verdict.due += must.size
  const wrong = (kind: 'lost' | 'twice' | 'disordered' | 'undue', place: Place) => {
    verdict[kind] += 1
    const at = `${kind}: ${JSON.stringify(heard.params)} ${chain} seq ${seqOf(place)} n ${numberOf(place)}`
    if (verdict.examples.length < SHOWN) verdict.examples.push(at)
  }
  const seen = new Set<Place>()
  let before = -1
  for (const place of (heard.places.get(chain) ?? []).filter(inRange)) {
    verdict.pushes += 1
    if (place < before) wrong('disordered', place)
    before = place
    // Closing candles depend on all open candles, not on this update alone.
    if (numberOf(place) === CLOSING) continue
    if (seen.has(place)) wrong('twice', place)
    seen.add(place)
    if (!must.has(place) && !channels.some((channel) => due.may.has(`${channel}|${place}`))) wrong('undue', place)
  }
  for (const place of must) if (!seen.has(place)) wrong('lost', place)
}
