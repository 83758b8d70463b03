/** The pool a launch's liquidity went to: whichever of its two tokens was funded in the same transaction. */
import type { Happening } from '../protocol.js'
import type { Venue } from '../venue.js'

type Graduation = Extract<Happening, { kind: 'launch' }>
type Funded = Iterable<{ known: { venue: Venue }; happenings: readonly Happening[] }>

/** Undefined: no pool that is followed here. */
export function graduatedTo({ log }: Graduation, curve: Venue, touched: Funded): string | undefined {
  for (const { known, happenings } of touched) {
    const { id, tokens } = known.venue
    if (id === curve.id || tokens.length !== 2 || !curve.tokens.every((token) => tokens.includes(token))) continue
    const isFunded = (one: Happening) =>
      one.kind === 'liquidity' && one.change === 'add' && one.log.txHash === log.txHash
    if (happenings.some(isFunded)) return id
  }
  return undefined
}
