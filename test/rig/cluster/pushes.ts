/** What a resuming client was told, held against the updates on the log: every push once, in order, closings too. */
import { INTERVALS } from '../../../services/core/domain/chains.js'
import { eventsOf } from '../../../services/core/domain/pair-events.js'
import type { BlockUpdate } from '../../../services/core/domain/records.js'
import { createOpenCandles } from '../../../services/serve/memory/open-candles.js'
import { closingNumber, FIRST_CLOSING } from '../../../services/serve/push/cursor.js'
import type { Heard } from '../../bench/sockets/client.js'
import { compare, newVerdict, type Verdict } from '../../bench/sockets/compare.js'
import { channelsOf, createExpectation } from '../../bench/sockets/expected.js'
import { readPools } from '../../bench/sockets/log.js'
import { CLOSING, type Place, placeOf } from '../../bench/sockets/place.js'
import { type OpenedLog, updatesIn } from '../up/contents.js'
import type { Told } from './resuming-client.js'

type Cursor = { seq: number; n: number }

const SHOWN = 10

export async function verdictOn(opened: OpenedLog, chains: Iterable<string>, told: readonly Told[]): Promise<Verdict> {
  const verdict = newVerdict()
  for (const chain of chains) {
    const listening = told.filter(({ params }) => channelsOf(params).has(chain))
    const wanted = new Set(listening.flatMap(({ params }) => channelsOf(params).get(chain) ?? []))
    const updates = inOrder(await updatesIn(opened, chain))
    const expectation = createExpectation(chain, await readPools(opened, chain), wanted)
    for (const update of updates) expectation.take(update)
    const lastSeq = updates.at(-1)?.seq ?? 0
    const closings = closingsDue(chain, updates, wanted)
    for (const one of listening) {
      compare(verdict, heardBy(one, chain), chain, expectation.due, lastSeq)
      compareClosings(verdict, one, chain, closings)
    }
  }
  return verdict
}

/** Each seq once: a run written again after a crash stands in the log again. */
function inOrder(updates: readonly BlockUpdate[]): BlockUpdate[] {
  return [...new Map(updates.map((update) => [update.seq, update])).values()].sort((a, b) => a.seq - b.seq)
}

function heardBy({ params, began, cursors }: Told, chain: string): Heard {
  const places = (cursors.get(chain) ?? []).map(read).map(({ seq, n }) => placeOf(seq, n))
  const since = [...began].map(([name, cursor]) => [name, beginning(read(cursor))] as const)
  return { params, since: new Map(since), places: new Map([[chain, places]]) }
}

/** A node that has just started does not know how many pushes its last update made, and gives 0: all of them came before. */
const beginning = ({ seq, n }: Cursor): Place => placeOf(seq, n === 0 ? CLOSING - 1 : n)

/** The pushes that end candles because time passed, by channel, as `seq:n`: all open candles of an undisturbed node. */
function closingsDue(
  chain: string,
  updates: readonly BlockUpdate[],
  wanted: ReadonlySet<string>,
): Map<string, string[]> {
  const open = createOpenCandles()
  const due = new Map<string, string[]>()
  for (const { seq, now, pairs, retracted } of updates) {
    const closed = open.takeEnded(now)
    for (const entry of pairs) open.note(entry.pair, eventsOf(entry).candles, now)
    const gone = retracted.flatMap((one) => (one.gone ? open.takeOf(one.pair) : []))
    for (const { pair, interval } of [...closed, ...gone]) {
      const channel = `kline|${pair}|${INTERVALS[interval]}|${chain}`
      if (wanted.has(channel))
        due.set(channel, [...(due.get(channel) ?? []), `${seq - 1}:${closingNumber(pair, interval)}`])
    }
  }
  return due
}

function compareClosings(
  verdict: Verdict,
  { params, began, cursors }: Told,
  chain: string,
  due: ReadonlyMap<string, string[]>,
): void {
  const first = read(began.get(chain) ?? '')
  const isLater = (cursor: string) => {
    const { seq, n } = read(`::${cursor}`)
    return seq > first.seq || (seq === first.seq && n > first.n)
  }
  const channels = channelsOf(params).get(chain) ?? []
  const must = new Set(channels.flatMap((channel) => due.get(channel) ?? []).filter(isLater))
  const heard = (cursors.get(chain) ?? []).filter((cursor) => read(cursor).n >= FIRST_CLOSING).map(shortened)
  const wrong = (kind: 'lost' | 'twice' | 'undue', cursor: string) => {
    verdict[kind] += 1
    const example = `${kind}: the end of a candle of ${JSON.stringify(params)} ${chain} ${cursor}`
    if (verdict.examples.length < SHOWN) verdict.examples.push(example)
  }
  const seen = new Set<string>()
  for (const cursor of heard) {
    if (seen.has(cursor)) wrong('twice', cursor)
    seen.add(cursor)
    if (!must.has(cursor)) wrong('undue', cursor)
  }
  for (const cursor of must) if (!seen.has(cursor)) wrong('lost', cursor)
}

function read(cursor: string): Cursor {
  const [, , seq, n] = cursor.split(':')
  return { seq: Number(seq), n: Number(n) }
}

const shortened = (cursor: string): string => cursor.split(':').slice(2).join(':')
