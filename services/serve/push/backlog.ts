import type { SocketBudget } from './budgets.js'

/** What a slow socket gets once it has drained: the last push of each merge key. */
export type Backlog = { pushes: Map<string, string>; merged: number; bytes: number; budget: BacklogBudget }

export type BacklogBudget = Pick<SocketBudget, 'takeMemory' | 'releaseMemory'>

/** Merge keys kept for a slow socket; above this the oldest is dropped and counted as merged. */
const MAX_BACKLOG_KEYS = 2000
/** For the entry of the map. */
const ENTRY_BYTES = 100

export function openBacklog(budget: BacklogBudget): Backlog {
  return { pushes: new Map(), merged: 0, bytes: 0, budget }
}

export function releaseBacklog(backlog: Backlog | undefined): void {
  if (backlog !== undefined) backlog.budget.releaseMemory(backlog.bytes)
}

/** Returns how many pushes were merged or dropped: the oldest ones where the key's memory is used up. */
export function mergePush(backlog: Backlog, mergeKey: string, text: string): number {
  const { pushes, budget } = backlog
  const before = backlog.merged
  if (pushes.has(mergeKey)) drop(backlog, mergeKey)
  const bytes = sizeOf(mergeKey, text)
  for (const oldest of pushes.keys()) {
    if (pushes.size < MAX_BACKLOG_KEYS && budget.takeMemory(bytes)) return keep(backlog, mergeKey, text, before)
    drop(backlog, oldest)
  }
  if (budget.takeMemory(bytes)) return keep(backlog, mergeKey, text, before)
  backlog.merged += 1
  return backlog.merged - before
}

function keep(backlog: Backlog, mergeKey: string, text: string, mergedBefore: number): number {
  backlog.pushes.set(mergeKey, text)
  backlog.bytes += sizeOf(mergeKey, text)
  return backlog.merged - mergedBefore
}

function drop(backlog: Backlog, mergeKey: string): void {
  const bytes = sizeOf(mergeKey, backlog.pushes.get(mergeKey) ?? '')
  backlog.pushes.delete(mergeKey)
  backlog.bytes -= bytes
  backlog.budget.releaseMemory(bytes)
  backlog.merged += 1
}

function sizeOf(mergeKey: string, text: string): number {
  return mergeKey.length + text.length + ENTRY_BYTES
}
