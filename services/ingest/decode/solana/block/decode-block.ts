/** One block's transactions → its events; advances the book. Pure except for the book. */
import type { Event } from '../../../../core/domain/records.js'
import { followsBalances } from '../../scope.js'
import { BadInstruction, BadTransaction, Malformed } from '../decode-errors.js'
import { isEventCall } from '../instruction/read-instruction.js'
import type { Program, VenueEvent } from '../program-decoder.js'
import { type Instruction, inOrder, type SolanaTransaction } from '../transaction.js'
import { parseBalances, parseTransaction } from '../wire/parse-transaction.js'
import { addBalances, MovedAccounts } from './balance-events.js'
import type { Book } from './book.js'
import { areBalancesWanted, isPoolWanted, type SolanaRules } from './decode-rules.js'
import { noteLockChanges } from './lock-checks.js'
import { EventList, type SeenPool, VenueEventWriter } from './venue-events.js'

/** `value`: as returned by the node, in any encoding. `index`: in the block. */
export type RawInBlock = { index: number; value: unknown }

/** What could not be decoded, with its transaction. `order`: the instruction's; 0: the whole transaction. */
export type LostInstruction = {
  reason: string
  detail: string
  txIndex: number
  order: number
  signature: string | null
  value: unknown
}

export type DecodedSolanaBlock = {
  events: Event[]
  lost: LostInstruction[]
  /** Pools with a trade or a change of liquidity, by address. */
  pools: ReadonlyMap<string, SeenPool>
  /** Tokens of which a lock may have changed. */
  changed: ReadonlySet<string>
  moved: MovedAccounts
}

export function decodeSolanaBlock(
  slot: number,
  transactions: Iterable<RawInBlock>,
  book: Book,
  rules: SolanaRules,
): DecodedSolanaBlock {
  const events = new EventList()
  const lost: LostInstruction[] = []
  const changed = new Set<string>()
  const isWanted = (account: string) => rules.programOf(account) !== undefined || rules.isLocker(account)
  const isHeld = (mint: string) =>
    areBalancesWanted(rules, mint, book.token(mint)?.traded === true) ||
    (rules.areLocksFollowed && book.sharesOf(mint).length > 0)
  const moved = new MovedAccounts(rules.scope)
  const isFollowing = followsBalances(rules.scope)
  const target = { events, book, rules, moved }
  const writer = new VenueEventWriter(events, book, rules)
  for (const { index, value } of transactions) {
    try {
      const transaction = parseTransaction(value, { slot, index }, isWanted)
      if (transaction !== null) decodeTransaction(transaction, value)
      else if (isFollowing) {
        const balances = parseBalances(value, { slot, index }, isHeld)
        if (balances === null) continue
        noteLockChanges(balances, book, rules, changed)
        addBalances(balances, 0, target)
      }
    } catch (error) {
      lost.push({ ...reasonOf(error, 'bad_transaction'), txIndex: index, order: 0, signature: null, value })
    }
  }
  return { events: events.finish(), lost, pools: writer.seen, changed, moved }

  function decodeTransaction(transaction: SolanaTransaction, value: unknown): void {
    const run = inOrder(transaction)
    for (const instruction of run) {
      const program = rules.programOf(instruction.programId)
      if (program === undefined || isEventCall(instruction)) continue
      try {
        write(program.decode(instruction, transaction), transaction, program)
      } catch (error) {
        const { index: txIndex, signature } = transaction
        lost.push({ ...reasonOf(error, 'bad_instruction'), txIndex, order: instruction.order, signature, value })
      }
    }
    noteLockChanges(transaction, book, rules, changed)
    addBalances(transaction, run.length, target)
  }

  function write(venueEvents: readonly VenueEvent[], transaction: SolanaTransaction, program: Program): void {
    // A token is published with its pool or not at all.
    const ofPools = venueEvents.filter(hasPool)
    if (ofPools.length > 0 && !ofPools.some(({ pool }) => isPoolWanted(rules.scope, pool))) return
    for (const venueEvent of venueEvents) writer.write(venueEvent, transaction, program)
  }
}

function hasPool(venueEvent: VenueEvent): venueEvent is Exclude<VenueEvent, { kind: 'launch' | 'token' }> {
  return venueEvent.kind !== 'launch' && venueEvent.kind !== 'token'
}

/** Unexpected decoder failures are handled like refused input: one transaction must not stop the chain. */
function reasonOf(error: unknown, reason: string): { reason: string; detail: string } {
  const detail = error instanceof Error ? error.message : String(error)
  if (error instanceof BadInstruction)
    return { reason: `${reason}_${error.reason}`, detail: withProgram(error.instruction, detail) }
  if (error instanceof BadTransaction || error instanceof Malformed) return { reason, detail }
  return { reason: 'decoder_failed', detail }
}

function withProgram({ programId }: Instruction, detail: string): string {
  return `${programId}: ${detail}`
}
