/**
 * Raydium’s programs: AMM v4 (raydium-amm: program/src/instruction.rs, log.rs), CPMM (raydium-cp-swap: programs/cp-swap/src) and
 * CLMM (raydium-clmm: programs/amm/src).
 */
import { TOKEN, TOKEN_2022 } from '../../../../services/ingest/decode/solana/native-programs.js'
import { borsh, callBytes, eventBytes, keys, u64s } from '../borsh.js'
import { movedLiquidity, moveLiquidity, type Pair, type Scene, sqrtPriceOf, type Trade, withheld } from './scene.js'

const V4 = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8'
const CPMM = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'
const CLMM = 'CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK'
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

function rayLog(scene: Scene, bytes: Buffer): void {
  scene.runtime.log(`ray_log: ${bytes.toString('base64')}`)
}

/** Unclaimed protocol fees are in the vaults but do not belong to the pool. */
export const PROTOCOL_SHARE = 1_000n

function counted(scene: Scene, { vaults }: Pair): [coin: bigint, pc: bigint] {
  const own = (vault: string) => scene.runtime.balanceOf(vault) - PROTOCOL_SHARE
  return [own(vaults[0]), own(vaults[1])]
}

/** `isShort`: the instruction without a market’s accounts. */
export function swapRaydiumV4(scene: Scene, trade: Trade, isShort = scene.random.chance(0.3)): void {
  const { pair, side, source, destination, amountIn, amountOut } = trade
  const ends = [source, destination, scene.trader]
  const market = scene.others(8, 'market')
  const accounts = isShort
    ? [TOKEN, pair.address, scene.key('authority'), ...pair.vaults, ...ends]
    : [
        TOKEN,
        pair.address,
        scene.key('authority'),
        scene.key('orders'),
        scene.key('targets'),
        ...pair.vaults,
        ...market,
        ...ends,
      ]
  const data = Buffer.concat([borsh.u8(isShort ? 16 : 9), u64s(amountIn, 0n)])
  scene.runtime.call(V4, accounts, data, () => {
    const before = counted(scene, pair)
    const direction = side === 1 ? 1n : 2n
    rayLog(scene, Buffer.concat([borsh.u8(3), u64s(amountIn, 0n, direction, amountIn, ...before, amountOut)]))
    const { got } = scene.settle(trade)
    const [reserve0, reserve1] = counted(scene, pair)
    scene.expectSwap('raydium', trade, got, { reserve0: `${reserve0}`, reserve1: `${reserve1}` })
  })
}

export function changeRaydiumV4(scene: Scene, pair: Pair, isAdded: boolean): void {
  const moved = movedLiquidity(scene, pair, isAdded)
  const { amounts, users } = moved
  const [lp, ownLp] = [scene.key('lp mint'), scene.key('lp account')]
  const market = scene.others(8, 'market')
  const accounts = isAdded
    ? [
        TOKEN,
        pair.address,
        scene.key('authority'),
        scene.key('orders'),
        scene.key('targets'),
        lp,
        ...pair.vaults,
        ...market.slice(0, 1),
        ...users,
        ownLp,
        scene.trader,
        ...market.slice(1, 2),
      ]
    : [
        TOKEN,
        pair.address,
        scene.key('authority'),
        scene.key('orders'),
        scene.key('targets'),
        lp,
        ...pair.vaults,
        ...market.slice(0, 5),
        ownLp,
        ...users,
        scene.trader,
        ...market.slice(5, 8),
      ]
  const data = Buffer.concat([borsh.u8(isAdded ? 3 : 4), isAdded ? u64s(...amounts, 0n) : u64s(77n)])
  scene.runtime.call(V4, accounts, data, () => {
    const asked = isAdded ? [...amounts, 0n] : [77n, 900n]
    const prices = [borsh.u128(1n), borsh.u128(1n)]
    const log = [
      borsh.u8(isAdded ? 1 : 2),
      u64s(...asked, ...counted(scene, pair), 5_000n),
      ...prices,
      u64s(...amounts),
    ]
    rayLog(scene, Buffer.concat(isAdded ? [...log, u64s(77n)] : log))
    moveLiquidity(scene, pair, isAdded, moved)
    const [reserve0, reserve1] = counted(scene, pair)
    const reserves = { reserve0: `${reserve0}`, reserve1: `${reserve1}` }
    scene.expectLiquidity('raydium', pair, isAdded ? 'add' : 'remove', amounts, reserves)
  })
}

export function swapCpmm(scene: Scene, trade: Trade): void {
  const { pair, side, source, destination, amountIn, amountOut } = trade
  const other = side === 0 ? 1 : 0
  const [tokenIn, tokenOut] = [pair.tokens[side], pair.tokens[other]]
  const creatorFee = amountIn / 2_000n
  const accounts = [
    ...[scene.trader, scene.key('authority'), scene.key('config'), pair.address, source, destination],
    ...[pair.vaults[side], pair.vaults[other], tokenIn.programId, tokenOut.programId, tokenIn.mint, tokenOut.mint],
    scene.key('observation'),
  ]
  scene.runtime.call(CPMM, accounts, callBytes('swap_base_input', u64s(amountIn, 0n)), () => {
    const [inputBefore, outputBefore] = scene.reserves(pair, side)
    const [feeIn, feeOut] = [withheld(tokenIn, amountIn), withheld(tokenOut, amountOut)]
    const { got, paid } = scene.settle(trade)
    const amounts = u64s(inputBefore, outputBefore, paid, amountOut, feeIn, feeOut)
    const fees = [keys(tokenIn.mint, tokenOut.mint), u64s(amountIn / 400n, creatorFee), borsh.bool(true)]
    scene.runtime.logEvent(eventBytes('SwapEvent', keys(pair.address), amounts, borsh.bool(true), ...fees))
    const [input, output] = [`${inputBefore + paid - creatorFee}`, `${outputBefore - amountOut}`]
    const [reserve0, reserve1] = side === 0 ? [input, output] : [output, input]
    scene.expectSwap('raydiumcpmm', trade, got, { reserve0, reserve1 })
  })
}

export function changeCpmm(scene: Scene, pair: Pair, isAdded: boolean): void {
  const moved = movedLiquidity(scene, pair, isAdded)
  const mints = [pair.tokens[0].mint, pair.tokens[1].mint]
  const accounts = [
    ...[scene.trader, scene.key('authority'), pair.address, scene.key('lp account'), ...moved.users, ...pair.vaults],
    ...[TOKEN, TOKEN_2022, ...mints, scene.key('lp mint')],
  ]
  const data = callBytes(isAdded ? 'deposit' : 'withdraw', u64s(77n, ...moved.amounts))
  scene.runtime.call(CPMM, accounts, data, () => {
    const before = scene.reserves(pair, 0)
    const arrived = moveLiquidity(scene, pair, isAdded, moved)
    const fees = [moved.amounts[0] - arrived[0], moved.amounts[1] - arrived[1]]
    const fields = [u64s(5_000n, ...before, ...arrived, ...fees), borsh.u8(isAdded ? 0 : 1)]
    scene.runtime.logEvent(eventBytes('LpChangeEvent', keys(pair.address), ...fields))
    scene.expectLiquidity('raydiumcpmm', pair, isAdded ? 'add' : 'remove', moved.amounts, scene.vaultReserves(pair))
  })
}

export function swapClmm(scene: Scene, trade: Trade): void {
  const { pair, side, source, destination, amountIn, amountOut } = trade
  const other = side === 0 ? 1 : 0
  const [tokenIn, tokenOut] = [pair.tokens[side], pair.tokens[other]]
  const accounts = [
    ...[scene.trader, scene.key('config'), pair.address, source, destination, pair.vaults[side], pair.vaults[other]],
    ...[scene.key('observation'), TOKEN, TOKEN_2022, MEMO, tokenIn.mint, tokenOut.mint, ...scene.others(3, 'ticks')],
  ]
  const data = callBytes('swap_v2', u64s(amountIn, 0n), borsh.u128(0n), borsh.bool(true))
  scene.runtime.call(CLMM, accounts, data, () => {
    const { paid, got } = scene.settle(trade)
    const [input, output] = [
      [paid, amountIn - paid],
      [got, amountOut - got],
    ]
    const sqrtPrice = sqrtPriceOf(scene, pair)
    const ends = side === 0 ? [source, destination] : [destination, source]
    const fields = [
      ...[
        keys(pair.address, scene.trader, ...ends),
        u64s(...(side === 0 ? [...input, ...output] : [...output, ...input])),
      ],
      ...[borsh.bool(side === 0), borsh.u128(sqrtPrice), borsh.u128(123_456_789n), borsh.i32(-204_000)],
    ]
    scene.runtime.logEvent(eventBytes('SwapEvent', ...fields))
    scene.expectSwap('raydiumclmm', trade, got, { ...scene.vaultReserves(pair), sqrt_price: `${sqrtPrice}` })
  })
}

export function changeClmm(scene: Scene, pair: Pair, isAdded: boolean): void {
  const moved = movedLiquidity(scene, pair, isAdded)
  const [nft, personal, protocol] = [scene.key('nft'), scene.key('personal'), scene.key('protocol')]
  const ticks = scene.others(2, 'ticks')
  const accounts = isAdded
    ? [scene.trader, nft, pair.address, protocol, personal, ...ticks, ...moved.users, ...pair.vaults, TOKEN, TOKEN_2022]
    : [scene.trader, nft, personal, pair.address, protocol, ...pair.vaults, ...ticks, ...moved.users, TOKEN, TOKEN_2022]
  const name = isAdded ? 'increase_liquidity_v2' : 'decrease_liquidity_v2'
  const position = [borsh.key(scene.key('nft mint')), borsh.u128(999n)]
  scene.runtime.call(CLMM, accounts, callBytes(name, borsh.u128(999n), u64s(0n, 0n)), () => {
    const arrived = moveLiquidity(scene, pair, isAdded, moved)
    const withheldBoth = [moved.amounts[0] - arrived[0], moved.amounts[1] - arrived[1]]
    // Part of what a decrease sends is the position’s fees.
    const fees: [bigint, bigint] = [moved.amounts[0] / 50n, moved.amounts[1] / 60n]
    const removed: [bigint, bigint] = [moved.amounts[0] - fees[0], moved.amounts[1] - fees[1]]
    scene.runtime.logEvent(
      isAdded
        ? eventBytes('IncreaseLiquidityEvent', ...position, u64s(...arrived, ...withheldBoth))
        : eventBytes('DecreaseLiquidityEvent', ...position, u64s(...removed, ...fees, 0n, 0n, 0n, ...withheldBoth)),
    )
    const amounts = isAdded ? moved.amounts : removed
    scene.expectLiquidity('raydiumclmm', pair, isAdded ? 'add' : 'remove', amounts, scene.vaultReserves(pair))
  })
}
