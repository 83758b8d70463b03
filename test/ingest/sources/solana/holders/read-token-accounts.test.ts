/** The supply that a list of accounts is compared with is that of the list's slot, or unknown. */
import { expect, test } from 'vitest'
import { TOKEN, TOKEN_2022 } from '../../../../../services/ingest/decode/solana/native-programs.js'
import {
  readTokenAccounts,
  type TokenNodes,
} from '../../../../../services/ingest/sources/solana/holders/read-token-accounts.js'
import { createRandom } from '../../../../rig/market/random.js'
import { TokenMarket } from '../../../../rig/solana/token-market.js'

const { signal } = new AbortController()

/** Nodes at which each question is answered as of the next of these slots. */
function nodesAt({ chain, mint }: TokenMarket, slots: number[]): TokenNodes {
  const next = () => chain.accountsAt(slots[0] ?? 0)
  const at = <T>(value: T) => ({ slot: slots.shift() ?? 0, value })
  return {
    account: async (address) => at(next().get(address) ?? null),
    tokenAccounts: async ({ programId }) =>
      at(
        [...next()]
          .filter(([address, { owner }]) => owner === programId && address !== mint)
          .map(([address, account]) => ({ address, ...account })),
      ),
  }
}

/** Blocks in each of which the supply grows. */
function growing(program: string): { market: TokenMarket; slots: number[] } {
  const market = new TokenMarket(11, program, createRandom(11))
  market.mine(20)
  const slots = Array.from({ length: 16 }, () => {
    market.mintMore(1n)
    market.mine(1)
    return market.chain.ledger.tip.slot
  })
  return { market, slots }
}

test.each([TOKEN, TOKEN_2022])('of %s: all accounts add up to the supply at their slot', async (program) => {
  const {
    market,
    slots: [one = 0, two = 0, three = 0],
  } = growing(program)
  const read = (...slots: number[]) =>
    readTokenAccounts({ chain: 'solana', token: market.mint }, nodesAt(market, slots), 0, signal)
  for (const [slots, slot] of [
    [[one, two, two], two],
    [[one, one, two], one],
    [[one, two, three, two, two, three], two],
  ] as const) {
    const list = await read(...slots)
    expect(list.slot).toBe(slot)
    expect(list.supplyRaw).toBe(list.heldRaw)
    const held = [...list.owners].map(([owner, accounts]) => [
      owner,
      [...accounts.values()].reduce((sum, raw) => sum + raw, 0n),
    ])
    expect(held.length).toBeGreaterThan(5)
    const block = market.chain.ledger.blockAt(slot)
    expect(held.sort()).toEqual([...(market.heldAt.get(block?.blockhash ?? '') ?? [])].sort())
  }
})

test('a supply that is another one at each question is unknown, after some attempts', async () => {
  const { market, slots } = growing(TOKEN)
  const list = await readTokenAccounts({ chain: 'solana', token: market.mint }, nodesAt(market, [...slots]), 0, signal)
  expect(list.supplyRaw).toBeNull()
  expect(list.slot).toBe(slots[13])
})
