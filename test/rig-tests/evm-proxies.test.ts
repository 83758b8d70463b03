/** Proxies in front of a node: limits hold, and faults and lies come at their rate, repeatable from the seed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type HostileNode, startHostileNode } from '../rig/evm/hostile-node.js'
import { startLimiter } from '../rig/evm/limiter.js'
import { playMarket } from '../rig/evm/market.js'
import { type EvmNode, startNode } from '../rig/evm/node.js'
import { openMarket } from '../rig/evm/opening.js'

let node: EvmNode
beforeAll(async () => {
  node = await startNode({ chainId: 8453, genesisTimeS: 1_700_000_000 })
  await playMarket(await openMarket(node), { seed: 3, blocks: 20, reorgChance: 0 })
})
afterAll(() => node?.stop())

async function ask(url: string, body: unknown): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const timeout = AbortSignal.timeout(300)
  try {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: timeout })
    return `${response.status} ${await response.text()}`
  } catch (error) {
    return (error as Error).name
  }
}
const question = (method: string, params: unknown[] = [], id = 1) => ({ jsonrpc: '2.0', id, method, params })
const range = (fromBlock: string, toBlock: string) => question('eth_getLogs', [{ fromBlock, toBlock }])

test('a limiter counts each request of a batch and rejects wide ranges with a provider’s message', async () => {
  const limiter = await startLimiter(node, { requestsPerS: 10, maxBlocks: 10 })
  const six = Array.from({ length: 6 }, (_, id) => question('eth_chainId', [], id))
  expect(await ask(limiter.url, six)).toMatch(/^200 /)
  expect(await ask(limiter.url, six)).toMatch(/^429 .*exceeded/)
  expect(await ask(limiter.url, range('0x1', '0xa'))).toMatch(/^200 .*"result"/)
  expect(await ask(limiter.url, range('0x1', '0xb'))).toContain('this block range should work: [0x1, 0xa]')
  expect([limiter.asked, limiter.refused, limiter.mostPerS]).toEqual([14, 6, 8])
  await limiter.stop()
})

async function hundred(hostile: HostileNode): Promise<string[]> {
  const answers: string[] = []
  for (let at = 0; at < 100; at++)
    answers.push(await ask(hostile.url, range('0x20', `0x${(0x20 + (at % 20)).toString(16)}`)))
  return answers
}

test('a hostile node fails and lies at its rates, and repeats both from the same seed', async () => {
  const honest = await ask(node.url, range('0x20', '0x33'))
  const [first, second] = [
    await startHostileNode(node, { seed: 5, errorChance: 0.2, lieChance: 0.2, silenceMs: 5000 }),
    await startHostileNode(node, { seed: 5, errorChance: 0.2, lieChance: 0.2, silenceMs: 5000 }),
  ]
  const answers = await hundred(first)
  expect(await hundred(second)).toEqual(answers)
  expect(answers).toContain(honest)
  expect(first.requests).toBe(100)
  expect(first.errors).toBeGreaterThan(8)
  expect(first.lies).toBeGreaterThan(5)
  await first.stop()
  await second.stop()
})

test('an event runs once, between two requests', async () => {
  const hostile = await startHostileNode(node, { seed: 1, errorChance: 0, lieChance: 0 })
  hostile.after(3, () => node.mine())
  const heads: string[] = []
  for (let at = 0; at < 5; at++) heads.push(await ask(hostile.url, question('eth_blockNumber')))
  expect(heads.map((head) => head === heads[0])).toEqual([true, true, false, false, false])
  await hostile.stop()
})

test('forwards new heads through its socket', async () => {
  const hostile = await startHostileNode(node, { seed: 2, errorChance: 0, lieChance: 0 })
  const socket = new WebSocket(hostile.wsUrl)
  await new Promise((resolve) => socket.once('open', resolve))
  const heard: string[] = []
  const next = () =>
    new Promise<void>((resolve) => socket.once('message', (data) => resolve(void heard.push(String(data)))))
  socket.send(JSON.stringify(question('eth_subscribe', ['newHeads'])))
  await next()
  const head = next()
  for (let at = 0; at < 5; at++) await node.mine()
  await head
  expect(heard[1]).toContain('"eth_subscription"')
  socket.terminate()
  await hostile.stop()
})
