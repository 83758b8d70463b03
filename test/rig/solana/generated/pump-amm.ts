/** PumpSwap (pump-fun/pump-public-docs, `idl/pump_amm.json`). Fees are paid on top of a buy, and out of a sale's proceeds. */
import { SYSTEM } from '../../../../services/ingest/decode/solana/native-programs.js'
import { borsh, callBytes, eventBytes, keys, u64s } from '../borsh.js'
import { movedLiquidity, moveLiquidity, type Pair, type Scene, type Trade } from './scene.js'

const PUMP_AMM = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'
const ASSOCIATED_TOKEN = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

const basisPoints = (amount: bigint, points: bigint): bigint => (amount * points + 9_999n) / 10_000n

export function tradePumpAmm(scene: Scene, pair: Pair, isBuy = scene.random.chance(0.5)): void {
  const { runtime, trader } = scene
  const [base, quote] = pair.tokens
  const [baseBefore, quoteBefore] = scene.reserves(pair, 0)
  const baseAmount = baseBefore / scene.amount(50, 5_000)
  const gross = isBuy
    ? (quoteBefore * baseAmount) / (baseBefore - baseAmount) + 1n
    : (quoteBefore * baseAmount) / (baseBefore + baseAmount)
  const fees = { lp: basisPoints(gross, 20n), protocol: basisPoints(gross, 5n), creator: basisPoints(gross, 5n) }
  const poolQuote = isBuy ? gross + fees.lp : gross - fees.lp
  const userQuoteAmount = isBuy ? poolQuote + fees.protocol + fees.creator : poolQuote - fees.protocol - fees.creator
  const userBase = scene.purse(base, isBuy ? 0n : baseAmount)
  const userQuote = scene.purse(quote, isBuy ? userQuoteAmount : 0n)
  const feeAccounts = {
    protocol: runtime.hold(scene.key('protocol fees'), quote, scene.key('protocol'), 11n),
    creator: runtime.hold(scene.key('creator fees'), quote, scene.key('creator authority'), 12n),
  }
  const before = [runtime.balanceOf(userBase), runtime.balanceOf(userQuote), baseBefore, quoteBefore]
  const accounts = [
    ...[pair.address, trader, scene.key('config'), base.mint, quote.mint, userBase, userQuote, ...pair.vaults],
    ...[scene.key('protocol'), feeAccounts.protocol, base.programId, quote.programId, SYSTEM, ASSOCIATED_TOKEN],
    ...[scene.key('events'), PUMP_AMM, feeAccounts.creator, scene.key('creator authority')],
  ]
  runtime.call(PUMP_AMM, accounts, callBytes(isBuy ? 'buy' : 'sell', u64s(baseAmount, isBuy ? gross * 2n : 0n)), () => {
    if (isBuy) {
      runtime.transfer(pair.vaults[0], userBase, baseAmount, true)
      runtime.transfer(userQuote, pair.vaults[1], poolQuote, true)
      runtime.transfer(userQuote, feeAccounts.protocol, fees.protocol, true)
      runtime.transfer(userQuote, feeAccounts.creator, fees.creator, true)
    } else {
      runtime.transfer(userBase, pair.vaults[0], baseAmount, true)
      runtime.transfer(pair.vaults[1], userQuote, userQuoteAmount, true)
      runtime.transfer(pair.vaults[1], feeAccounts.protocol, fees.protocol, true)
      runtime.transfer(pair.vaults[1], feeAccounts.creator, fees.creator, true)
    }
    const amounts = [baseAmount, isBuy ? gross * 2n : 0n, ...before, gross, 20n, fees.lp, 5n, fees.protocol]
    const names = [pair.address, trader, userBase, userQuote, scene.key('protocol'), feeAccounts.protocol]
    const fields = [u64s(1_760_000_000n, ...amounts, poolQuote, userQuoteAmount), keys(...names, scene.key('creator'))]
    runtime.emit(eventBytes(isBuy ? 'BuyEvent' : 'SellEvent', ...fields, u64s(5n, fees.creator)))
    const trade: Trade = isBuy
      ? { pair, side: 1, source: userQuote, destination: userBase, amountIn: poolQuote, amountOut: baseAmount }
      : { pair, side: 0, source: userBase, destination: userQuote, amountIn: baseAmount, amountOut: poolQuote }
    scene.expectSwap('pumpamm', trade, trade.amountOut, scene.vaultReserves(pair))
  })
}

export function changePumpAmm(scene: Scene, pair: Pair, isAdded: boolean): void {
  const { runtime, trader } = scene
  const moved = movedLiquidity(scene, pair, isAdded)
  const shares = scene.token('share', 9)
  const own = runtime.give(trader, shares, 1_000_000n)
  const [base, quote] = pair.tokens
  const accounts = [
    ...[pair.address, scene.key('config'), trader, base.mint, quote.mint, shares.mint, ...moved.users, own],
    ...[...pair.vaults, base.programId, quote.programId, scene.key('events'), PUMP_AMM],
  ]
  runtime.call(PUMP_AMM, accounts, callBytes(isAdded ? 'deposit' : 'withdraw', u64s(77n, ...moved.amounts)), () => {
    const before = [runtime.balanceOf(moved.users[0]), runtime.balanceOf(moved.users[1]), ...scene.reserves(pair, 0)]
    moveLiquidity(scene, pair, isAdded, moved)
    if (isAdded) runtime.mintTo(shares, own, 77n, pair.address)
    else runtime.burn(own, 77n)
    const amounts = u64s(1_760_000_000n, 77n, ...moved.amounts, ...before, ...moved.amounts, 9_000n)
    const fields = [amounts, keys(pair.address, trader, ...moved.users, own)]
    runtime.emit(eventBytes(isAdded ? 'DepositEvent' : 'WithdrawEvent', ...fields, borsh.zeros(0)))
    const reserve0 = `${runtime.balanceOf(pair.vaults[0])}`
    scene.expectLiquidity('pumpamm', pair, isAdded ? 'add' : 'remove', moved.amounts, { reserve0, reserve1: null })
  })
}
