/** What a field may hold: by the interface's types, and where only its name is known, by the rule for such names. */
import type { Field } from './fields.js'

export type Kind = 'text' | 'decimal' | 'count' | 'time' | 'fact' | 'list' | 'tags'

export const DECIMAL = /^-?\d+(\.\d+)?$/

const KINDS: readonly (readonly [Kind, RegExp])[] = [
  ['tags', /^wallet_tag$/],
  ['list', /^(dex|lock|points|txs|tokens|.*_rank)$/],
  ['time', /(_at|_time|^time|block_number)$/],
  ['count', /(_count(_|$)|^tx_count|_count_|buyers|sellers|makers|holders|decimal$|^limit$|^total_count$)/],
  [
    'fact',
    /^(is_|has_|can_|cannot_|risk_(score|level)|ave_risk|transfer_pausable|hidden_owner|owner_change|selfdestruct)/,
  ],
  [
    'fact',
    /^(external_call|anti_whale|trading_cooldown|slippage|personal_slippage|fee$|mark$|.*_gas$|.*_tax$|.*percent$)/,
  ],
  ['decimal', /(price|change|volume|amount|reserve|liquidity|tvl|market_cap|fdv|profit|launch_price|balance)/],
  ['decimal', /^(uprice|open|high|low|close|total|total_supply|pair_total|quantity|(high|low)(_u|_24h)|amount[01])$/],
]

export const kindOf = (name: string): Kind => KINDS.find(([, pattern]) => pattern.test(name))?.[0] ?? 'text'

const isWhole = (value: unknown): boolean => Number.isInteger(value)

/** What is unknown is "" where the interface types a string, and null where it does not say or types a number. */
const ALLOWED: Record<Kind, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string' || (typeof value === 'number' && isWhole(value)),
  decimal: (value) => value === null || value === '' || (typeof value === 'string' && DECIMAL.test(value)),
  count: (value) => value === null || isWhole(value),
  time: (value) => isWhole(value) && Number(value) >= 0,
  fact: (value) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  list: (value) => Array.isArray(value),
  tags: (value) => value === null || Array.isArray(value),
}

/** Why a record's field is not as its name demands; undefined where it is. */
export function namedProblem(record: unknown, name: string): string | undefined {
  const value = (record as Record<string, unknown>)[name]
  if (value === undefined) return `${name} is missing`
  return ALLOWED[kindOf(name)](value) ? undefined : `${name} is no ${kindOf(name)}: ${show(value)}`
}

const TYPES: Record<Field['type'], (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  integer: (value) => value === null || isWhole(value),
  number: (value) => value === null || typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: (value) => Array.isArray(value),
  null: (value) => value === null || Array.isArray(value),
}

/** Why a record's field is not as the interface types it. `kline.eth` is a field of a field. */
export function typedProblem(record: unknown, { name, type, required }: Field): string | undefined {
  let value: unknown = record
  for (const step of name.split('.')) value = (value as Record<string, unknown> | undefined)?.[step]
  if (value === undefined) return required ? `${name} is missing` : undefined
  if (!TYPES[type](value)) return `${name} is no ${type}: ${show(value)}`
  const isNumber = type === 'string' && kindOf(name) === 'decimal' && value !== ''
  return isNumber && !DECIMAL.test(String(value)) ? `${name} is no plain decimal: ${show(value)}` : undefined
}

const show = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 100)

/** The first few, each once. */
export const firstOf = (problems: readonly (string | undefined)[]): string[] =>
  [...new Set(problems.filter((problem) => problem !== undefined))].slice(0, 5)
