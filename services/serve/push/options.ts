import { type Place, parseCursor } from './cursor.js'
import { badParams } from './params.js'
import type { Asked, OnSlow, ParseContext } from './topic.js'

/** The optional last object of a subscribe's params. */
export type Options = {
  onSlow?: OnSlow
  /** Where the subscriber stood, one place a chain. */
  since: Place[]
  snapshot: boolean
}

const KNOWN = 'since, snapshot, on_slow'

/** What is not served is refused, never ignored. */
export function readOptions(given: object, context: ParseContext): Options {
  const options: Options = { since: [], snapshot: false }
  for (const [name, value] of Object.entries(given)) {
    if (name === 'on_slow') options.onSlow = readOnSlow(value)
    else if (name === 'snapshot') options.snapshot = readSnapshot(value)
    else if (name === 'since') options.since = readSince(value, context)
    else throw badParams(`The option "${name.slice(0, 40)}" is not served. Known: ${KNOWN}.`)
  }
  return options
}

/** Where each chain of a subscription goes on; a chain without a cursor begins now. */
export function placesOf(asked: Asked, since: readonly Place[], headOf: (chain: string) => Place): Place[] {
  return asked.chains.map((chain) => since.find((place) => place.chain === chain) ?? headOf(chain))
}

function readOnSlow(value: unknown): OnSlow {
  if (value === 'conflate' || value === 'disconnect') return value
  throw badParams('on_slow must be "conflate" or "disconnect".')
}

function readSnapshot(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw badParams('snapshot must be true or false.')
}

function readSince(value: unknown, { chains }: ParseContext): Place[] {
  const given: unknown[] = Array.isArray(value) ? value : [value]
  const places = given.map((text) => {
    const place = typeof text === 'string' ? parseCursor(text) : undefined
    if (place === undefined) throw badParams('since must be a cursor <epoch>:<chain>:<seq>:<n>, or an array of them.')
    if (chains.market(place.chain) === undefined) throw badParams(`since names a chain that is not indexed here.`)
    return place
  })
  if (new Set(places.map(({ chain }) => chain)).size < places.length) {
    throw badParams('since takes one cursor a chain.')
  }
  return places
}
