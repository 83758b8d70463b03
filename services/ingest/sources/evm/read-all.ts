/** Runs many readings concurrently: in each round, all their calls at one block are sent together. */

import type { DextapeError } from '../../../core/domain/errors.js'
import type { Call, Reading } from '../../decode/evm/protocol.js'
import { isPruned } from '../nodes/node-fault.js'
import type { ChainReader, Header } from './chain-reader.js'

/** `at`: as of that block's end. */
export type ReadingAt<T> = { at: Header; reading: Reading<T> }

type Running = { at: Header; reading: Reading<unknown>; calls: readonly Call[]; index: number }

export async function readAll<T>(
  tasks: readonly ReadingAt<T>[],
  reader: Pick<ChainReader, 'call'>,
  signal: AbortSignal,
  /** Called when the nodes have pruned a state; its answers are then null. Without it, pruned state is an error. */
  onPruned?: (error: DextapeError) => void,
): Promise<T[]> {
  const results = new Array<T>(tasks.length)
  let running: Running[] = []
  const step = (task: Omit<Running, 'calls'>, answers: readonly (string | null)[]) => {
    const { done, value } = task.reading.next(answers)
    if (done === true) results[task.index] = value as T
    else running.push({ ...task, calls: value })
  }
  tasks.forEach(({ at, reading }, index) => {
    step({ at, reading, index }, [])
  })
  while (running.length > 0) {
    const round = running
    running = []
    const answered = await Promise.all(
      [...byBlock(round)].map(async (group) => ({
        group,
        answers: await answersOf(group),
      })),
    )
    for (const { group, answers } of answered) {
      let from = 0
      for (const task of group) {
        step(task, answers.slice(from, from + task.calls.length))
        from += task.calls.length
      }
    }
  }
  return results

  /** Where the block's state is pruned, answers are null: unknown, never guessed. */
  async function answersOf(group: readonly Running[]): Promise<(string | null)[]> {
    const calls = group.flatMap((task) => task.calls)
    const [first] = group
    if (first === undefined || calls.length === 0) return []
    try {
      return await reader.call(calls, first.at, signal)
    } catch (error) {
      if (onPruned === undefined || !isPruned(error)) throw error
      onPruned(error)
      return calls.map(() => null)
    }
  }
}

function byBlock(round: readonly Running[]): Iterable<Running[]> {
  const groups = new Map<string, Running[]>()
  for (const task of round) {
    const group = groups.get(task.at.hash)
    if (group === undefined) groups.set(task.at.hash, [task])
    else group.push(task)
  }
  return groups.values()
}
