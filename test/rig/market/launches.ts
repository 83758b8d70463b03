/** Tokens on a launch platform: created on a curve, then graduated to a pool that is described before or after. */
import { symbolsOf } from './opening.js'
import { createLiquidity, describePool, describeToken, makePool, makeToken } from './pools.js'
import type { Scene } from './world.js'

/** Enough to cover every case, few enough that a long recording stays quick to recompute. */
const MAX_LAUNCHES = 25

export const launch: Scene = (stage) => {
  const { world, random, writer } = stage
  const { coin } = symbolsOf(world.chain)
  const going = world.launches.filter(({ graduated }) => graduated === null)
  writer.transaction()
  if (going.length < 2 && world.launches.length < MAX_LAUNCHES) {
    const symbol = `PUMP${world.launches.length}`
    const token = makeToken(stage, symbol, 6, 0.00006)
    describeToken(stage, token)
    const curve = makePool(stage, symbol, coin, { usd: 3_000, weight: 4 })
    createLiquidity(stage, curve, random.pick(stage.wallets))
    world.launches.push({ token, curve, progress: 0, graduated: null })
    writer.add({
      type: 'launch',
      token: token.address,
      platform: 'pump',
      stage: 'created',
      progress: 0,
      pool: curve.address,
    })
    return
  }
  if (going.length === 0) return
  const one = random.pick(going)
  one.progress = Math.min(100, one.progress + random.int(10, 60))
  if (one.progress < 100) {
    writer.add({
      type: 'launch',
      token: one.token.address,
      platform: 'pump',
      stage: 'curve',
      progress: one.progress / 100,
      pool: one.curve.address,
    })
    return
  }
  one.curve.weight = 1
  // Every other one is described only in a later block.
  const described = world.launches.filter(({ graduated }) => graduated !== null).length % 2 === 0
  one.graduated = makePool(stage, one.token.symbol, coin, { usd: 14_000, weight: 6, described })
  if (described) createLiquidity(stage, one.graduated, random.pick(stage.wallets))
  writer.add({
    type: 'launch',
    token: one.token.address,
    platform: 'pump',
    stage: 'graduated',
    progress: 1,
    pool: one.graduated.address,
  })
}

/** Graduated in an earlier block, described only now. */
export const describeGraduated: Scene = (stage) => {
  const waiting = stage.world.launches.find(({ graduated }) => graduated !== null && !graduated.described)?.graduated
  if (!waiting) return
  stage.writer.transaction()
  describePool(stage, waiting)
  if (stage.random.chance(0.5)) createLiquidity(stage, waiting, stage.random.pick(stage.wallets))
}
