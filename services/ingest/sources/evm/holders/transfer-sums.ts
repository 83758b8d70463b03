/** Everybody who ever had a token, with what their transfers add up to; kept in a file, so that a restart resumes. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import { ZERO_ADDRESS } from '../../../../core/domain/chains.js'
import type { Transfer } from '../../../decode/evm/erc20.js'

export type Moves = Pick<Transfer, 'from' | 'to' | 'amount'>

/** In the order of their first transfer. The zero address is none of them: it mints and burns. */
export type Sums = Map<string, bigint>

export function addTransfers(sums: Sums, transfers: readonly Moves[]): void {
  for (const { from, to, amount } of transfers) {
    if (from !== ZERO_ADDRESS) sums.set(from, (sums.get(from) ?? 0n) - amount)
    if (to !== ZERO_ADDRESS) sums.set(to, (sums.get(to) ?? 0n) + amount)
  }
}

export type KeptSums = {
  readonly sums: Sums
  /** The last block whose transfers are in; undefined: none yet. */
  readonly throughBlock: number | undefined
  add(transfers: readonly Moves[], throughBlock: number): void
}

/** A line for each holder that moved, then one with the block up to which these are. */
const THROUGH = '#'

export function openKeptSums(path: string): KeptSums {
  mkdirSync(dirname(path), { recursive: true })
  const sums: Sums = new Map()
  let throughBlock = existsSync(path) ? load(path, sums) : undefined
  return {
    sums,
    get throughBlock() {
      return throughBlock
    },
    add(transfers, through) {
      const moved: Sums = new Map()
      addTransfers(moved, transfers)
      const lines = [...moved].map(([holder, sum]) => `${holder} ${sum}\n`)
      appendFileSync(path, `${lines.join('')}${THROUGH} ${through}\n`)
      merge(sums, moved)
      throughBlock = through
    },
  }
}

function merge(into: Sums, moved: ReadonlyMap<string, bigint>): void {
  for (const [holder, sum] of moved) into.set(holder, (into.get(holder) ?? 0n) + sum)
}

/** A range that was only partly written is cut off. */
function load(path: string, sums: Sums): number | undefined {
  const text = readFileSync(path, 'latin1')
  const [whole = ''] = /^[\s\S]*^# \d+\n/m.exec(text) ?? []
  if (whole.length < text.length) truncateSync(path, whole.length)
  let throughBlock: number | undefined
  for (const line of whole.split('\n')) {
    const [holder = '', number = ''] = line.split(' ')
    if (holder === THROUGH) throughBlock = Number(number)
    else if (holder !== '') sums.set(holder, (sums.get(holder) ?? 0n) + BigInt(number))
  }
  return throughBlock
}
