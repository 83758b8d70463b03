/** Alerts about the nodes of a chain, each fired in a real Prometheus by its cause on a real EVM node. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BasePair, openBasePair } from '../rig/evm/base-pair.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { openMarket } from '../rig/evm/opening.js'
import { fault, type RunningProxy, startProxy } from '../rig/evm/proxy.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { type AlertWatch, type Target, watchAlerts } from '../rig/prometheus/server.js'
import { startUp, type UpProcess } from '../rig/up/process.js'

const nowS = () => Math.floor(Date.now() / 1000)

let watch: AlertWatch
let node: EvmNode
let pair: BasePair
let proxy: RunningProxy
let up: UpProcess
let target: Target
/** Requests that the proxy answers with an error. */
let isRefused: (method: string) => boolean = () => false

beforeAll(async () => {
  watch = await watchAlerts()
  node = await startNode({ chainId: 8453, genesisTimeS: nowS() - 600 })
  pair = await openBasePair(await openMarket(node))
  proxy = await startProxy(node, {
    async pass({ requests, batch }, upstream) {
      const answers = await upstream(requests)
      const given = answers.map((answer, at) => {
        const { id, method } = requests[at] ?? { id: 0, method: '' }
        return isRefused(method) ? fault(id, -32_000, 'internal error') : answer
      })
      return { kind: 'answer', body: batch ? given : given[0] }
    },
  })
  up = startUp({
    ...{ dataDir: join(scratchFolder(), 'data'), env: { DEXTAPE_API_KEY: 'dx_alerts_of_tests' } },
    config: { chains: { base: { finality: 5 } } },
    args: ['--chain', 'base', '--rpc', proxy.url, '--pool', pair.address],
  })
  target = { url: (await up.serving).rest }
  await watch.scrape(target)
  await tradeAndWait(500)
}, 300_000)
afterAll(async () => {
  await up?.kill()
  await proxy?.stop()
  await node?.stop()
  await watch?.stop()
  removeScratchFolders()
})

async function tradeAndWait(usd: number): Promise<void> {
  await pair.trade(usd, nowS())
  const head = Number(await node.rpc<string>('eth_blockNumber', []))
  await up.until(`block ${head}`, async () => ((await up.status()).get('base')?.head ?? 0) >= head)
}

async function mine(blocks: number): Promise<void> {
  const { timestamp } = await node.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])
  for (let at = 1; at <= blocks; at += 1) await node.mine(Number(timestamp) + at)
}

it('DextapeSourceStalled: the chain has no new block', async () => {
  await watch.fires('DextapeSourceStalled', target)
})

it('DextapeIngestBehind: the node gives its head, but no logs', async () => {
  await watch.fires('DextapeIngestBehind', undefined, async () => {
    isRefused = (method) => method === 'eth_getLogs' || method === 'eth_getBlockReceipts'
    await mine(60)
  })
  isRefused = () => false
  await tradeAndWait(-300)
})

it('DextapeNoHealthyNode and DextapeNodeUnhealthy: the only node refuses every request', async () => {
  await watch.fires('DextapeNoHealthyNode', undefined, () => {
    isRefused = () => true
  })
  await watch.fires('DextapeNodeUnhealthy', target)
  isRefused = () => false
  await tradeAndWait(400)
})

it('DextapeSourceFailed: the node gives another history below finality', async () => {
  const snapshot = await node.snapshot()
  // Only blocks with events are published: of those the first one is final, once the second one is there.
  await tradeAndWait(200)
  await mine(20)
  await tradeAndWait(250)
  await watch.fires('DextapeSourceFailed', target, async () => {
    await node.revert(snapshot)
    await pair.trade(-900, nowS() + 100)
    await mine(40)
  })
  expect((await up.status()).get('base')?.stopped).toMatch(/Reorg below finality/)
})
