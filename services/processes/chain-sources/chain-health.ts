/** Several chains' sources as the one part `source` of a process: away while any is, and back when all are. */
import type { Health } from '../../core/runtime/health.js'

export function createChainHealth(health: Health): (chain: string) => Health {
  const away = new Map<string, string>()
  const told = () => [...away].map(([chain, reason]) => `${chain}: ${reason}`).join('; ')
  return (chain) => ({
    ...health,
    away(part, reason) {
      if (part !== 'source') return health.away(part, reason)
      away.set(chain, reason)
      health.away(part, told())
    },
    ok(part) {
      if (part !== 'source') return health.ok(part)
      if (!away.delete(chain)) return
      if (away.size === 0) health.ok(part)
      else health.away(part, told())
    },
  })
}
