/** Orca’s Whirlpools (orca-so/whirlpools: programs/whirlpool/src; accounts as in the IDL of @orca-so/whirlpools-sdk). */
import { TOKEN } from '../../../../services/ingest/decode/solana/native-programs.js'
import { borsh, callBytes, eventBytes, keys, u64s } from '../borsh.js'
import { movedLiquidity, moveLiquidity, type Pair, type Scene, sqrtPriceOf, type Trade } from './scene.js'

const WHIRLPOOL = 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc'
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

/** `isFirst`: the original `swap`, which names no mints and emits no event. */
export function swapOrca(scene: Scene, trade: Trade, isFirst = false): void {
  const { pair, side, source, destination, amountIn, amountOut } = trade
  const { tokens, vaults, address } = pair
  const [userA, userB] = side === 0 ? [source, destination] : [destination, source]
  const sides = [userA, vaults[0], userB, vaults[1]]
  const ticks = scene.others(4, 'ticks')
  const accounts = isFirst
    ? [TOKEN, scene.trader, address, ...sides, ...ticks]
    : [
        tokens[0].programId,
        tokens[1].programId,
        MEMO,
        scene.trader,
        address,
        tokens[0].mint,
        tokens[1].mint,
        ...sides,
        ...ticks,
      ]
  const asked = [u64s(amountIn, 0n), borsh.u128(0n), borsh.bool(true), borsh.bool(side === 0)]
  scene.runtime.call(WHIRLPOOL, accounts, callBytes(isFirst ? 'swap' : 'swap_v2', ...asked), () => {
    const before = sqrtPriceOf(scene, pair)
    const { paid, got } = scene.settle(trade)
    const after = sqrtPriceOf(scene, pair)
    if (!isFirst) {
      const amounts = u64s(amountIn, amountOut, amountIn - paid, amountOut - got, amountIn / 400n, amountIn / 4_000n)
      const prices = [borsh.u128(before), borsh.u128(after)]
      scene.runtime.logEvent(eventBytes('Traded', keys(address), borsh.bool(side === 0), ...prices, amounts))
    }
    const price = isFirst ? {} : { sqrt_price: `${after}` }
    scene.expectSwap('orca', trade, got, { ...scene.vaultReserves(pair), ...price })
  })
}

export function changeOrca(scene: Scene, pair: Pair, isAdded: boolean): void {
  const moved = movedLiquidity(scene, pair, isAdded)
  const [position, positionToken] = [scene.key('position'), scene.key('position token')]
  const accounts = [
    ...[pair.address, TOKEN, scene.trader, position, positionToken, ...moved.users, ...pair.vaults],
    ...scene.others(2, 'ticks'),
  ]
  const name = isAdded ? 'increase_liquidity' : 'decrease_liquidity'
  scene.runtime.call(WHIRLPOOL, accounts, callBytes(name, borsh.u128(999n), u64s(0n, 0n)), () => {
    moveLiquidity(scene, pair, isAdded, moved)
    const range = [borsh.i32(-443_636), borsh.i32(443_636), borsh.u128(999n)]
    const fields = [keys(pair.address, position), ...range, u64s(...moved.amounts, 0n, 0n)]
    scene.runtime.logEvent(eventBytes(isAdded ? 'LiquidityIncreased' : 'LiquidityDecreased', ...fields))
    scene.expectLiquidity('orca', pair, isAdded ? 'add' : 'remove', moved.amounts, scene.vaultReserves(pair))
  })
}
