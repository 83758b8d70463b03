/** Recordings of markets full of edge cases: the same seed gives the same lines. */
import { BURN_ADDRESSES } from '../../../services/core/domain/chains.js'
import type { RecordingBlock, RecordingLine } from '../reference/lines.js'
import { acceptedBlocks } from '../reference/lines.js'
import { addressOf, hashOf } from './addresses.js'
import { familyOf } from './money.js'
import { OPENINGS, symbolsOf } from './opening.js'
import { createRandom, type Random } from './random.js'
import { scenesOf } from './scenes.js'
import { findToken, type World } from './world.js'
import { createBlockWriter } from './writer.js'

export type MarketOptions = {
  startTime?: number
  firstNumber?: number
  /** Mean; a block may have the same time as the one before. */
  secondsPerBlock?: number
  /** Mean number of scenes in a block, most of them one swap. */
  swapsPerBlock?: number
  wallets?: number
  /** 0: only ordinary swaps and liquidity after the opening; 1: the default. */
  nastiness?: number
  /** How far a block's time may lie behind the highest so far; 0: never. */
  maxTimeBackS?: number
  /** Chance at each block of a pause of over an hour, and of over a day. */
  quietHour?: number
  quietDay?: number
  retracts?: { probability: number; maxDepth: number }
}

/** `blocks`: how many stay canonical. */
export type MarketPlan = { seed: number; chain: string; blocks: number; options?: MarketOptions }

const FINALITY = 24

const DEFAULTS: Required<MarketOptions> = {
  startTime: 1_704_412_800,
  firstNumber: 1_000,
  secondsPerBlock: 12,
  swapsPerBlock: 4,
  wallets: 30,
  nastiness: 1,
  maxTimeBackS: 1800,
  quietHour: 0.006,
  quietDay: 0.002,
  retracts: { probability: 0, maxDepth: 0 },
}

export function generateRecording(plan: MarketPlan): RecordingLine[] {
  const options = { ...DEFAULTS, ...plan.options }
  const { retracts } = options
  const random = createRandom(plan.seed)
  const family = familyOf(plan.chain)
  const named = Array.from({ length: options.wallets }, (_, at) => addressOf(family, `${plan.chain}/wallet/${at}`))
  // Some held tokens are burnt.
  const wallets = [...named.slice(0, -1), ...BURN_ADDRESSES[family].slice(0, 1)]
  const lines: RecordingLine[] = []
  const snapshots: World[] = []
  let world = newWorld(plan, options)
  let fork = 0
  let finalized = 0
  /** Blocks before the next fork; without them, consecutive deep forks would make no progress. */
  let settle = 0
  while (world.height < plan.blocks) {
    const block = nextBlock(world, { random, wallets, options, fork, totalBlocks: plan.blocks })
    lines.push(block)
    finalized = Math.max(finalized, block.finalized_number)
    if (retracts.probability === 0) continue
    snapshots.push(structuredClone(world))
    if (snapshots.length > retracts.maxDepth + 1) snapshots.shift()
    settle--
    if (settle >= 0 || world.height >= plan.blocks || !random.chance(retracts.probability)) continue
    const depth = random.int(1, retracts.maxDepth)
    const stays = snapshots.at(-1 - depth)
    if (stays === undefined || stays.number < finalized) continue
    const [from_number, from_hash, to_number, to_hash] = [world.number, world.hash, stays.number, stays.hash]
    lines.push({ kind: 'retract', chain: plan.chain, from_number, from_hash, to_number, to_hash })
    snapshots.length -= depth
    world = structuredClone(stays)
    fork++
    settle = random.chance(0.5) ? depth + 1 : random.int(0, depth)
  }
  return lines
}

function newWorld({ seed, chain }: MarketPlan, options: Required<MarketOptions>): World {
  const family = familyOf(chain)
  return {
    ...{ chain, family, seed },
    ...{ number: options.firstNumber - 1, hash: hashOf(family, `${chain}/${seed}/before`) },
    ...{ time: options.startTime - options.secondsPerBlock, now: 0, height: 0 },
    ...{ tokens: new Map(), pools: [], launches: [], undescribed: [], balances: new Map() },
  }
}

type BlockPlan = {
  random: Random
  wallets: string[]
  options: Required<MarketOptions>
  fork: number
  totalBlocks: number
}

function nextBlock(world: World, { random, wallets, options, fork, totalBlocks }: BlockPlan): RecordingBlock {
  const parent_hash = world.hash
  world.number += random.chance(0.1) ? random.int(2, 3) : 1
  world.hash = hashOf(world.family, `${world.chain}/${world.seed}/${world.number}/${fork}`)
  world.time = nextTime(world, random, options)
  world.now = Math.max(world.now, world.time)
  const writer = createBlockWriter(world.family, random, world.hash)
  const stage = { world, random, writer, wallets }
  OPENINGS[world.height]?.(stage)
  if (world.height > 1) {
    moveFairPrices(world, random, totalBlocks)
    const scenes = scenesOf(options.nastiness)
    const count = random.chance(0.08) ? 0 : random.int(0, Math.round(options.swapsPerBlock * 2))
    for (let played = 0; played < count; played++) random.weighted(scenes)(stage)
  }
  world.height++
  return {
    // Both forms of a block line are valid; a reader must accept either.
    ...(random.chance(0.5) ? { kind: 'block' as const } : {}),
    chain: world.chain,
    number: world.number,
    ...{ hash: world.hash, parent_hash, time: world.time },
    finalized_number: Math.max(0, world.number - FINALITY),
    events: writer.events(),
  }
}

function nextTime(world: World, random: Random, options: Required<MarketOptions>): number {
  if (world.height > OPENINGS.length) {
    if (random.chance(options.quietDay)) return world.now + random.int(86_401, 200_000)
    if (random.chance(options.quietHour)) return world.now + random.int(3_601, 9_000)
    if (options.maxTimeBackS > 0 && random.chance(0.04)) {
      return world.now - random.int(1, random.chance(0.5) ? Math.min(90, options.maxTimeBackS) : options.maxTimeBackS)
    }
  }
  // After a short step back, time continues from there; after a long one, it returns to where it was.
  const from = world.now - world.time < 120 || random.chance(0.5) ? world.time : world.now
  return from + (random.chance(0.15) ? 0 : random.int(0, options.secondsPerBlock * 2))
}

function moveFairPrices(world: World, random: Random, totalBlocks: number): void {
  const { usd, usdt, dai } = symbolsOf(world.chain)
  for (const token of world.tokens.values()) {
    if (![usd, usdt, dai].includes(token.symbol)) token.fairUsd *= 1 + 0.004 * random.bell()
  }
  // The first stable loses its peg for the middle third and half recovers.
  const third = Math.floor((world.height * 3) / totalBlocks)
  findToken(world, usdt).fairUsd = [1, 0.8, 0.93][third] ?? 1
}

export const withoutOrphans = (lines: readonly RecordingLine[]): RecordingLine[] => acceptedBlocks(lines)

/** Every line twice in a row, then the whole recording again. */
export function deliverTwice(lines: readonly RecordingLine[]): RecordingLine[] {
  const stuttered = lines.flatMap((line) => [line, line])
  return [...stuttered, ...lines]
}
