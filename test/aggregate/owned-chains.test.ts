import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { createOwnedChains } from '../../services/aggregate/owned-chains.js'
import { DextapeError } from '../../services/core/domain/errors.js'
import { silentLogger } from '../../services/core/runtime/logger.js'

function rig(onRun: (chain: string, run: number) => Promise<void> = async () => {}) {
  const events: string[] = []
  const failed: string[] = []
  const counts = new Map<string, number>()
  const stop = new AbortController()
  const aggregate = {
    async runChain(chain: string, signal: AbortSignal) {
      const run = (counts.get(chain) ?? 0) + 1
      counts.set(chain, run)
      events.push(`start ${chain}`)
      await onRun(chain, run)
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      await delay(5)
      events.push(`end ${chain}`)
    },
  }
  const onFailure = (chain: string) => failed.push(chain)
  const owned = createOwnedChains({ aggregate, logger: silentLogger, onFailure, retryMs: 5 }, stop.signal)
  return { owned, events, failed, counts, stop }
}

describe('the chains of a process', () => {
  it('start when given, end when taken, and start again only once they have ended', async () => {
    const { owned, events, stop } = rig()
    owned.assign(['a', 'b'])
    await delay(1)
    owned.assign(['b'])
    owned.assign(['a', 'b'])
    await vi.waitFor(() => expect(events).toEqual(['start a', 'start b', 'end a', 'start a']))
    stop.abort()
    await owned.ended()
    expect(events.slice(4).sort()).toEqual(['end a', 'end b'])
    owned.assign(['c'])
    await delay(1)
    expect(events).toHaveLength(6)
  })

  it.each([
    ['fenced', new DextapeError({ code: 'fenced', what: 'x' })],
    ['a passing fault', new DextapeError({ code: 'log_away', what: 'x', retry: true })],
  ])('is tried again after %s', async (_, error) => {
    const { owned, counts, failed, stop } = rig(async (_chain, run) => {
      if (run < 3) throw error
    })
    owned.assign(['a'])
    await vi.waitFor(() => expect(counts.get('a')).toBe(3))
    expect(failed).toEqual([])
    stop.abort()
    await owned.ended()
  })

  it('reports what a retry cannot fix, and keeps the other chains', async () => {
    const { owned, events, failed, counts, stop } = rig(async (chain) => {
      if (chain === 'a') throw new Error('broken')
    })
    owned.assign(['a', 'b'])
    await vi.waitFor(() => expect(failed).toEqual(['a']))
    await delay(20)
    expect([counts.get('a'), events]).toEqual([1, ['start a', 'start b']])
    stop.abort()
    await owned.ended()
  })
})
