/** Whether the store answers, told when a statement fails for its absence and when one works again. */
import type { DextapeError } from '../domain/errors.js'
import type { Presence } from '../runtime/part-health.js'
import { awayReason } from './store-faults.js'

type Statement = 'insert' | 'other'

export function createPresence({ onAway, onBack }: Partial<Presence>) {
  const failing = new Set<Statement>()
  return {
    failed(statement: Statement, fault: DextapeError): void {
      failing.add(statement)
      onAway?.(awayReason(fault))
    },
    worked(statement: Statement): void {
      if (failing.size === 0) return
      // A store that takes rows answers queries; one that answers queries may still refuse rows (too many parts, a full disk).
      if (statement === 'insert') failing.clear()
      else failing.delete(statement)
      if (failing.size === 0) onBack?.()
    },
  }
}
