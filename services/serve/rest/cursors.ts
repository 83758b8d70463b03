/** Opaque cursors: a position in a history, from which reading goes on even if a reorg removed what was there. */
import type { EventQuery, Place } from '../history/event-order.js'
import type { Order } from '../history/near-rows.js'
import { badRequest } from './problem.js'

export type EventCursor = { sort: EventQuery['sort']; after: Place }
export type CandleCursor = { order: Order; timeS: number }

const EVENT = /^e1\.(asc|desc)\.(\d{1,12})\.(\d{1,15})\.(\d{1,10})\.(\d{1,10})\.(\d{1,10})$/
const CANDLE = /^c1\.(earliest|latest)\.(\d{1,12})$/
/** Longer than any cursor. */
const MAX_LENGTH = 200

export function eventCursor({ sort, after }: EventCursor): string {
  const { timeS, blockNumber, tx_index, log_index, sub } = after
  return seal(['e1', sort, timeS, blockNumber, tx_index, log_index, sub])
}

export function readEventCursor(cursor: string, sort: EventQuery['sort'] | undefined): EventCursor {
  const [, order, time, block, tx, log, sub] = EVENT.exec(unseal(cursor)) ?? []
  if (order === undefined) throw cursorInvalid('it is not one of this operation')
  if (sort !== undefined && sort !== order) throw cursorInvalid(`it is for sort=${order}`)
  const place = { timeS: Number(time), blockNumber: Number(block), tx_index: Number(tx) }
  return { sort: order as EventQuery['sort'], after: { ...place, log_index: Number(log), sub: Number(sub) } }
}

export function candleCursor({ order, timeS }: CandleCursor): string {
  return seal(['c1', order, timeS])
}

export function readCandleCursor(cursor: string): CandleCursor {
  const [, order, time] = CANDLE.exec(unseal(cursor)) ?? []
  if (order === undefined) throw cursorInvalid('it is not one of this operation')
  return { order: order as Order, timeS: Number(time) }
}

const seal = (parts: readonly (string | number)[]): string => Buffer.from(parts.join('.')).toString('base64url')

const unseal = (cursor: string): string =>
  cursor.length > MAX_LENGTH ? '' : Buffer.from(cursor, 'base64url').toString('latin1')

function cursorInvalid(why: string) {
  return badRequest('cursor_invalid', `Invalid \`cursor\`: ${why}. Pass \`next_cursor\` of an answer as it is.`)
}
