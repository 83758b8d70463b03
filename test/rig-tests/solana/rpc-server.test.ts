/** Nodes of the simulated chain answer like real ones. */
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { RpcAnswer } from '../../rig/json-rpc/server.js'
import { hostileGate } from '../../rig/solana/hostile.js'
import { createLedger } from '../../rig/solana/ledger.js'
import { MAINNET_GENESIS } from '../../rig/solana/rpc-methods.js'
import { type RpcServer, type RpcServerOptions, startRpcServer } from '../../rig/solana/rpc-server.js'

const running: RpcServer[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

async function opened(options: RpcServerOptions = {}) {
  const ledger = createLedger({ seed: 7, skipChance: 0.3 })
  ledger.advance({ blocks: 80 })
  const server = await startRpcServer(ledger, options)
  running.push(server)
  const ask = async (method: string, ...params: unknown[]): Promise<RpcAnswer> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(server.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return (await response.json()) as RpcAnswer
  }
  return { ledger, server, ask }
}

const CONFIRMED = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }

describe('a node', () => {
  it('returns its head by commitment, its blocks and their links', async () => {
    const { ledger, ask } = await opened()
    const { tip, finalizedSlot, blocks } = ledger
    expect((await ask('getGenesisHash')).result).toBe(MAINNET_GENESIS)
    expect((await ask('getSlot')).result).toBe(finalizedSlot)
    expect((await ask('getSlot', { commitment: 'confirmed' })).result).toBe(tip.slot)
    const slots = blocks.map(({ slot }) => slot)
    expect((await ask('getBlocks', slots[3], slots[30], CONFIRMED)).result).toEqual(slots.slice(3, 31))
    expect((await ask('getBlocksWithLimit', (slots[3] ?? 0) + 1, 2, CONFIRMED)).result).toEqual(slots.slice(4, 6))
    const { transactions, ...header } = (await ask('getBlock', tip.slot, { ...CONFIRMED, rewards: false }))
      .result as Record<string, unknown>
    expect(header).toEqual({
      ...{ blockhash: tip.blockhash, previousBlockhash: tip.previousBlockhash, parentSlot: tip.parentSlot },
      ...{ blockHeight: tip.blockHeight, blockTime: tip.blockTimeS },
    })
    expect(transactions).toEqual(JSON.parse(JSON.stringify(tip.transactions)))
    const bare = (await ask('getBlock', tip.slot, { ...CONFIRMED, rewards: false, transactionDetails: 'none' })).result
    expect(bare).toEqual(header)
    expect((await ask('getBlockTime', tip.slot)).result).toBe(tip.blockTimeS)
  })

  it('gives the reason if it has no block', async () => {
    const { ledger, ask } = await opened({ firstSlot: 300_000_005 })
    const { tip, finalizedSlot } = ledger
    const codeOf = async (slot: number, config: object = CONFIRMED) => (await ask('getBlock', slot, config)).error?.code
    const missing = (from: number) => {
      for (let slot = from; ; slot += 1) if (ledger.blockAt(slot) === undefined) return slot
    }
    expect(await codeOf(300_000_001)).toBe(-32001)
    expect(await codeOf(missing(300_000_006))).toBe(-32007)
    expect(await codeOf(missing(finalizedSlot + 1))).toBe(-32004)
    expect(await codeOf(tip.slot + 1)).toBe(-32004)
    expect(await codeOf(tip.slot, { maxSupportedTransactionVersion: 0 })).toBe(-32004)
    expect((await ask('getBlocks', 0, 600_000_000, CONFIRMED)).error?.code).toBe(-32602)
    expect((await ask('eth_blockNumber')).error).toEqual({ code: -32601, message: 'Method not found' })
    const versioned = ledger.blocks.find(
      ({ slot, transactions }) => slot > 300_000_005 && transactions.some(({ version }) => version === 0),
    )
    expect(await codeOf(versioned?.slot ?? 0, { commitment: 'confirmed' })).toBe(
      versioned === undefined ? -32001 : -32015,
    )
  })

  it('long-term storage has a different error for a skipped slot; a lagging node does not know the newest', async () => {
    const { ledger, ask } = await opened({ hasLongTermStorage: true, behindSlots: () => 4 })
    let skipped = 300_000_001
    while (ledger.blockAt(skipped) !== undefined) skipped += 1
    expect((await ask('getBlock', skipped, CONFIRMED)).error?.code).toBe(-32009)
    expect((await ask('getSlot', CONFIRMED)).result).toBeLessThanOrEqual(ledger.tip.slot - 4)
    expect((await ask('getBlock', ledger.tip.slot, CONFIRMED)).error?.code).toBe(-32004)
  })

  it('has the mints of the transactions, and no other account', async () => {
    const { ask } = await opened()
    const { result } = await ask('getMultipleAccounts', [
      'So11111111111111111111111111111111111111112',
      MAINNET_GENESIS,
    ])
    const [sol, none] = (result as { value: { data: [string, string]; owner: string }[] }).value
    const bytes = Buffer.from(sol?.data[0] ?? '', 'base64')
    expect([bytes.length, bytes[44], bytes[45], none]).toEqual([82, 9, 1, null])
  })

  it('sends blocks and slots over a socket, or reports that it does not', async () => {
    const { ledger, server } = await opened({ hasBlocks: true, hasSlots: false })
    const client = new WebSocket(server.wsUrl)
    const heard: Record<string, unknown>[] = []
    const next = () => new Promise<void>((resolve) => client.once('message', () => resolve()))
    client.on('message', (data) => heard.push(JSON.parse(String(data))))
    await new Promise((resolve) => client.once('open', resolve))
    client.send(JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'slotSubscribe' }))
    await next()
    client.send(JSON.stringify({ jsonrpc: '2.0', id: 6, method: 'blockSubscribe', params: ['all', CONFIRMED] }))
    await next()
    const [added] = ledger.advance({ blocks: 1 })
    await next()
    client.terminate()
    expect(heard.slice(0, 2)).toEqual([
      { jsonrpc: '2.0', id: 5, error: { code: -32601, message: 'Method not found' } },
      { jsonrpc: '2.0', id: 6, result: 1 },
    ])
    expect(heard[2]).toMatchObject({
      method: 'blockNotification',
      params: {
        subscription: 1,
        result: { value: { slot: added?.slot, err: null, block: { blockhash: added?.blockhash } } },
      },
    })
  })
})

it('a hostile node fails and lies by its seed, and eventually reports every block', async () => {
  const ledger = createLedger({ seed: 8 })
  ledger.advance({ blocks: 40 })
  const heard = async () => {
    const gate = hostileGate(ledger, { seed: 5, silenceMs: 10, errorChance: 0.2, lieChance: 0.2 })
    const server = await startRpcServer(ledger, { gate })
    const texts: string[] = []
    try {
      for (const { slot, blockhash } of ledger.blocks)
        for (let time = 0; ; time += 1) {
          const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getBlock', params: [slot, CONFIRMED] })
          const text = await fetch(server.url, { method: 'POST', body })
            .then((response) => response.text())
            .catch(() => 'none')
          texts.push(text)
          if (text.includes(`"blockhash":"${blockhash}"`)) break
          expect(time).toBeLessThan(50)
        }
    } finally {
      await server.stop()
    }
    return { texts, counts: gate.counts }
  }
  const [first, second] = [await heard(), await heard()]
  expect(second).toEqual(first)
  const { errors, lies, late } = first.counts
  expect({ errors: errors > 3, lies: lies > 3, late: late > 1 }).toEqual({ errors: true, lies: true, late: true })
})
