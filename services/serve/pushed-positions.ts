/**
 * How far each chain has been pushed, in memory that threads share. REST answers only from at least there: whoever got a push and
 * asks for more must not be told less.
 */

import type { Memory } from './memory/memory.js'
import { serviceUnavailable } from './rest/problem.js'

type Position = { epoch: number; seq: number }

/** A chain's position as one number, which another thread reads whole. */
export type PositionCell = { chain: string; cell: SharedArrayBuffer }

export interface PushedPositions {
  /** Before the pushes of an update are sent. */
  note(chain: string, position: Position): void
  /** Adds a cell that another thread writes. */
  adopt(shared: PositionCell): void
  cells(): Iterable<[chain: string, version: bigint]>
}

/** `onCell`: called with the cell of each new chain, for the other threads. */
export function createPushedPositions(onCell: (shared: PositionCell) => void = () => {}): PushedPositions {
  const cells = new Map<string, BigInt64Array>()
  return {
    note(chain, position) {
      let cell = cells.get(chain)
      if (cell === undefined) {
        const shared = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)
        cell = new BigInt64Array(shared)
        cells.set(chain, cell)
        onCell({ chain, cell: shared })
      }
      Atomics.store(cell, 0, versionOf(position))
    },
    adopt: ({ chain, cell }) => void cells.set(chain, new BigInt64Array(cell)),
    *cells() {
      for (const [chain, cell] of cells) yield [chain, Atomics.load(cell, 0)]
    },
  }
}

/** Epochs are small, and an epoch has fewer updates than this. */
const SEQS = 2n ** 40n
const versionOf = ({ epoch, seq }: Position): bigint => BigInt(epoch) * SEQS + BigInt(Math.max(0, seq))

const MAX_WAIT_MS = 5_000

/** Undefined: memory has everything that was pushed; otherwise resolves once it has. */
export type UntilPushed = () => Promise<void> | undefined

export function createUntilPushed(
  memory: Pick<Memory, 'chain' | 'onApplied' | 'onAdopted'>,
  positions: Pick<PushedPositions, 'cells'>,
): UntilPushed {
  const waiting = new Set<() => void>()
  const lookAgain = () => {
    for (const look of waiting) look()
  }
  memory.onApplied(lookAgain)
  memory.onAdopted(lookAgain)

  function isBehind(chain: string, pushed: bigint): boolean {
    const state = memory.chain(chain)
    return state !== undefined && state.stopped === null && versionOf(state) < pushed
  }

  return () => {
    const behind = [...positions.cells()].filter(([chain, pushed]) => isBehind(chain, pushed))
    if (behind.length === 0) return undefined
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(look)
        reject(serviceUnavailable('behind', 'This node is catching up with its own pushes.'))
      }, MAX_WAIT_MS)
      function look(): void {
        if (behind.some(([chain, pushed]) => isBehind(chain, pushed))) return
        clearTimeout(timer)
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
    })
  }
}
