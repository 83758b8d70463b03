/** The creator of a token on a real local chain, alone and by the source, also after a reorg. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MetaEvent } from '../../../../services/core/domain/records.js'
import { silentLogger } from '../../../../services/core/runtime/logger.js'
import { findCreator } from '../../../../services/ingest/sources/evm/find-creator.js'
import { createChainReader, type RpcChainReader } from '../../../../services/ingest/sources/evm/rpc/evm-reader.js'
import { TOKENS_FILE } from '../../../rig/evm/risk/compile.js'
import { openRiskChain, openRiskPlace, type RiskChain } from '../../../rig/evm/risk/risk-chain.js'
import { receiptOf, send, view } from '../../../rig/evm/transactions.js'
import { acceptedBlocks } from '../../../rig/reference/lines.js'

const CODE = JSON.parse(readFileSync(TOKENS_FILE, 'utf8')) as Record<string, string>
const SEARCHED = 64

let chain: RiskChain
let reader: RpcChainReader
const { signal } = new AbortController()
beforeAll(async () => {
  chain = await openRiskChain()
  reader = createChainReader({ chain: 'base', chainId: 8453, urls: [chain.node.url], logger: silentLogger })
  await reader.start(signal)
}, 60_000)
afterAll(async () => {
  await reader?.close()
  await chain?.stop()
})

/** In a block with a transaction of somebody else before it. */
async function deployBy(from: string, code: string): Promise<string> {
  const { node, weth, owner } = chain
  await send(node, { from: owner, ...view(weth, 'approve(address,uint256)', from, 1) })
  const hash = await send(node, { from, data: code, gas: 10_000_000 })
  await node.mine()
  return (await receiptOf(node, hash)).contractAddress?.toLowerCase() ?? ''
}

async function mineBlocks(count: number): Promise<void> {
  for (let mined = 0; mined < count; mined += 1) await chain.node.mine()
}

test.each([0, 1, 2, 7, 30, 60])('is found %i blocks later', async (later) => {
  const creator = chain.node.accounts[3] ?? ''
  const token = await deployBy(creator, CODE.Plain ?? '')
  await mineBlocks(later)
  expect(await findCreator(token, await reader.head(signal), reader, SEARCHED, signal)).toBe(creator.toLowerCase())
})

test('is unknown further back than is searched, and of a contract whose constructor reports nothing', async () => {
  const creator = chain.node.accounts[3] ?? ''
  const old = await deployBy(creator, CODE.Plain ?? '')
  const silent = await deployBy(creator, CODE.UncxLocker ?? '')
  expect(await findCreator(silent, await reader.head(signal), reader, SEARCHED, signal)).toBeNull()
  await mineBlocks(SEARCHED + 1)
  const head = await reader.head(signal)
  expect(await findCreator(old, head, reader, SEARCHED, signal)).toBeNull()
  expect(await findCreator(old, head, reader, 2 * SEARCHED, signal)).toBe(creator.toLowerCase())
})

test('is published by the source, and what a reorg undid is found again', async () => {
  const { node, owner } = chain
  const anchor = await chain.token('Plain')
  const place = openRiskPlace(chain, anchor, { checksPerMinute: 1000, recheckS: 1, history: true, lockers: [] })
  const run = await place.start({})
  const risks = async (token: string): Promise<Record<string, unknown>[]> => {
    const { hash } = await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])
    expect(await place.reached(hash, 30_000)).toBe(true)
    const own = acceptedBlocks(await place.lines()).flatMap(({ events }) =>
      events.filter(isMeta).filter((meta) => meta.token === token),
    )
    return own.map(({ risk }) => JSON.parse(risk ?? '{}'))
  }
  const snapshot = await node.snapshot()
  const token = await chain.token('PlainOwned')
  const pool = await chain.pair(token)
  expect((await risks(token)).at(-1)).toMatchObject({ creator_address: owner, is_lp_not_locked: 1 })
  await chain.send({ from: owner, ...view(pool.pool, 'transfer(address,uint256)', DEAD, 10n ** 17n) })
  await chain.send({ from: owner, ...view(token, 'renounceOwnership()') })
  expect((await risks(token)).at(-1)).toMatchObject({ has_not_renounced: 0 })

  await node.revert(snapshot)
  // The same deployer's next contract has the address of the one that is gone.
  const other = await chain.token('Honeypot')
  expect(other).toBe(token)
  await mineBlocks(10)
  await chain.pair(other)
  const after = await risks(other)
  expect(after.at(-1)).toMatchObject({ is_honeypot: 1, creator_address: owner })
  expect(after.some((risk) => risk.has_not_renounced === 0)).toBe(false)
  await run.stop()
}, 90_000)

const DEAD = '0x000000000000000000000000000000000000dead'
const isMeta = (event: { type: string }): event is MetaEvent => event.type === 'meta'
