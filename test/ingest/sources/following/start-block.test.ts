import { expect, test } from 'vitest'
import { DextapeError } from '../../../../services/core/domain/errors.js'
import type { Header } from '../../../../services/ingest/sources/following/chain-nodes.js'
import { startBlock } from '../../../../services/ingest/sources/following/start-block.js'

const { signal } = new AbortController()
const HEAD = 1000
/** The first block the node still has. */
const KEPT = 700

const headerOf = (number: number): Header => ({
  ...{ number, hash: `0x${number}`, parentHash: `0x${number - 1}`, timeS: number * 10 },
})

const pruned = (): never => {
  throw new DextapeError({ code: 'state_pruned', what: 'pruned' })
}

const nodesThat = (forgot: () => null) => ({
  head: async () => headerOf(HEAD),
  headerFrom: async (number: number) => (number < KEPT ? forgot() : headerOf(number)),
})

test.each([
  ['reports it', pruned, 'state_pruned'],
  ['returns no block', () => null, 'block_missing'],
])(
  'a node that pruned old blocks and %s: a date it still has is found, an older one is rejected',
  async (_, forgot, code) => {
    const at = (timeS: number) => startBlock({ kind: 'time', timeS }, 'eth', nodesThat(forgot), signal)
    expect((await at(9005)).number).toBe(901)
    expect((await at(KEPT * 10 + 1)).number).toBe(KEPT + 1)
    await expect(at(50)).rejects.toMatchObject({ code })
  },
)

test.each([[{ kind: 'block', number: HEAD + 1 } as const], [{ kind: 'time', timeS: HEAD * 10 + 1 } as const]])(
  'a start beyond the head is rejected: %o',
  async (start) => {
    await expect(startBlock(start, 'eth', nodesThat(pruned), signal)).rejects.toMatchObject({ code: 'start_ahead' })
  },
)
