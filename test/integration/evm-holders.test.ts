/** All holders of a token that is older than what was read, on a real chain, through the source and the fold. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Logger } from '../../services/core/runtime/logger.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { seedsOf } from '../rig/counts.js'
import { keccak, word } from '../rig/evm/abi.js'
import { fault, type RpcAnswer, type RpcRequest, startProxy } from '../rig/evm/proxy.js'
import { openRiskChain, openRiskPlace, type RiskChain, type RiskRunOptions } from '../rig/evm/risk/risk-chain.js'
import { lookAt, view } from '../rig/evm/transactions.js'
import { createRandom, type Random } from '../rig/market/random.js'

const DEAD = '0x000000000000000000000000000000000000dead'
const ZERO = `0x${'0'.repeat(40)}`
const ETHER = 10n ** 18n
const CHECKS = { checksPerMinute: 10_000, recheckS: 1_000_000, history: true }

let chain: RiskChain
beforeEach(async () => {
  chain = await openRiskChain()
}, 60_000)
afterEach(() => chain?.stop())

/** Addresses that only receive, and people who also send. */
const strangers = Array.from({ length: 30 }, (_, n) => `0x${(0xabc000 + n).toString(16).padStart(40, '0')}`)
const everybody = () => [...chain.node.accounts.slice(0, 8), ...strangers, DEAD, ZERO]

async function mineMoves(random: Random, token: string, blocks: number): Promise<void> {
  const { node, owner } = chain
  const people = node.accounts.slice(1, 8)
  for (let block = 0; block < blocks; block += 1) {
    for (let move = 0; move < random.int(1, 4); move += 1) {
      const amount = BigInt(random.int(1, 1_000)) * ETHER
      const from = random.pick([owner, owner, ...people])
      const to = random.pick([...people, ...strangers, DEAD])
      const burn = view(token, 'burn(uint256)', amount)
      const data = random.chance(0.1) ? burn : view(token, 'transfer(address,uint256)', to, amount)
      // May fail for want of tokens, and then moves nothing.
      await node.rpc('eth_sendTransaction', [{ from, ...data, gas: '0x7a120', gasPrice: '0x0' }])
    }
    // Whoever gives all away holds nothing any more.
    const [one = ''] = people
    const all = word(await lookAt(node, token, 'balanceOf(address)', one))
    if (random.chance(0.2) && all > 0n)
      await node.rpc('eth_sendTransaction', [
        { from: one, ...view(token, 'transfer(address,uint256)', owner, all), gas: '0x7a120', gasPrice: '0x0' },
      ])
    // So that no block is empty: those may stay unpublished.
    const always = view(token, 'transfer(address,uint256)', one, 1n)
    await node.rpc('eth_sendTransaction', [{ from: owner, ...always, gas: '0x7a120', gasPrice: '0x0' }])
    await node.mine()
  }
}

const head = () => chain.node.rpc<{ hash: string; number: string }>('eth_getBlockByNumber', ['latest', false])

function folded(lines: Parameters<typeof foldLines>[1], anchor: string): Reader {
  const reader = new Reader()
  const money = { anchor, native: chain.weth, stables: [], majors: [] }
  const facts = { chain: 'base', family: 'evm', chainId: 8453, title: 'Base', ...money } as const
  for (const result of foldLines(startFold(facts), lines)) reader.read(result)
  return reader
}

function told(reader: Reader, token: string) {
  const known = reader.tokens.get(token)
  return {
    isComplete: known?.info.holders_since !== null && known?.info.holders_since !== undefined,
    total: known?.info.total_supply,
    holders: known?.holders,
    balances: everybody().map((holder) => reader.holders.get(`${token}|${holder}`) ?? 0n),
  }
}

async function onChain(token: string) {
  const balances: bigint[] = []
  for (const holder of everybody()) balances.push(word(await lookAt(chain.node, token, 'balanceOf(address)', holder)))
  return {
    isComplete: true,
    total: word(await lookAt(chain.node, token, 'totalSupply()')).toString(),
    holders: balances.filter((balance) => balance > 0n).length,
    balances,
  }
}

test.each(seedsOf('holderSeeds'))(
  'seed %i: after their history was read, holders are those of the contract, through reorgs and restarts',
  async (seed) => {
    const random = createRandom(seed)
    const { node } = chain
    const anchor = await chain.token('Plain')
    const token = await chain.token('PlainBurnable')
    await mineMoves(random, token, 15)
    const place = openRiskPlace(chain, anchor, CHECKS)
    try {
      const start = { kind: 'block', number: Number((await head()).number) } as const
      const options = { start, holders: [token], holdersPerBlock: 5, finality: { kind: 'depth', blocks: 6 } } as const
      const seen = async () => expect(await place.reached((await head()).hash, 20_000)).toBe(true)
      let run = await place.start(options)
      for (let step = 0; step < 12; step += 1) {
        const before = await node.snapshot()
        const depth = random.int(1, 4)
        await mineMoves(random, token, depth)
        await seen()
        if (random.chance(0.4)) {
          await node.revert(before)
          await mineMoves(random, token, depth + 1)
          await seen()
        }
        if (random.chance(0.25)) {
          expect(await run.stop()).toEqual({ kind: 'stopped' })
          run = await place.start(options)
        }
      }
      expect(await run.stop()).toEqual({ kind: 'stopped' })
      expect(await place.deadLetters()).toEqual([])
      expect(told(folded(await place.lines(), anchor), token)).toEqual(await onChain(token))
    } finally {
      await place.close()
    }
  },
  120_000,
)

test('a token that leaves the scope is no longer called complete, and is read again when it returns', async () => {
  const random = createRandom(3)
  const [anchor, token] = [await chain.token('Plain'), await chain.token('PlainBurnable')]
  await mineMoves(random, token, 10)
  const place = openRiskPlace(chain, anchor, CHECKS)
  try {
    const start = { kind: 'block', number: Number((await head()).number) } as const
    /** Blocks without a followed transfer may stay unpublished. */
    const over = async (options: RiskRunOptions, isSeen = true) => {
      const run = await place.start({ start, ...options })
      for (let block = 0; block < 4; block += 1) {
        await mineMoves(random, token, 1)
        if (isSeen || block === 0) expect(await place.reached((await head()).hash, 20_000)).toBe(true)
      }
      expect(await run.stop()).toEqual({ kind: 'stopped' })
      return told(folded(await place.lines(), anchor), token)
    }
    expect(await over({ holders: [token] })).toEqual(await onChain(token))
    expect((await over({}, false)).isComplete).toBe(false)
    expect(await over({ holders: [token] })).toEqual(await onChain(token))
  } finally {
    await place.close()
  }
}, 60_000)

/** A run of the source over a few blocks, with what it logged. */
async function runOver(token: string, anchor: string, url?: string) {
  const logged: string[] = []
  const note = (level: string) => (message: string) => void logged.push(`${level} ${message}`)
  const logger: Logger = { info: note('info'), warn: note('warn'), error: note('error'), child: () => logger }
  const place = openRiskPlace(chain, anchor, CHECKS)
  try {
    const start = { kind: 'block', number: Number((await head()).number) } as const
    const run = await place.start({ start, holders: [token], logger, ...(url && { rpcUrls: [url] }) })
    for (let block = 0; block < 4; block += 1) {
      await mineMoves(createRandom(block), token, 1)
      expect(await place.reached((await head()).hash, 20_000)).toBe(true)
    }
    expect(await run.stop()).toEqual({ kind: 'stopped' })
    return { told: told(folded(await place.lines(), anchor), token), logged }
  } finally {
    await place.close()
  }
}

test('balances that no transfer tells are read, and the holders are not called complete', async () => {
  const [anchor, token] = [await chain.token('Plain'), await chain.token('PlainBurnable')]
  await mineMoves(createRandom(1), token, 5)
  const [lucky = ''] = strangers
  await chain.send({ from: chain.owner, ...view(token, 'transfer(address,uint256)', lucky, ETHER) })
  await giveSilently(token, lucky, 77n * ETHER)
  const { told: known, logged } = await runOver(token, anchor)
  expect(known).toEqual({ ...(await onChain(token)), isComplete: false })
  expect(logged.filter((line) => line.startsWith('warn'))).toEqual([
    'warn balances of a token are not the sum of its transfers: not all holders may be known',
  ])
}, 60_000)

test('nodes without the logs of old blocks are one error, and nothing is claimed', async () => {
  const [anchor, token] = [await chain.token('Plain'), await chain.token('PlainBurnable')]
  await mineMoves(createRandom(1), token, 70)
  const first = Number((await head()).number)
  const proxy = await startProxy(chain.node, {
    async pass({ requests, batch }, upstream) {
      const answers = await upstream(requests)
      const body = answers.map((answer, place) => (isOld(requests[place], first) ? pruned(answer.id) : answer))
      return { kind: 'answer', body: batch ? body : body[0] }
    },
  })
  try {
    const { told: known, logged } = await runOver(token, anchor, proxy.url)
    expect(known.isComplete).toBe(false)
    expect(logged.filter((line) => line.startsWith('error'))).toEqual([
      'error the transfers of a token cannot be read: not all its holders are known',
    ])
  } finally {
    await proxy.stop()
  }
}, 60_000)

const pruned = (id: RpcAnswer['id']) => fault(id, -32000, 'logs of old blocks were pruned')

function isOld(request: RpcRequest | undefined, first: number): boolean {
  const [filter] = (request?.params ?? []) as { fromBlock?: string }[]
  return request?.method === 'eth_getLogs' && filter?.fromBlock !== undefined && Number(filter.fromBlock) < first
}

/** Writes a balance into the contract's storage, as a rebase does. */
async function giveSilently(token: string, holder: string, amount: bigint): Promise<void> {
  const { node } = chain
  const hex = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
  for (let slot = 0n; slot < 10n; slot += 1n) {
    const place = keccak(`${hex(BigInt(holder))}${hex(slot).slice(2)}`)
    const before = await node.rpc('eth_getStorageAt', [token, place, 'latest'])
    await node.rpc('hardhat_setStorageAt', [token, place, hex(amount)])
    await node.mine()
    if (word(await lookAt(node, token, 'balanceOf(address)', holder)) === amount) return
    await node.rpc('hardhat_setStorageAt', [token, place, before])
  }
  throw new Error('the slot of the balances was not found')
}
