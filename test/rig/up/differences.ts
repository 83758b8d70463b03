/** What differs between two data directories' contents, the first of each kind; empty: the same, numbers bit for bit. */
import type { DeadLetter } from '../../../services/core/domain/records.js'
import { exactDifferences } from '../aggregate/exact.js'
import type { Contents, Row, Rows } from './contents.js'

const SHOWN = 5

export function contentDifferences(got: Contents, expected: Contents): string[] {
  return [
    ...rowDifferences(got.rows, expected.rows),
    ...labelled('updates', seqsOf(got), seqsOf(expected)),
    ...labelled('updates', got.updates, expected.updates),
    ...labelled('dead letters', got.dead, expected.dead),
  ]
}

/** Dead letters name their place in the log of blocks; what was delivered twice moves it. */
export function withoutPlaces({ rows, updates, dead }: Contents): Contents {
  const letters = [...dead].map(([chain, list]): [string, DeadLetter[]] => [
    chain,
    list.map((letter) => ({ ...letter, source: '' })),
  ])
  return { rows, updates, dead: new Map(letters) }
}

/** Without `except`: columns that name the log's own order. */
export function rowDifferences(got: Rows, expected: Rows, except: readonly string[] = []): string[] {
  const found: string[] = []
  for (const table of Object.keys(expected) as (keyof Rows)[]) {
    const [left, right] = [got[table], expected[table]]
    const missing = [...right.keys()].filter((key) => !left.has(key))
    const unexpected = [...left.keys()].filter((key) => !right.has(key))
    found.push(...some(`${table}: missing`, missing), ...some(`${table}: should not be there`, unexpected))
    const common = [...right].filter(([key]) => left.has(key))
    const changed = common.flatMap(([key, row]) => {
      const different = exactDifferences(without(left.get(key) ?? {}, except), without(row, except), SHOWN)
      return different.length === 0 ? [] : [`${key} ${different.join('; ')}`]
    })
    found.push(...some(`${table}: differs`, changed))
  }
  return found
}

function some(what: string, keys: readonly string[]): string[] {
  const more = keys.length > SHOWN ? [`${what}: and ${keys.length - SHOWN} more`] : []
  return [...keys.slice(0, SHOWN).map((key) => `${what}: ${key}`), ...more]
}

function without(row: Row, columns: readonly string[]): Row {
  return columns.length === 0
    ? row
    : Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)))
}

/** Each seq once and in order is told first: with one missing, all behind it differ. */
function seqsOf({ updates }: Contents): Map<string, string> {
  const runs = [...updates].map(([chain, list]): [string, string] => [
    chain,
    runsOf(list.map(({ epoch, seq }) => [epoch, seq])),
  ])
  return new Map(runs)
}

/** As `1:1-270`; a new run where the seq does not follow. */
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
  return exactDifferences(got, expected, SHOWN).map((difference) => `${label}${difference}`)
}
