/** Balances, supplies, burns and locks of tokens on a real chain, through the source and the fold, after random moves and reorgs. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { KnownLocker } from '../../services/core/config/contracts/lockers.js'
import { foldLines, startFold } from '../rig/aggregate/fold-lines.js'
import { Reader } from '../rig/aggregate/reader.js'
import { seedsOf } from '../rig/counts.js'
import { word } from '../rig/evm/abi.js'
import { openRiskChain, openRiskPlace, type RiskChain } from '../rig/evm/risk/risk-chain.js'
import { lookAt, type Transaction, view } from '../rig/evm/transactions.js'
import { UINT256_MAX } from '../rig/evm/world.js'
import { createRandom, type Random } from '../rig/market/random.js'

const DEAD = '0x000000000000000000000000000000000000dead'
const ZERO = `0x${'0'.repeat(40)}`
const ETHER = 10n ** 18n
const STEPS = 12
const NEVER = 4_000_000_000

let chain: RiskChain
let locker: KnownLocker
/** A chain each: a source reads its chain from the first block. */
beforeEach(async () => {
  chain = await openRiskChain()
  locker = { address: await chain.token('UncxLocker'), kind: 'uncx', name: 'UNCX' }
}, 60_000)
afterEach(() => chain?.stop())

type Tokens = { mintable: string; burnable: string; pools: readonly string[] }

/** Whoever moves tokens has some: the owner deals them out. */
function randomMove(random: Random, { mintable, burnable, pools }: Tokens): Transaction {
  const { owner, node } = chain
  const people = node.accounts.slice(1, 5)
  const amount = BigInt(random.int(1, 1_000)) * ETHER
  const token = random.pick([mintable, burnable])
  const from = random.pick([owner, owner, ...people])
  const pool = random.pick(pools)
  switch (random.pick(['deal', 'deal', 'pass', 'mint', 'burn', 'send to dead', 'lock', 'return shares', 'withdraw'])) {
    case 'return shares':
      return { from: owner, ...view(pool, 'transfer(address,uint256)', pool, amount / 10_000n) }
    case 'withdraw':
      // Fails where no shares were returned to the pool before.
      return { from: owner, ...view(pool, 'burn(address)', owner) }
    case 'deal':
      return { from: owner, ...view(token, 'transfer(address,uint256)', random.pick(people), amount) }
    case 'mint':
      return { from: owner, ...view(mintable, 'mint(address,uint256)', random.pick([owner, ...people]), amount) }
    case 'burn':
      return { from: owner, ...view(burnable, 'burn(uint256)', amount) }
    case 'send to dead':
      return { from: owner, ...view(token, 'transfer(address,uint256)', DEAD, amount) }
    case 'lock':
      return { from: owner, ...view(locker.address, 'lockLPToken(address,uint256,uint256)', token, amount, NEVER) }
    default:
      // May fail for want of tokens, and then moves nothing.
      return { from, ...view(token, 'transfer(address,uint256)', random.pick([owner, ...people]), amount / 10n) }
  }
}

async function mineMoves(random: Random, tokens: Tokens, blocks: number): Promise<void> {
  const { node, owner } = chain
  for (let block = 0; block < blocks; block += 1) {
    const moves = Array.from({ length: random.int(1, 4) }, () => randomMove(random, tokens))
    // So that no block is empty: those may stay unpublished.
    const always = view(tokens.mintable, 'transfer(address,uint256)', node.accounts[1] ?? '', 1n)
    for (const move of [...moves, { from: owner, ...always }]) await sendAnyway(move)
    await node.mine()
  }
}

async function sendAnyway({ from, to = '', data = '0x' }: Transaction): Promise<void> {
  await chain.node.rpc('eth_sendTransaction', [{ from, to, data, gas: '0x7a120', gasPrice: '0x0' }])
}

test.each(seedsOf('supplySeeds'))(
  'seed %i: what the fold holds is what the contracts say',
  async (seed) => {
    const random = createRandom(seed)
    const { node, owner, weth } = chain
    const anchor = await chain.token('Plain')
    const [mintable, burnable] = [await chain.token('Mintable'), await chain.token('PlainBurnable')]
    const pools: string[] = []
    const tokens: Tokens = { mintable, burnable, pools }
    for (const token of [mintable, burnable]) {
      pools.push((await chain.pair(token)).pool)
      await chain.send({ from: owner, ...view(token, 'approve(address,uint256)', locker.address, UINT256_MAX) })
    }
    const checks = { checksPerMinute: 10_000, recheckS: 1_000_000, history: true, lockers: [locker] }
    const place = openRiskPlace(chain, anchor, checks, 'scoped')
    try {
      const run = await place.start({})
      const headHash = async () => (await node.rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).hash
      const seen = async () => expect(await place.reached(await headHash(), 20_000)).toBe(true)
      for (let step = 0; step < STEPS; step += 1) {
        const isReorg = random.chance(0.3)
        const depth = random.int(1, 3)
        const before = isReorg ? await node.snapshot() : ''
        await mineMoves(random, tokens, isReorg ? depth : 1)
        if (!isReorg) continue
        await seen()
        await node.revert(before)
        await mineMoves(random, tokens, depth + random.int(1, 2))
        await seen()
      }
      await mineMoves(random, tokens, 1)
      await seen()
      expect(await run.stop()).toEqual({ kind: 'stopped' })
      const lines = await place.lines()
      expect(await place.deadLetters()).toEqual([])
      const reader = new Reader()
      const money = { anchor, native: weth, stables: [], majors: [] }
      const facts = { chain: 'base', family: 'evm', chainId: 8453, title: 'Base', ...money } as const
      for (const result of foldLines(startFold(facts), lines)) reader.read(result)
      const holders = [...node.accounts.slice(0, 5), ...pools, DEAD, ZERO, locker.address]
      for (const pool of pools) {
        const shares = word(await lookAt(node, pool, 'totalSupply()')).toString()
        expect(reader.pairs.get(pool)?.info.share_supply).toBe(shares)
        expect(reader.tokens.has(pool), 'shares are not listed as a token').toBe(false)
      }
      for (const token of [mintable, burnable])
        expect(told(reader, token, holders)).toEqual(await onChain(token, holders))
    } finally {
      await place.close()
    }
  },
  120_000,
)

function told(reader: Reader, token: string, holders: readonly string[]) {
  const known = reader.tokens.get(token)
  const risk = JSON.parse(known?.info.risk ?? '{}') as Record<string, unknown>
  return {
    total: known?.info.total_supply,
    // Before anything is burnt it is null: with known holders that means 0.
    burnt: known?.info.burnt_supply ?? '0',
    locked: risk.lock_raw,
    holders: known?.holders,
    balances: holders.map((holder) => reader.holders.get(`${token}|${holder}`) ?? 0n),
  }
}

async function onChain(token: string, holders: readonly string[]) {
  const { node } = chain
  const balances: bigint[] = []
  for (const holder of holders) balances.push(word(await lookAt(node, token, 'balanceOf(address)', holder)))
  const held = (holder: string) => balances[holders.indexOf(holder)] ?? 0n
  return {
    total: word(await lookAt(node, token, 'totalSupply()')).toString(),
    burnt: (held(DEAD) + held(ZERO)).toString(),
    // Nothing is withdrawn: what the locker has is locked.
    locked: held(locker.address).toString(),
    holders: balances.filter((balance) => balance > 0n).length,
    balances,
  }
}
