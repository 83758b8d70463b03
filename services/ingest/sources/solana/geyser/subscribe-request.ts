/** What a stream is asked for. */
import type { Scope } from '../../../decode/scope.js'
import type { Program } from '../../../decode/solana/program-decoder.js'
import type { Commitment } from '../slot-block.js'
import type { SubscribeRequest } from './geyser-service.js'

export type Wanted = {
  commitment: Commitment
  /** Only transactions with one of these accounts; empty: all. */
  accounts: readonly string[]
  fromSlot?: number | undefined
}

/** Name of the one filter; the other side repeats it with every update. */
const FILTER = 'dextape'

export function blocksRequest({ commitment, accounts, fromSlot }: Wanted): SubscribeRequest {
  return {
    blocks: {
      [FILTER]: { accountInclude: accounts, includeTransactions: true, includeAccounts: false, includeEntries: false },
    },
    commitment: commitment === 'confirmed' ? 'CONFIRMED' : 'FINALIZED',
    ...(fromSlot === undefined ? {} : { fromSlot: String(fromSlot) }),
  }
}

/** The other side closes streams, or what lies between does, where its pings stay without this. */
export const PONG: SubscribeRequest = { ping: { id: 1 } }

/** Empty: all of them are needed, since a transaction that touches no program may still move a balance that is followed. */
export function accountsOfInterest({ balances }: Pick<Scope, 'balances'>, programs: readonly Program[]): string[] {
  return balances === 'off' ? programs.flatMap(({ programIds }) => programIds) : []
}
