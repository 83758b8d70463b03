/** Several chains' sources as the one part `source` of a process: away while any is, and back when all are. */
import type { Health } from '../../core/runtime/part-health.js'

export function createChainHealth(health: Health): (chain: string) => Health {
  const away = new Map<string, string>()
  const told = () => [...away].map(([chain, reason]) => `${chain}: ${reason}`).join('; ')
  return (chain) => ({
    ...health,
    markUnreachable(part, reason) {
      if (part !== 'source') return health.markUnreachable(part, reason)
      away.set(chain, reason)
      health.markUnreachable(part, told())
    },
    markReachable(part) {
      if (part !== 'source') return health.markReachable(part)
      if (!away.delete(chain)) return
      if (away.size === 0) health.markReachable(part)
      else health.markUnreachable(part, told())
    },
  })
}
