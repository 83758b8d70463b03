/** First differences of each kind between two data directories; empty if they are equal, numbers bit for bit. */
import type { DeadLetter } from '../../../services/core/domain/records.js'
import { exactDifferences } from '../aggregate/exact.js'
import type { Contents, Row, Rows } from './contents.js'

const MAX_LISTED = 5

export function contentDifferences(got: Contents, expected: Contents): string[] {
  return [
    ...rowDifferences(got.rows, expected.rows),
    ...labelled('updates', seqsOf(got), seqsOf(expected)),
    ...labelled('updates', got.updates, expected.updates),
    ...labelled('dead letters', got.dead, expected.dead),
  ]
}

/** Clears the log positions in dead letters, which shift when records are delivered twice. */
export function withoutPlaces({ rows, updates, dead }: Contents): Contents {
  const letters = [...dead].map(([chain, list]): [string, DeadLetter[]] => [
    chain,
    list.map((letter) => ({ ...letter, source: '' })),
  ])
  return { rows, updates, dead: new Map(letters) }
}

/** Ignores the columns in `except`, such as those that depend on the order of the log. */
export function rowDifferences(got: Rows, expected: Rows, except: readonly string[] = []): string[] {
  const found: string[] = []
  for (const table of Object.keys(expected) as (keyof Rows)[]) {
    const [left, right] = [got[table], expected[table]]
    const missing = [...right.keys()].filter((key) => !left.has(key))
    const unexpected = [...left.keys()].filter((key) => !right.has(key))
    found.push(...some(`${table}: missing`, missing), ...some(`${table}: should not be there`, unexpected))
    const common = [...right].filter(([key]) => left.has(key))
    const changed = common.flatMap(([key, row]) => {
      const different = exactDifferences(without(left.get(key) ?? {}, except), without(row, except), MAX_LISTED)
      return different.length === 0 ? [] : [`${key} ${different.join('; ')}`]
    })
    found.push(...some(`${table}: differs`, changed))
  }
  return found
}

function some(what: string, keys: readonly string[]): string[] {
  const more = keys.length > MAX_LISTED ? [`${what}: and ${keys.length - MAX_LISTED} more`] : []
  return [...keys.slice(0, MAX_LISTED).map((key) => `${what}: ${key}`), ...more]
}

function without(row: Row, columns: readonly string[]): Row {
  return columns.length === 0
    ? row
    : Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)))
}

/** Compared first: with one seq missing, every later update differs. */
function seqsOf({ updates }: Contents): Map<string, string> {
  const runs = [...updates].map(([chain, list]): [string, string] => [
    chain,
    runsOf(list.map(({ epoch, seq }) => [epoch, seq])),
  ])
  return new Map(runs)
}

/** Formats seqs as `1:1-270`; a new run starts where the seq does not follow. */
function runsOf(seqs: readonly (readonly [epoch: number, seq: number])[]): string {
  const runs: { epoch: number; from: number; to: number }[] = []
  for (const [epoch, seq] of seqs) {
    const last = runs.at(-1)
    if (last !== undefined && last.epoch === epoch && last.to + 1 === seq) last.to = seq
    else runs.push({ epoch, from: seq, to: seq })
  }
  return runs.map(({ epoch, from, to }) => `${epoch}:${from}-${to}`).join(' ')
}

function labelled(label: string, got: unknown, expected: unknown): string[] {
  return exactDifferences(got, expected, MAX_LISTED).map((difference) => `${label}${difference}`)
}
