/** All holders of a token, asked for while the server runs on a real chain that trades. */
import { expect, it } from 'vitest'
import { TRANSFER } from '../../services/ingest/decode/evm/erc20.js'
import { word } from '../rig/evm/abi.js'
import { playMarket } from '../rig/evm/market.js'
import { chainForTests, headOf, planOf, scopedPools, scopeOf } from '../rig/evm/market-up.js'
import { openMarket } from '../rig/evm/opening.js'
import { lookAt } from '../rig/evm/transactions.js'
import { startUp } from '../rig/http/up.js'

const chain = chainForTests()

type Holder = { holder: string; amount_cur: number; holders_complete_since: number | null }

/** Everybody with a balance, by the contract itself. */
async function heldOnChain(token: string, decimals: number): Promise<Map<string, number>> {
  const filter = { fromBlock: '0x0', toBlock: 'latest', address: token, topics: [TRANSFER] }
  const logs = await chain().rpc<{ topics: string[] }[]>('eth_getLogs', [filter])
  const everybody = new Set(logs.flatMap(({ topics }) => topics.slice(1, 3).map((topic) => `0x${topic.slice(26)}`)))
  const held = new Map<string, number>()
  for (const holder of everybody) {
    const balance = word(await lookAt(chain(), token, 'balanceOf(address)', holder))
    if (balance > 0n) held.set(holder, Number(balance) / 10 ** decimals)
  }
  return held
}

it('knows all holders after `scope add --holders`, without a restart', async () => {
  const market = await openMarket(chain())
  const [scoped] = scopedPools(market)
  if (scoped === undefined) throw new Error('the market has no such pool')
  const { pool, token } = scoped
  await playMarket(market, { seed: 1, blocks: 30 })
  const plan = planOf(market, { start: await headOf(chain()), pools: [pool], finality: 8 })
  const up = await startUp(plan)
  const added = await scopeOf(plan, up)('add', '--holders', token.address)
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining(token.address) })
  const top = async () => (await up.get(`/v2/tokens/top100/${token.address}-base`)).body as Holder[]
  const playOn = async () => {
    await playMarket(market, { seed: 2, blocks: 10 })
    return (await top())[0]?.holders_complete_since ?? null
  }
  await expect.poll(playOn, { timeout: 60_000 }).not.toBeNull()

  await playMarket(market, { seed: 3, blocks: 20 })
  const held = await heldOnChain(token.address, token.decimals ?? 0)
  const served = async () => new Map((await top()).map(({ holder, amount_cur }) => [holder, amount_cur]))
  await expect.poll(async () => [...(await served())].sort(), { timeout: 20_000 }).toEqual([...held].sort())
  console.log(`${held.size} holders, all as the contract has them`)
  expect((await up.stop()).code).toBe(0)
})
