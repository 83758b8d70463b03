import { expect, it } from 'vitest'
import type { Header } from '../../../../services/ingest/sources/following/chain-nodes.js'
import { SeenChain } from '../../../../services/ingest/sources/following/seen-chain.js'

const header = (number: number, hash: string, parentHash: string): Header => ({ number, hash, parentHash, timeS: 0 })
const GROUND = header(5, 'h5', 'h4')
/** Its parent is not the lowest block seen. */
const STRANGE = header(6, 'h6', 'wrong')
const { signal } = new AbortController()

const stepWhere = (atGround: Header | null) =>
  new SeenChain('solana', [GROUND]).stepTo(
    STRANGE,
    { headerByNumber: async () => atGround, headerByHash: async () => null },
    () => false,
    signal,
  )

it('a block with a wrong parent does not stop a chain whose final block the nodes still have', async () => {
  expect(await stepWhere(GROUND)).toEqual({ kind: 'none' })
})

it.each([header(5, 'other', 'h4'), null])(
  'stops a chain whose final block the nodes no longer have',
  async (atGround) => {
    await expect(stepWhere(atGround)).rejects.toMatchObject({ code: 'reorg_below_finality' })
  },
)
