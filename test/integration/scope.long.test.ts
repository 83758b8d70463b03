/** The scope of a running server, changed on a real chain while it trades: nothing restarts, and history is read behind. */
import { expect, it } from 'vitest'
import { playMarket } from '../rig/evm/market.js'
import { chainForTests, headOf, planOf, scopedPools, scopeOf } from '../rig/evm/market-up.js'
import { openMarket } from '../rig/evm/opening.js'
import { KEY, startUp, type Up } from '../rig/http/up.js'
import { connect } from '../serve/push-client.js'

const chain = chainForTests()

const head = () => headOf(chain())
const isKnown = async (up: Up, pool: string) =>
  ((await up.get(`/v2/pairs/${pool}-base`)).body as { data: unknown }).data !== null
const swapsOf = async (up: Up, pool: string) => {
  const { body } = await up.get(`/v2/txs/swap/${pool}-base?limit=300`)
  return (body as { data: { txs: { block_number: number }[] } }).data.txs.map(({ block_number: block }) => block)
}

it('reads an added pool from then on, its history with --history, and a removed one no longer', async () => {
  const market = await openMarket(chain())
  const [first = '', second = ''] = scopedPools(market).map(({ pool }) => pool)
  const late = await head()
  const plan = planOf(market, { start: late, pools: [first], finality: 64 })
  const up = await startUp(plan)
  const scope = scopeOf(plan, up)
  const client = await connect(up.wsUrl, { 'x-api-key': KEY })
  await client.call('subscribe', ['tx', '*', 'base'])
  /** Plays on until it is so. */
  const until = async (seed: number, isSo: () => Promise<boolean>) => {
    const playOn = async () => {
      await playMarket(market, { seed, blocks: 10 })
      return isSo()
    }
    await expect.poll(playOn, { timeout: 60_000 }).toBe(true)
  }
  const isSwapped = (pool: string, after: number) => async () => (await swapsOf(up, pool)).some((at) => at > after)

  await until(1, isSwapped(first, late))
  expect(await isKnown(up, second)).toBe(false)

  // Blocks that had nothing in the scope are read again with the new one.
  const added = (await up.status())[0]?.head ?? 0
  expect(await scope('add', '--pool', second)).toMatchObject({ code: 0, out: expect.stringContaining(second) })
  await until(2, isSwapped(second, added))
  expect(Math.min(...(await swapsOf(up, second)))).toBeGreaterThan(added)

  const history = await scope('add', '--pool', second, '--history')
  expect({ code: history.code, err: history.code === 0 ? '' : history.err }).toEqual({ code: 0, err: '' })
  await up.until('base', 'epoch 2', ({ epoch }) => epoch === 2)
  await until(3, isSwapped(second, await head()))
  expect(Math.min(...(await swapsOf(up, second)))).toBeLessThanOrEqual(added)

  expect(await scope('remove', '--pool', first)).toMatchObject({ code: 0 })
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const removed = await head()
  await until(4, isSwapped(second, removed))
  expect(await isSwapped(first, removed)()).toBe(false)

  // The socket outlived it all.
  expect(client.frames.some(({ result }) => result?.topic === 'tx')).toBe(true)
  expect((await client.call('ping')).error).toBeUndefined()
  client.close()
  expect((await up.stop()).code).toBe(0)
})
