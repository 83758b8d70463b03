/**
 * Launch platforms that hold coins and proceeds in vaults: Raydium LaunchLab (raydium-sdk-v2:
 * src/raydium/launchpad/instrument.ts) and Meteora’s dynamic bonding curve (`@meteora-ag/dynamic-bonding-curve-sdk` 0.2.1).
 */
import { borsh, callBytes, eventBytes, keys, u64s } from '../borsh.js'
import { type Pair, type Scene, SOL, sqrtPriceOf, type Trade } from './scene.js'

const LAUNCHLAB = 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj'
const DBC = 'dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN'
const [SUPPLY, FOR_SALE] = [1_000_000_000_000_000n, 793_100_000_000_000n]
const MILLION = 1_000_000n

/** A LaunchLab curve: coins in the first vault, proceeds in the second. */
export function launchLabCurve(scene: Scene): Pair {
  const { runtime } = scene
  const [address, coin] = [scene.key('curve'), scene.token('coin')]
  const sold = scene.amount(1e12, 7e14)
  const vaults = [
    runtime.hold(scene.key('coin vault'), coin, scene.key('authority'), SUPPLY - sold),
    // Unclaimed fees are in the vault with the proceeds.
    runtime.hold(scene.key('quote vault'), SOL, scene.key('authority'), raisedFor(sold) + 5_000_000n),
  ] as const
  return { address, tokens: [coin, SOL], vaults }
}

const VIRTUAL = { base: 1_073_025_605_596_382n, quote: 30_000_852_951n }
const raisedFor = (sold: bigint): bigint => (VIRTUAL.base * VIRTUAL.quote) / (VIRTUAL.base - sold) - VIRTUAL.quote

export function tradeLaunchLab(scene: Scene, pair: Pair, isBuy = scene.random.chance(0.5)): void {
  const { runtime } = scene
  const [coin] = pair.tokens
  const soldBefore = SUPPLY - runtime.balanceOf(pair.vaults[0])
  const raisedBefore = runtime.balanceOf(pair.vaults[1]) - 5_000_000n
  const coins = (isBuy ? FOR_SALE - soldBefore : soldBefore) / scene.amount(100, 9_000)
  const soldAfter = isBuy ? soldBefore + coins : soldBefore - coins
  const cost = isBuy ? raisedFor(soldAfter) - raisedBefore : raisedBefore - raisedFor(soldAfter)
  const fees = [cost / 400n + 1n, cost / 100n + 1n, cost / 2_000n + 1n, 0n]
  const allFees = fees.reduce((sum, fee) => sum + fee, 0n)
  const quote = isBuy ? cost + allFees : cost - allFees
  const [userCoin, userQuote] = isBuy
    ? [scene.purse(coin, 0n), scene.purse(SOL, quote)]
    : [scene.purse(coin, coins), scene.purse(SOL, 0n)]
  const accounts = [
    ...[
      scene.trader,
      scene.key('authority'),
      scene.key('config'),
      scene.key('platform'),
      pair.address,
      userCoin,
      userQuote,
    ],
    ...[...pair.vaults, coin.mint, SOL.mint, coin.programId, SOL.programId, scene.key('events'), LAUNCHLAB],
  ]
  const [amountIn, amountOut] = isBuy ? [quote, coins] : [coins, quote]
  runtime.call(LAUNCHLAB, accounts, callBytes(isBuy ? 'buy_exact_in' : 'sell_exact_in', u64s(amountIn, 0n, 0n)), () => {
    const raisedAfter = isBuy ? raisedBefore + cost : raisedBefore - cost
    const state = [FOR_SALE, VIRTUAL.base, VIRTUAL.quote, soldBefore, raisedBefore, soldAfter, raisedAfter]
    const event = eventBytes(
      'TradeEvent',
      ...[keys(pair.address), u64s(...state, amountIn, amountOut, ...fees)],
      ...[borsh.u8(isBuy ? 0 : 1), borsh.u8(0), borsh.bool(true)],
    )
    // In a call and again in a log.
    runtime.emit(event)
    runtime.logEvent(event)
    const trade: Trade = {
      ...{ pair, side: isBuy ? 1 : 0, amountIn, amountOut },
      ...(isBuy ? { source: userQuote, destination: userCoin } : { source: userCoin, destination: userQuote }),
    }
    scene.settle(trade)
    const reserves = { reserve0: `${FOR_SALE - soldAfter}`, reserve1: `${raisedAfter}` }
    scene.expectSwap('launchlab', trade, amountOut, reserves)
    const percents = [soldBefore, soldAfter].map((sold) => (sold * 100n) / FOR_SALE)
    if (percents[0] !== percents[1]) {
      const progress = Number((soldAfter * MILLION) / FOR_SALE) / 1e6
      expectLaunch(scene, 'launchlab', pair, 'curve', progress)
    }
  })
}

/** A new coin and its curve. */
export function createLaunchLab(scene: Scene): void {
  const { runtime } = scene
  const [coin, address] = [scene.token('coin'), scene.key('curve')]
  const vault = runtime.hold(scene.key('coin vault'), coin, scene.key('authority'), 0n)
  const quoteVault = runtime.hold(scene.key('quote vault'), SOL, scene.key('authority'), 0n)
  const pair: Pair = { address, tokens: [coin, SOL], vaults: [vault, quoteVault] }
  const [name, symbol, uri] = ['Generated', 'GEN', 'https://example.com/generated.json']
  const accounts = [
    ...[scene.trader, scene.trader, scene.key('config'), scene.key('platform'), scene.key('authority'), address],
    ...[coin.mint, SOL.mint, vault, quoteVault, scene.key('metadata'), coin.programId, SOL.programId],
    ...[scene.key('events'), LAUNCHLAB],
  ]
  const described = [borsh.u8(coin.decimals), borsh.text(name), borsh.text(symbol), borsh.text(uri), borsh.u8(0)]
  const curve = [u64s(SUPPLY, FOR_SALE, 85_000_000_000n), borsh.u8(1), u64s(0n, 0n, 0n)]
  runtime.call(LAUNCHLAB, accounts, callBytes('initialize_v2', ...described, ...curve), () => {
    runtime.mintTo(coin, vault, SUPPLY, scene.key('authority'))
    const event = [keys(address, scene.trader, scene.key('config')), ...described, ...curve]
    runtime.emit(eventBytes('PoolCreateEvent', ...event))
    scene.expected.push({ type: 'token', token: coin.mint, name, symbol, decimals: coin.decimals })
    expectLaunch(scene, 'launchlab', pair, 'created', 0)
    const reserves = { reserve0: `${FOR_SALE}`, reserve1: '0' }
    scene.expectLiquidity('launchlab', pair, 'create', [FOR_SALE, 0n], reserves)
  })
}

/** Fees are charged on the input. `threshold`: the amount the curve has to raise. */
export function tradeDbc(scene: Scene, trade: Trade): void {
  const { pair, side, source, destination, amountIn, amountOut } = trade
  const config = scene.key('config')
  const accounts = [
    ...[scene.key('authority'), config, pair.address, source, destination, ...pair.vaults],
    ...[pair.tokens[0].mint, pair.tokens[1].mint, scene.trader, pair.tokens[0].programId, pair.tokens[1].programId],
    ...[DBC, scene.key('events'), DBC],
  ]
  scene.runtime.call(DBC, accounts, callBytes('swap2', u64s(amountIn, 0n), borsh.u8(0)), () => {
    const { got } = scene.settle(trade)
    const [sqrtPrice, fee] = [sqrtPriceOf(scene, pair), amountIn / 100n]
    const raised = scene.runtime.balanceOf(pair.vaults[1]) - 1_234n
    const threshold = raised * 2n + 1n
    const asked = [keys(pair.address, config), borsh.u8(side), borsh.bool(false), u64s(amountIn, 0n), borsh.u8(0)]
    const result = [
      u64s(amountIn, amountIn - fee, 0n, amountOut),
      borsh.u128(sqrtPrice),
      u64s(fee - fee / 5n, fee / 5n, 0n),
    ]
    scene.runtime.emit(eventBytes('EvtSwap2', ...asked, ...result, u64s(raised, threshold, 1_760_000_000n)))
    const reserve0 = `${scene.runtime.balanceOf(pair.vaults[0])}`
    scene.expectSwap('meteoradbc', trade, got, { reserve0, reserve1: `${raised}`, sqrt_price: `${sqrtPrice}` })
    expectLaunch(scene, 'meteoradbc', pair, 'curve', Number((raised * MILLION) / threshold) / 1e6)
  })
}

export function createDbc(scene: Scene): void {
  const { runtime } = scene
  const [coin, address, config] = [scene.token('coin'), scene.key('curve'), scene.key('config')]
  const vault = runtime.hold(scene.key('coin vault'), coin, scene.key('authority'), 0n)
  const quoteVault = runtime.hold(scene.key('quote vault'), SOL, scene.key('authority'), 0n)
  const pair: Pair = { address, tokens: [coin, SOL], vaults: [vault, quoteVault] }
  const [name, symbol] = ['Bent', 'BENT']
  const accounts = [
    config,
    scene.key('authority'),
    scene.trader,
    coin.mint,
    SOL.mint,
    address,
    vault,
    quoteVault,
    scene.trader,
  ]
  const words = [borsh.text(name), borsh.text(symbol), borsh.text('ipfs://bent')]
  runtime.call(DBC, accounts, callBytes('initialize_virtual_pool_with_spl_token', ...words), () => {
    runtime.mintTo(coin, vault, SUPPLY, scene.key('authority'))
    const fields = [keys(address, config, scene.trader, coin.mint), borsh.u8(0), u64s(1n)]
    runtime.emit(eventBytes('EvtInitializePool', ...fields))
    scene.expected.push({ type: 'token', token: coin.mint, name, symbol, decimals: coin.decimals })
    expectLaunch(scene, 'meteoradbc', pair, 'created', 0)
    scene.expectLiquidity('meteoradbc', pair, 'create', [SUPPLY, 0n], { reserve0: `${SUPPLY}`, reserve1: '0' })
  })
}

function expectLaunch(
  { expected }: Scene,
  platform: string,
  { address, tokens }: Pair,
  stage: 'created' | 'curve',
  progress: number,
): void {
  expected.push({ type: 'launch', token: tokens[0].mint, platform, stage, progress, pool: address })
}
