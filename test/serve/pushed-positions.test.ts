/** REST, in a thread of its own, answers from at least what was pushed. */
import { describe, expect, it } from 'vitest'
import type { AppliedUpdate } from '../../services/serve/memory/apply-update.js'
import { createServedChain, type ServedChain } from '../../services/serve/memory/served-chain.js'
import { createPushedPositions, createUntilPushed } from '../../services/serve/pushed-positions.js'

/** The memories of two threads: `apply` moves REST's. */
function createThreads(...chains: string[]) {
  const states = new Map<string, ServedChain>(chains.map((chain) => [chain, createServedChain(chain)]))
  const listeners: ((applied: AppliedUpdate) => void)[] = []
  const ofRest = createPushedPositions()
  const ofPush = createPushedPositions((shared) => ofRest.adopt(shared))
  const memory = {
    chain: (name: string) => states.get(name),
    onApplied: (listener: (applied: AppliedUpdate) => void) => void listeners.push(listener),
    onAdopted: () => {},
  }
  return {
    push: ofPush.note,
    untilPushed: createUntilPushed(memory, ofRest),
    states,
    apply(chain: string, epoch: number, seq: number) {
      Object.assign(states.get(chain) ?? {}, { epoch, seq })
      for (const listener of listeners) listener({} as AppliedUpdate)
    },
  }
}

describe('a request', () => {
  it('does not wait where memory has what was pushed', () => {
    const { push, apply, untilPushed } = createThreads('eth')
    expect(untilPushed()).toBeUndefined()
    apply('eth', 1, 7)
    push('eth', { epoch: 1, seq: 7 })
    expect(untilPushed()).toBeUndefined()
  })

  it('waits until every chain is as far as it was pushed when the request came', async () => {
    const { push, apply, untilPushed } = createThreads('eth', 'bsc')
    apply('eth', 1, 7)
    apply('bsc', 2, 3)
    push('eth', { epoch: 1, seq: 8 })
    push('bsc', { epoch: 3, seq: 1 })
    let hasAnswered = false
    const waiting = untilPushed()?.then(() => {
      hasAnswered = true
    })
    push('eth', { epoch: 1, seq: 100 })
    apply('eth', 1, 8)
    // A later seq of an earlier epoch is not as far.
    apply('bsc', 2, 900)
    await new Promise((next) => setImmediate(next))
    expect(hasAnswered).toBe(false)
    apply('bsc', 3, 1)
    await waiting
    expect(hasAnswered).toBe(true)
  })

  it('does not wait for a chain that stopped, or that it does not have', () => {
    const { push, states, untilPushed } = createThreads('eth')
    push('sol', { epoch: 1, seq: 1 })
    push('eth', { epoch: 1, seq: 1 })
    Object.assign(states.get('eth') ?? {}, { stopped: 'broken' })
    expect(untilPushed()).toBeUndefined()
  })
})
