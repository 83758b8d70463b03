/** All holders of a Solana token, asked for while the server runs and the token moves. */
import { afterAll, expect, it } from 'vitest'
import { BUILT_IN_CHAINS } from '../../services/core/config/built-in-chains.js'
import { TOKEN_2022 } from '../../services/ingest/decode/solana/native-programs.js'
import { scopeOf } from '../rig/evm/market-up.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { startUp, type UpPlan } from '../rig/http/up.js'
import { createRandom } from '../rig/market/random.js'
import { SLOT_MS } from '../rig/solana/ledger.js'
import { startRpcServer } from '../rig/solana/rpc-server.js'
import { keyFrom } from '../rig/solana/seeded.js'
import { TokenMarket } from '../rig/solana/token-market.js'

type Holder = { holder: string; amount_cur: number; holders_complete_since: number | null }

afterAll(removeScratchFolders)

it('knows all holders after `scope add --holders`, without a restart', async () => {
  const market = new TokenMarket(1, TOKEN_2022, createRandom(1))
  market.mine(100)
  const { chain, mint } = market
  const node = await startRpcServer(chain.ledger, { accountsAt: chain.accountsAt })
  const plan: UpPlan = {
    ...{ folder: scratchFolder(), chains: BUILT_IN_CHAINS.filter((facts) => facts.chain === 'solana') },
    sections: { solana: { rpc: [node.url], pools: [keyFrom('no pool')] } },
    settings: { intervals: { flush_ms: 100, checkpoint_ms: 200, progress_s: 1 } },
  }
  const moving = setInterval(() => market.mine(1), SLOT_MS)
  const up = await startUp(plan)
  try {
    const added = await scopeOf(plan, up, 'solana')('add', '--holders', mint)
    expect(added).toMatchObject({ code: 0, out: expect.stringContaining(mint) })
    const top = async () => {
      const { body } = await up.get(`/v2/tokens/top100/${mint}-solana`)
      return Array.isArray(body) ? (body as Holder[]) : []
    }
    await expect.poll(async () => (await top())[0]?.holders_complete_since ?? null, { timeout: 90_000 }).not.toBeNull()
    clearInterval(moving)
    const held = [...chain.held(mint)].map(([holder, raw]) => [holder, Number(raw) / 1e6])
    const served = async () => (await top()).map(({ holder, amount_cur }) => [holder, amount_cur]).sort()
    await expect.poll(served, { timeout: 20_000 }).toEqual(held.sort())
    console.log(`${held.length} holders, all as the accounts have them`)
    expect((await up.stop()).code).toBe(0)
  } finally {
    clearInterval(moving)
    await node.stop()
  }
}, 180_000)
