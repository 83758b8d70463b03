/** Validates a raw JSON value: an event of the log, or the problem. */
import type { ChainFamily } from '../../core/domain/chains.js'
import type { Event, Profile } from '../../core/domain/records.js'
import { describeValue, Fields, INT_MAX, isObject, type Problem } from './check-fields.js'

const NAME_MAX = 1024
const URL_MAX = 4096
const JSON_MAX = 65_536
const DECIMALS_MAX = 255

type Head = { tx_index: number; log_index: number; sub: number; tx_hash: string }
type EventReader = (fields: Fields, head: Head, raw: Record<string, unknown>) => Event

const READERS: Record<Event['type'], EventReader> = {
  token: (fields, head) => ({
    type: 'token',
    ...head,
    token: fields.id('token'),
    // A long name must not leave the token without decimals, and so without a price.
    name: fields.cutText('name', NAME_MAX),
    symbol: fields.cutText('symbol', NAME_MAX),
    decimals: fields.optionalInteger('decimals', DECIMALS_MAX),
    total_supply: fields.optionalAmount('total_supply'),
  }),
  pool: (fields, head) => {
    const [token0, token1] = [fields.id('token0'), fields.id('token1')]
    refuseSame(fields, 'token0', token0, 'token1', token1)
    return {
      type: 'pool',
      ...head,
      pool: fields.id('pool'),
      amm: fields.identifier('amm'),
      token0,
      token1,
      fee: fields.optionalInteger('fee', INT_MAX),
      creator: fields.optionalId('creator'),
    }
  },
  swap: (fields, head, raw) => {
    const [tokenIn, tokenOut] = [fields.id('token_in'), fields.id('token_out')]
    refuseSame(fields, 'token_in', tokenIn, 'token_out', tokenOut)
    return {
      type: 'swap',
      ...head,
      pool: fields.id('pool'),
      amm: fields.identifier('amm'),
      sender: fields.party('sender'),
      recipient: fields.party('recipient'),
      wallet: fields.party('wallet'),
      token_in: tokenIn,
      amount_in: fields.amount('amount_in'),
      token_out: tokenOut,
      amount_out: fields.amount('amount_out'),
      reserve0: fields.optionalAmount('reserve0'),
      reserve1: fields.optionalAmount('reserve1'),
      sqrt_price: fields.optionalAmount('sqrt_price'),
      profile: fields.isAbsent('profile') ? null : readProfile(fields, raw.profile),
    }
  },
  liquidity: (fields, head) => ({
    type: 'liquidity',
    ...head,
    pool: fields.id('pool'),
    amm: fields.identifier('amm'),
    kind: fields.oneOf('kind', ['create', 'add', 'remove']),
    sender: fields.party('sender'),
    wallet: fields.party('wallet'),
    amount0: fields.amount('amount0'),
    amount1: fields.amount('amount1'),
    reserve0: fields.optionalAmount('reserve0'),
    reserve1: fields.optionalAmount('reserve1'),
  }),
  balance: (fields, head) => {
    if (fields.isAbsent('delta') === fields.isAbsent('balance')) {
      const both = !fields.isAbsent('delta')
      fields.refuse(
        both ? 'wrong_type' : 'missing_field',
        both ? 'both "delta" and "balance" are set; expected one of them' : '"delta" or "balance" is missing',
      )
    }
    return {
      type: 'balance',
      ...head,
      token: fields.id('token'),
      holder: fields.id('holder'),
      delta: fields.optionalDelta('delta'),
      balance: fields.optionalAmount('balance'),
    }
  },
  launch: (fields, head) => {
    const progress = fields.isAbsent('progress') ? null : fields.double('progress')
    if (progress !== null && (progress < 0 || progress > 1))
      fields.refuse('out_of_range', `"progress" must be from 0 to 1, got ${progress}`)
    return {
      type: 'launch',
      ...head,
      token: fields.id('token'),
      platform: fields.identifier('platform'),
      stage: fields.oneOf('stage', ['created', 'curve', 'graduated']),
      progress,
      pool: fields.optionalId('pool'),
    }
  },
  meta: (fields, head) => ({
    type: 'meta',
    ...head,
    token: fields.id('token'),
    total_supply: fields.optionalAmount('total_supply'),
    owner: fields.optionalId('owner'),
    risk: fields.optionalJson('risk', JSON_MAX),
    logo_url: fields.optionalText('logo_url', URL_MAX),
    links: fields.optionalJson('links', JSON_MAX),
    holders_complete: fields.optionalBoolean('holders_complete'),
  }),
}

export const EVENT_TYPES = Object.keys(READERS)

/** `position` is `tx_index:log_index:sub` if the raw value has them. */
export type ReadEvent =
  | { ok: true; event: Event }
  | { ok: false; problem: Problem; position: string | null; value: unknown }

export function readEvent(value: unknown, family: ChainFamily): ReadEvent {
  const refused = (problem: Problem): ReadEvent => ({ ok: false, problem, position: positionOf(value), value })
  if (!isObject(value))
    return refused({ reason: 'not_a_record', detail: `an event must be an object, got ${describeValue(value)}` })
  const type = value.type
  if (type === undefined || type === null) return refused({ reason: 'missing_field', detail: '"type" is missing' })
  if (typeof type !== 'string' || !Object.hasOwn(READERS, type))
    return refused({
      reason: 'unknown_event',
      detail: `unknown event type ${describeValue(type)}; expected one of ${EVENT_TYPES.join(', ')}`,
    })
  const fields = new Fields(value, family === 'evm')
  const head: Head = {
    tx_index: fields.integer('tx_index', INT_MAX),
    log_index: fields.integer('log_index', INT_MAX),
    sub: fields.integerOr('sub', INT_MAX, 0),
    tx_hash: fields.id('tx_hash'),
  }
  const event = READERS[type as Event['type']](fields, head, value)
  return fields.problem === undefined ? { ok: true, event } : refused(fields.problem)
}

function refuseSame(fields: Fields, name: string, token: string, otherName: string, other: string): void {
  if (token === other && token !== '')
    fields.refuse('same_token', `"${name}" and "${otherName}" are the same token ${token}`)
}

function readProfile(fields: Fields, value: unknown): Profile | null {
  if (!isObject(value)) {
    fields.refuse('wrong_type', `"profile" must be an object, got ${describeValue(value)}`)
    return null
  }
  // Profiles are only displayed: addresses keep their case.
  const inner = new Fields(value, false)
  const profile: Profile = {
    token0TotalHolding: inner.double('token0TotalHolding'),
    token1TotalHolding: inner.double('token1TotalHolding'),
    token0Address: inner.identifier('token0Address'),
    token1Address: inner.identifier('token1Address'),
    solTotalHolding: inner.double('solTotalHolding'),
    token0HasNewAccount: inner.boolean('token0HasNewAccount'),
    token0HasClosedAccount: inner.boolean('token0HasClosedAccount'),
    token0HasClearedAccount: inner.boolean('token0HasClearedAccount'),
    token1HasNewAccount: inner.boolean('token1HasNewAccount'),
    token1HasClosedAccount: inner.boolean('token1HasClosedAccount'),
    token1HasClearedAccount: inner.boolean('token1HasClearedAccount'),
  }
  if (inner.problem !== undefined) fields.refuse(inner.problem.reason, `in "profile": ${inner.problem.detail}`)
  return profile
}

function positionOf(value: unknown): string | null {
  if (!isObject(value)) return null
  const { tx_index, log_index, sub = 0 } = value
  return [tx_index, log_index, sub].every(Number.isSafeInteger) ? `${tx_index}:${log_index}:${sub}` : null
}
