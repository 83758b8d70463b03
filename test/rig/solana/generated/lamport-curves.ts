/**
 * Launch platforms whose curves hold SOL as lamports: Pump.fun (pump-fun/pump-public-docs, `idl/pump.json`) and Moonshot (its IDL,
 * `token_launchpad`, in npm’s `@wen-moon-ser/moonshot-sdk`). A buy sends lamports; a sale takes them from the curve’s account without a call.
 */
import { SYSTEM, TOKEN, WRAPPED_SOL } from '../../../../services/ingest/decode/solana/native-programs.js'
import { borsh, callBytes, eventBytes, keys, u64s } from '../borsh.js'
import { type Pair, type Scene, SOL } from './scene.js'

const PUMP = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'
const MOONSHOT = 'MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG'
const ASSOCIATED_TOKEN = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

/** docs/PUMP_PROGRAM_README.md: initial values of every curve. */
const PUMP_START = { virtualToken: 1_073_000_000_000_000n, virtualSol: 30_000_000_000n, forSale: 793_100_000_000_000n }
const PUMP_SUPPLY = 1_000_000_000_000_000n
const CURVE_RENT = 1_231_920n

/** How many parts the event of that version had: each version appended some. */
export type PumpVersion = 1 | 2 | 3 | 4

type Curve = { coin: ReturnType<Scene['token']>; address: string; vault: string; sold: bigint }

function pumpCurve(scene: Scene, sold: bigint): Curve {
  const [coin, address] = [scene.token('coin'), scene.key('curve')]
  const vault = scene.runtime.hold(scene.key('coin vault'), coin, address, PUMP_SUPPLY - sold)
  scene.runtime.fund(address, CURVE_RENT + raised(sold))
  scene.runtime.fund(scene.key('fee recipient'), 7_000_000_000n)
  scene.runtime.fund(scene.key('creator vault'), 1_000_000_000n)
  return { coin, address, vault, sold }
}

function raised(sold: bigint): bigint {
  const { virtualToken, virtualSol } = PUMP_START
  return (virtualToken * virtualSol) / (virtualToken - sold) - virtualSol
}

export function tradePump(scene: Scene, isBuy: boolean, version: PumpVersion): void {
  tradeCurve(scene, pumpCurve(scene, scene.amount(1e13, 6e14)), isBuy, version)
}

/** A new coin and its creator’s first buy. */
export function createPump(scene: Scene): void {
  const { runtime } = scene
  const curve = pumpCurve(scene, 0n)
  const { coin, address, vault } = curve
  const [name, symbol] = ['Generated coin', 'GENC']
  const accounts = [coin.mint, scene.key('authority'), address, vault, scene.key('global'), scene.trader, SYSTEM, TOKEN]
  const words = [borsh.text(name), borsh.text(symbol), borsh.text('https://example.com/coin.json')]
  runtime.call(PUMP, accounts, callBytes('create', ...words, borsh.key(scene.trader)), () => {
    const { virtualToken, virtualSol, forSale } = PUMP_START
    const names = keys(coin.mint, address, scene.trader, scene.trader)
    const state = u64s(1_760_000_000n, virtualToken, virtualSol, forSale, PUMP_SUPPLY)
    runtime.emit(eventBytes('CreateEvent', ...words, names, state))
  })
  scene.expected.push({ type: 'token', token: coin.mint, name, symbol, decimals: 6 })
  scene.expected.push({
    ...{ type: 'launch', token: coin.mint, platform: 'pump', stage: 'created', progress: 0, pool: address },
  })
  const pair: Pair = { address, tokens: [coin, SOL], vaults: [vault, vault] }
  const reserves = { reserve0: `${PUMP_START.forSale}`, reserve1: '0' }
  scene.expectLiquidity('pump', pair, 'create', [PUMP_START.forSale, 0n], reserves)
  tradeCurve(scene, curve, true, 4)
}

function tradeCurve(scene: Scene, { coin, address, vault, sold }: Curve, isBuy: boolean, version: PumpVersion): void {
  const { runtime, trader } = scene
  const { virtualToken, virtualSol, forSale } = PUMP_START
  const coins = (isBuy ? forSale - sold : sold) / scene.amount(50, 9_000)
  const soldAfter = isBuy ? sold + coins : sold - coins
  const lamports = isBuy ? raised(soldAfter) - raised(sold) : raised(sold) - raised(soldAfter)
  const fees = { protocol: (lamports * 95n) / 10_000n + 1n, creator: (lamports * 5n) / 10_000n + 1n }
  const own = scene.purse(coin, isBuy ? 0n : coins)
  const [recipient, creatorVault] = [scene.key('fee recipient'), scene.key('creator vault')]
  const accounts = [
    ...[scene.key('global'), recipient, coin.mint, address, vault, own, trader, SYSTEM],
    ...(isBuy ? [TOKEN, creatorVault] : [creatorVault, TOKEN]),
    ...[scene.key('events'), PUMP],
  ]
  runtime.call(PUMP, accounts, callBytes(isBuy ? 'buy' : 'sell', u64s(coins, isBuy ? lamports * 2n : 0n)), () => {
    if (isBuy) {
      runtime.transfer(vault, own, coins)
      runtime.sendLamports(trader, address, lamports)
      runtime.sendLamports(trader, recipient, fees.protocol)
      runtime.sendLamports(trader, creatorVault, fees.creator)
    } else {
      runtime.transfer(own, vault, coins)
      runtime.moveLamports(address, trader, lamports - fees.protocol - fees.creator)
      runtime.moveLamports(address, recipient, fees.protocol)
      runtime.moveLamports(address, creatorVault, fees.creator)
    }
    const state = { sol: raised(soldAfter), token: forSale - soldAfter }
    const first = [
      ...[borsh.key(coin.mint), u64s(lamports, coins), borsh.bool(isBuy), borsh.key(trader), u64s(1_760_000_000n)],
      u64s(virtualSol + state.sol, virtualToken - soldAfter),
    ]
    const parts = [
      [u64s(state.sol, state.token)],
      [borsh.key(recipient), u64s(95n, fees.protocol), borsh.key(scene.key('creator')), u64s(5n, fees.creator)],
      [
        ...[borsh.bool(true), u64s(1n, 2n, 3n, 4n), borsh.text(isBuy ? 'buy' : 'sell'), borsh.bool(false)],
        ...[u64s(0n, 0n), u64s(0n, 0n), borsh.u32(1), keys(scene.key('shareholder')), borsh.u16(10_000)],
        ...[borsh.key(SYSTEM), u64s(lamports, virtualSol + state.sol, state.sol)],
      ],
    ]
    runtime.emit(eventBytes('TradeEvent', ...first, ...parts.slice(0, version - 1).flat()))
    const [reserve0, reserve1] = [`${state.token}`, `${state.sol}`]
    const [paid, got] = isBuy ? [lamports, coins] : [coins, lamports]
    const pair: Pair = { address, tokens: [coin, SOL], vaults: [vault, vault] }
    const trade = { pair, side: isBuy ? 1 : 0, source: own, destination: own, amountIn: paid, amountOut: got } as const
    scene.expectSwap('pump', trade, got, { reserve0, reserve1 })
    scene.expected.push({ type: 'launch', token: coin.mint, platform: 'pump', stage: 'curve', pool: address })
  })
}

/** The constant-product curve of npm’s `@heliofi/launchpad-common`. */
const MOON = {
  virtualTokens: 1_073_000_000_000_000_000n,
  virtualLamports: 30_000_000_000n,
  full: 799_820_983_207_404_442n,
}
const MOON_RENT = 3_737_520n
const MOON_SUPPLY = 1_000_000_000_000_000_000n

export function tradeMoonshot(scene: Scene, isBuy: boolean): void {
  const { runtime, trader } = scene
  const raisedFor = (tokens: bigint): bigint =>
    (MOON.virtualTokens * MOON.virtualLamports) / (MOON.virtualTokens - tokens) - MOON.virtualLamports
  const [coin, curve, sold] = [scene.token('coin', 9), scene.key('curve'), scene.amount(1e9, 7e9) * 100_000_000n]
  const vault = runtime.hold(scene.key('coin vault'), coin, curve, MOON_SUPPLY - sold)
  runtime.fund(curve, MOON_RENT + raisedFor(sold))
  const [dexFee, helioFee] = [scene.key('dex fee'), scene.key('helio fee')]
  for (const account of [dexFee, helioFee]) runtime.fund(account, 3_000_000_000n)
  const coins = (isBuy ? MOON.full - sold : sold) / scene.amount(50, 5_000)
  const soldAfter = isBuy ? sold + coins : sold - coins
  const lamports = isBuy ? raisedFor(soldAfter) - raisedFor(sold) : raisedFor(sold) - raisedFor(soldAfter)
  const fees = { dex: (lamports * 8n) / 1_000n, helio: (lamports * 2n) / 1_000n }
  const own = scene.purse(coin, isBuy ? 0n : coins)
  const accounts = [
    ...[trader, own, curve, vault, dexFee, helioFee, coin.mint, scene.key('config'), TOKEN, ASSOCIATED_TOKEN, SYSTEM],
  ]
  const data = callBytes(isBuy ? 'buy' : 'sell', u64s(coins, lamports), borsh.u8(0), u64s(100n))
  runtime.call(MOONSHOT, accounts, data, () => {
    if (isBuy) {
      runtime.sendLamports(trader, curve, lamports)
      runtime.sendLamports(trader, dexFee, fees.dex)
      runtime.sendLamports(trader, helioFee, fees.helio)
      runtime.transfer(vault, own, coins)
    } else {
      runtime.transfer(own, vault, coins)
      runtime.moveLamports(curve, trader, lamports - fees.dex - fees.helio)
      runtime.moveLamports(curve, dexFee, fees.dex)
      runtime.moveLamports(curve, helioFee, fees.helio)
    }
    const amounts = u64s(coins, lamports, fees.dex, fees.helio, soldAfter)
    const fields = [amounts, keys(curve, WRAPPED_SOL, trader), borsh.u8(isBuy ? 0 : 1), borsh.text('trade')]
    runtime.logEvent(eventBytes('TradeEvent', ...fields))
    const pair: Pair = { address: curve, tokens: [coin, SOL], vaults: [vault, vault] }
    const [paid, got] = isBuy ? [lamports, coins] : [coins, lamports]
    const trade = { pair, side: isBuy ? 1 : 0, source: own, destination: own, amountIn: paid, amountOut: got } as const
    const reserves = { reserve0: `${MOON_SUPPLY - soldAfter}`, reserve1: `${raisedFor(soldAfter)}` }
    scene.expectSwap('moonshot', trade, got, reserves)
    const progress = Number((soldAfter * 1_000_000n) / MOON.full) / 1e6
    scene.expected.push({
      type: 'launch',
      token: coin.mint,
      platform: 'moonshot',
      stage: 'curve',
      progress,
      pool: curve,
    })
  })
}
