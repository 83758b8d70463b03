/** Actions on tokens alone. */
import { call } from '../abi.js'
import { view } from '../transactions.js'
import { type Action, tradeUsd, worth, ZERO } from '../world.js'

export const transfer: Action = async (world) => {
  const { random, contracts, wallets } = world
  const token = random.pick(Object.values(contracts.tokens))
  const to = random.weighted([
    [8, random.pick(wallets)],
    [1, ZERO],
    [1, `0x${'0'.repeat(36)}dead`],
    // A first-time holder.
    [
      2,
      `0x${random
        .int(2 ** 20, 2 ** 30)
        .toString(16)
        .padStart(40, 'a')}`,
    ],
  ])
  return {
    transactions: [
      {
        from: random.pick(wallets),
        ...view(token.address, 'transfer(address,uint256)', to, worth(token, tradeUsd(world))),
      },
    ],
  }
}

/** Changes the wrapped coin's supply without a Transfer. */
export const wrap: Action = async (world) => {
  const { random, contracts, wallets } = world
  const { weth } = contracts.tokens
  const from = random.pick(wallets)
  const amount = worth(weth, tradeUsd(world))
  if (random.chance(0.5)) return { transactions: [{ from, to: weth.address, data: call('deposit()'), value: amount }] }
  return { transactions: [{ from, to: weth.address, data: call('withdraw(uint256)', amount) }] }
}
