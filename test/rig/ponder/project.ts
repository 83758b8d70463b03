/** A Ponder (ponder.sh) project that stores every swap of some pools with its wallet: configuration, table and handlers. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fetched, type Part } from '../evm/fetched.js'
import { isV2, type V2Pool, type V3Pool } from '../evm/world.js'

export type IndexedChain = { chainId: number; rpcUrl: string; pools: readonly (V2Pool | V3Pool)[] }

/** The newest version that runs on Node 20, with its peer dependencies. */
const PONDER: Part = {
  package: 'ponder',
  version: '0.16.10',
  beside: ['viem@2.30.0', 'hono@4.13.17', 'typescript@5.9.3'],
  as: 'whole',
  why: 'it is the indexer that reading a history is compared with (190 MB, once)',
}

const V2_SWAP =
  'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)'
const V3_SWAP =
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)'
const PANCAKE_V3_SWAP = V3_SWAP.replace(')', ', uint128 protocolFeesToken0, uint128 protocolFeesToken1)')

const SCHEMA = `
import { onchainTable } from 'ponder'
export const swap = onchainTable('swap', (t) => ({
  id: t.text().primaryKey(),
  pool: t.hex().notNull(),
  wallet: t.hex().notNull(),
  time: t.bigint().notNull(),
  amount0: t.bigint().notNull(),
  amount1: t.bigint().notNull(),
}))
`

const HANDLERS = `
import { ponder } from 'ponder:registry'
import { swap } from 'ponder:schema'
const keep = ({ db }, { id, log, transaction, block }, amount0, amount1) =>
  db.insert(swap).values({ id, pool: log.address, wallet: transaction.from, time: block.timestamp, amount0, amount1 })
ponder.on('V2:Swap', async ({ event, context }) => {
  const { amount0In, amount0Out, amount1In, amount1Out } = event.args
  await keep(context, event, amount0In - amount0Out, amount1In - amount1Out)
})
for (const name of ['V3:Swap', 'PancakeV3:Swap'])
  ponder.on(name, async ({ event, context }) => {
    await keep(context, event, event.args.amount0, event.args.amount1)
  })
`

const API = `
import { Hono } from 'hono'
import { graphql } from 'ponder'
import { db } from 'ponder:api'
import schema from 'ponder:schema'
const app = new Hono()
app.use('/graphql', graphql({ db, schema }))
export default app
`

/** @returns the path of the program that runs it. */
export async function writePonderProject(folder: string, chain: IndexedChain): Promise<string> {
  const installed = await fetched(PONDER)
  symlinkSync(dirname(installed), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'src/api'), { recursive: true })
  const files: Record<string, string> = {
    'package.json': '{"private":true,"type":"module"}',
    'ponder.config.ts': configOf(chain),
    'ponder.schema.ts': SCHEMA,
    'src/index.ts': HANDLERS,
    'src/api/index.ts': API,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return join(installed, 'dist/esm/bin/ponder.js')
}

function configOf({ chainId, rpcUrl, pools }: IndexedChain): string {
  const contract = (event: string, chosen: readonly { address: string }[]) =>
    `{ abi: parseAbi(['${event}']), chain: 'local', address: ${JSON.stringify(chosen.map(({ address }) => address))}, startBlock: 1 }`
  return `
import { createConfig } from 'ponder'
import { parseAbi } from 'viem'
export default createConfig({
  chains: { local: { id: ${chainId}, rpc: '${rpcUrl}', maxRequestsPerSecond: 100000 } },
  contracts: {
    V2: ${contract(V2_SWAP, pools.filter(isV2))},
    V3: ${contract(
      V3_SWAP,
      pools.filter(({ kind }) => kind === 'v3'),
    )},
    PancakeV3: ${contract(
      PANCAKE_V3_SWAP,
      pools.filter(({ kind }) => kind === 'pancakeV3'),
    )},
  },
})
`
}
