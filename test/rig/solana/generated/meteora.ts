/**
 * Meteora’s pools: DLMM (IDL `lb_clmm` 0.12.0), DAMM v1 over its dynamic vaults (`amm` 0.5.3) and DAMM v2 (`cp_amm` 0.2.5), as in the
 * packages of `@meteora-ag`.
 */
import { TOKEN } from '../../../../services/ingest/decode/solana/native-programs.js'
import { borsh, callBytes, eventBytes, keys, u64s } from '../borsh.js'
import type { Token } from './runtime.js'
import { type Both, movedLiquidity, moveLiquidity, type Pair, type Scene, sqrtPriceOf, type Trade } from './scene.js'

const DLMM = 'LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo'
const DAMM_V1 = 'Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB'
const DAMM_V2 = 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'
const DYNAMIC_VAULT = '24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi'

const mintsOf = ({ tokens }: Pair): Both<string> => [tokens[0].mint, tokens[1].mint]
const programsOf = ({ tokens }: Pair): Both<string> => [tokens[0].programId, tokens[1].programId]

/** Since limit orders, a swap has two events. */
export function swapDlmm(scene: Scene, trade: Trade, hasBothEvents = scene.random.chance(0.5)): void {
  const { pair, side, source, destination, amountIn, amountOut } = trade
  const accounts = [
    ...[pair.address, DLMM, ...pair.vaults, source, destination, ...mintsOf(pair), scene.key('oracle'), DLMM],
    ...[scene.trader, ...programsOf(pair), scene.key('events'), DLMM, ...scene.others(2, 'bins')],
  ]
  scene.runtime.call(DLMM, accounts, callBytes(hasBothEvents ? 'swap2' : 'swap', u64s(amountIn, 0n)), () => {
    const { got } = scene.settle(trade)
    const [names, bins] = [keys(pair.address, scene.trader), [borsh.i32(-511), borsh.i32(-510)]]
    const [fee, rate, isForY] = [amountIn / 400n, borsh.u128(2_500_000n), borsh.bool(side === 0)]
    const first = [names, ...bins, u64s(amountIn, amountOut), isForY, u64s(fee, fee / 20n), rate, u64s(0n)]
    scene.runtime.emit(eventBytes('Swap', ...first))
    const amounts = u64s(amountIn, 0n, amountOut, fee - fee / 20n, fee / 20n, 0n, 0n)
    if (hasBothEvents) scene.runtime.emit(eventBytes('Swap2Evt', names, ...bins, isForY, rate, amounts))
    scene.expectSwap('meteora', trade, got, scene.vaultReserves(pair))
  })
}

export function changeDlmm(scene: Scene, pair: Pair, isAdded: boolean): void {
  const moved = movedLiquidity(scene, pair, isAdded)
  const accounts = [
    ...[scene.key('position'), pair.address, DLMM, ...moved.users, ...pair.vaults, ...mintsOf(pair), scene.trader],
    ...[...programsOf(pair), scene.key('events'), DLMM, ...scene.others(2, 'bins')],
  ]
  const data = isAdded
    ? callBytes('add_liquidity_by_strategy2', u64s(...moved.amounts), borsh.zeros(40))
    : callBytes('remove_liquidity2', borsh.zeros(40))
  scene.runtime.call(DLMM, accounts, data, () => {
    moveLiquidity(scene, pair, isAdded, moved)
    const fields = [keys(pair.address, scene.trader, scene.key('position')), u64s(...moved.amounts), borsh.i32(-511)]
    scene.runtime.emit(eventBytes(isAdded ? 'AddLiquidity' : 'RemoveLiquidity', ...fields))
    scene.expectLiquidity('meteora', pair, isAdded ? 'add' : 'remove', moved.amounts, scene.vaultReserves(pair))
  })
}

/** The pool’s tokens are in vaults shared by many pools; it owns shares of them. */
export function swapDammV1(scene: Scene, trade: Trade): void {
  const { runtime } = scene
  const { pair, side, source, destination, amountIn, amountOut } = trade
  const other = side === 0 ? 1 : 0
  const shareOf = (at: 0 | 1): Token => scene.token(`share ${at}`, pair.tokens[at].decimals)
  const share = (at: 0 | 1) => runtime.hold(scene.key(`shares ${at}`), shareOf(at), pair.address, 5_000_000_000_000n)
  const [shares, vaults] = [[share(0), share(1)] as const, scene.others(2, 'dynamic vault')]
  const shareMints = [shareOf(0).mint, shareOf(1).mint]
  const protocolFee = runtime.hold(scene.key('protocol fee'), pair.tokens[side], scene.key('protocol'), 9n)
  const accounts = [
    ...[pair.address, source, destination, ...vaults, ...pair.vaults, ...shareMints, ...shares],
    ...[protocolFee, scene.trader, DYNAMIC_VAULT, TOKEN],
  ]
  runtime.call(DAMM_V1, accounts, callBytes('swap', u64s(amountIn, 0n)), () => {
    const [tradeFee, forProtocol] = [amountIn / 400n, amountIn / 2_000n]
    runtime.transfer(source, protocolFee, forProtocol)
    const vaultCall = (name: string, at: 0 | 1, user: string, amount: bigint, body: () => void) => {
      const own = [vaults[at] ?? '', pair.vaults[at], shareMints[at] ?? '', user, shares[at], scene.trader, TOKEN]
      runtime.call(DYNAMIC_VAULT, own, callBytes(name, u64s(amount, 0n)), body)
    }
    vaultCall('deposit', side, source, amountIn - forProtocol, () => {
      runtime.transfer(source, pair.vaults[side], amountIn - forProtocol)
      runtime.mintTo(shareOf(side), shares[side], amountIn / 3n, vaults[side] ?? '')
    })
    vaultCall('withdraw', other, destination, amountOut, () => {
      runtime.burn(shares[other], amountOut / 3n)
      runtime.transfer(pair.vaults[other], destination, amountOut)
    })
    runtime.logEvent(eventBytes('Swap', u64s(amountIn, amountOut, tradeFee, forProtocol, 0n)))
    // The value of a share is not in the transaction.
    scene.expectSwap('meteoradamm', trade, amountOut, { reserve0: null, reserve1: null })
  })
}

export function swapDammV2(scene: Scene, trade: Trade): void {
  const { pair, side, source, destination, amountIn, amountOut } = trade
  const accounts = [
    ...[scene.key('authority'), pair.address, source, destination, ...pair.vaults, ...mintsOf(pair), scene.trader],
    ...[...programsOf(pair), DAMM_V2, scene.key('events'), DAMM_V2],
  ]
  const data = callBytes('swap2', u64s(amountIn, 0n), borsh.u8(0))
  scene.runtime.call(DAMM_V2, accounts, data, () => {
    const { paid, got } = scene.settle(trade)
    const [sqrtPrice, reserves] = [sqrtPriceOf(scene, pair), scene.reserves(pair, 0)]
    // Unclaimed fees in the vaults do not count as reserves.
    const own: Both<bigint> = [reserves[0] - 500n, reserves[1] - 700n]
    const fee = paid / 400n
    const fields = [
      ...[keys(pair.address), borsh.u8(side), borsh.u8(0), borsh.bool(false), u64s(amountIn, 0n), borsh.u8(0)],
      ...[u64s(paid, paid - fee, 0n, amountOut), borsh.u128(sqrtPrice), u64s(fee - fee / 5n, fee / 5n, 0n, 0n)],
      ...[u64s(amountIn, amountOut, got, 1_760_000_000n, ...own)],
    ]
    scene.runtime.emit(eventBytes('EvtSwap2', ...fields))
    const state = { reserve0: `${own[0]}`, reserve1: `${own[1]}`, sqrt_price: `${sqrtPrice}` }
    scene.expectSwap('meteoradammv2', trade, got, state)
  })
}

export function changeDammV2(scene: Scene, pair: Pair, isAdded: boolean): void {
  const moved = movedLiquidity(scene, pair, isAdded)
  const sides = [...moved.users, ...pair.vaults, ...mintsOf(pair), scene.key('nft'), scene.trader, ...programsOf(pair)]
  const pool = [pair.address, scene.key('position')]
  const accounts = [...(isAdded ? pool : [scene.key('authority'), ...pool]), ...sides, scene.key('events'), DAMM_V2]
  const name = isAdded ? 'add_liquidity' : 'remove_liquidity'
  scene.runtime.call(DAMM_V2, accounts, callBytes(name, borsh.u128(999n), u64s(0n, 0n)), () => {
    const arrived = moveLiquidity(scene, pair, isAdded, moved)
    const reserves = scene.reserves(pair, 0)
    const amounts = isAdded ? [...arrived, ...moved.amounts] : [...moved.amounts, ...arrived]
    const fields = [keys(pair.address, scene.key('position'), scene.trader), u64s(...amounts, ...reserves)]
    const change = [borsh.u128(999n), u64s(0n, 0n), borsh.u8(isAdded ? 0 : 1)]
    scene.runtime.emit(eventBytes('EvtLiquidityChange', ...fields, ...change))
    scene.expectLiquidity('meteoradammv2', pair, isAdded ? 'add' : 'remove', moved.amounts, scene.vaultReserves(pair))
  })
}
