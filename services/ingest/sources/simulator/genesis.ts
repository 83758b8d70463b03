/** The first block of a market: its money, its tokens with their holders, its pools. */
import { describeRisk, describeToken, PROJECTS, type Project } from './describe-token.js'
import { openPool } from './liquidity.js'
import { newToken, type Pool, rawOf, SLOT, type Token } from './market-state.js'
import type { Stage } from './stage.js'
import { type MoneyFacts, moneyOf } from './venues.js'

const VOLATILITY = { native: 1e-4, major: 8e-5, stable: 1.5e-6, token: 2.5e-4 }
/** Share of a pool's value per day. */
const TURNOVER = 0.3
const DAY_S = 86_400
const TOKENS = 30
const HOLDERS = 60
const DEEPEST_USD = 24_000_000
const SHALLOWEST_USD = 20_000

/** The native coin against the anchor is first: it is the flagship. */
export function openMarket(stage: Stage): void {
  const { state, facts, writer, venue } = stage
  const { native, anchor, stables, majors } = moneyOf(facts)
  writer.transaction()
  const coin = introduceMoney(stage, native, VOLATILITY.native)
  const dollar = introduceMoney(stage, anchor, 0)
  const pegged = stables.map((facts) => introduceMoney(stage, facts, VOLATILITY.stable))
  const large = majors.map((facts) => introduceMoney(stage, facts, VOLATILITY.major))
  state.native = coin
  state.anchor = dollar
  const [first, second] = venue.amms
  const open = (base: Token, quote: Token, amm: string, millionUsd: number) =>
    openAt(stage, { base, quote, amm, usd: millionUsd * 1e6 * venue.depth, turnover: TURNOVER })
  open(coin, dollar, first.name, 40)
  state.leaders.push(open(coin, dollar, second.name, 12))
  pegged.forEach((stable, n) => {
    const pair = open(coin, stable, n % 2 === 0 ? first.name : second.name, 16 / (n + 1))
    const peg = open(stable, dollar, first.name, 8 / (n + 1))
    if (n === 0) state.leaders.push(pair, peg)
    open(stable, dollar, second.name, 4 / (n + 1))
    const other = pegged[n + 1]
    if (other !== undefined) open(stable, other, first.name, 2)
  })
  for (const major of large) {
    open(major, coin, first.name, 10)
    open(major, dollar, second.name, 5)
  }
  openTokens(stage, [coin, dollar, ...pegged])
}

function introduceMoney(stage: Stage, facts: MoneyFacts, volatility: number): Token {
  const supply = BigInt(facts.supply) * 10n ** BigInt(facts.decimals)
  const token = newToken({ ...facts, supply }, facts.usd)
  token.volatility = volatility
  describeToken(stage, token)
  stage.ledger.change(token, SLOT.exchange, supply)
  stage.state.tokens.push(token)
  return token
}

type Opening = { base: Token; quote: Token; amm: string; usd: number; turnover: number; weight?: number }

/** Half of its value on each side; the tokens come from the exchange. */
function openAt(stage: Stage, { base, quote, amm, usd, turnover, weight = Math.sqrt(usd) }: Opening): Pool {
  const { ledger, writer, random } = stage
  const provider = random.int(SLOT.firstTrader, SLOT.firstPassing - 1)
  const baseRaw = rawOf(base, usd / 2 / base.fairUsd)
  const quoteRaw = rawOf(quote, usd / 2 / quote.fairUsd)
  ledger.change(base, SLOT.exchange, -baseRaw)
  ledger.change(quote, SLOT.exchange, -quoteRaw)
  writer.transaction()
  const usdPerS = (usd * turnover) / DAY_S
  return openPool(stage, { base, quote, amm, baseRaw, quoteRaw, provider, weight, usdPerS })
}

function openTokens(stage: Stage, quotes: readonly Token[]): void {
  const { state, random, venue } = stage
  const [coin = state.native, ...dollars] = quotes
  const projects = shuffled(stage, PROJECTS).slice(0, TOKENS)
  const [first, second] = venue.amms
  const opened = projects.map((project, rank) => {
    const usd = depthOfRank(rank) * venue.depth
    const token = introduceProject(stage, project, rank, usd)
    const quote = rank % 4 === 3 ? random.pick(dollars) : coin
    const turnover = 0.3 + 0.5 * random.next()
    const pool = openAt(stage, { base: token, quote, amm: random.pick(venue.amms).name, usd, turnover })
    if (rank % 5 === 0)
      openAt(stage, { base: token, quote, amm: otherThan(pool.amm, venue.amms), usd: usd * 0.4, turnover })
    if (rank % 10 === 0)
      openAt(stage, {
        base: token,
        quote: random.pick(dollars),
        amm: random.pick(venue.amms).name,
        usd: usd * 0.2,
        turnover,
      })
    return { token, pool, usd }
  })
  state.leaders.push(...opened.slice(0, 2).map(({ pool }) => pool))
  const [rival, , , , lively, quiet, hollow] = opened.slice(3)
  if (rival === undefined || lively === undefined || quiet === undefined || hollow === undefined)
    throw new Error('Too few token names for a market')
  const amm = otherThan(rival.pool.amm, [first, second])
  const challenger = { base: rival.token, quote: rival.pool.quote, amm, usd: rival.usd * 0.7, turnover: 0.5 }
  state.rivals = { first: rival.pool, second: openAt(stage, challenger), movedMs: stage.timeMs, restMs: 60_000 }
  // Neither is a money token: its trades are priced through the quote's main pair.
  openAt(stage, { base: quiet.token, quote: lively.token, amm: first.name, usd: 90_000, turnover: 0.2, weight: 60 })
  const emptied = { base: hollow.token, quote: hollow.pool.quote, amm: otherThan(hollow.pool.amm, venue.amms), usd: 80 }
  state.hollow = openAt(stage, { ...emptied, turnover: 0, weight: 0 })
}

/** From tens of millions down to tens of thousands, falling by a fixed factor. */
function depthOfRank(rank: number): number {
  let usd = DEEPEST_USD
  for (let step = 0; step < rank; step += 1) usd *= 0.785
  return Math.max(SHALLOWEST_USD * 1.8, usd)
}

const DECIMALS = { evm: [18, 18, 9, 8, 6], solana: [6, 9, 6, 8, 5] }

function introduceProject(stage: Stage, project: Project, rank: number, poolUsd: number): Token {
  const { random, facts, state, book, ledger, writer } = stage
  const decimals = DECIMALS[facts.family][rank % 5] ?? 18
  const whole = random.pick([1e7, 1e8, 1e9, 21e6, 1e12, 1e11])
  const supply = BigInt(whole) * 10n ** BigInt(decimals)
  const valueUsd = poolUsd * (4 + 12 * random.next())
  const token = newToken({ address: book('token', state.nextToken++), ...project, decimals, supply }, valueUsd / whole)
  token.volatility = VOLATILITY.token * (0.6 + 1.6 * random.next())
  token.beta = 0.8
  state.tokens.push(token)
  writer.transaction()
  describeToken(stage, token)
  const burned = rank % 6 === 2 ? supply / BigInt(random.int(4, 30)) : 0n
  const creator = random.int(SLOT.firstTrader, SLOT.firstPassing - 1)
  const creatorAddress = ledger.walletAddress(creator)
  const riskScore = rank < 8 ? random.int(3, 19) : random.int(15, 70)
  describeRisk(stage, token, {
    creator: creatorAddress,
    owner: rank % 3 === 0 ? null : creatorAddress,
    riskScore,
    burned,
  })
  distribute(stage, token, creator, burned)
  return token
}

/** All tokens go to the exchange, then some to the creator, the burn address and holders: few large, many small. */
function distribute({ ledger, random }: Stage, token: Token, creator: number, burned: bigint): void {
  ledger.change(token, SLOT.exchange, token.supply)
  const give = (slot: number, amount: bigint) => {
    ledger.change(token, SLOT.exchange, -amount)
    ledger.change(token, slot, amount)
  }
  if (burned > 0n) give(SLOT.burn, burned)
  give(creator, token.supply / BigInt(random.int(12, 40)))
  for (let rank = 1; rank <= HOLDERS; rank += 1) {
    const slot = random.int(SLOT.firstTrader, SLOT.end - 1)
    give(slot, token.supply / BigInt(20 * rank + random.int(0, 20)))
  }
}

function shuffled<T>({ random }: Stage, items: readonly T[]): T[] {
  const mixed = [...items]
  for (let at = mixed.length - 1; at > 0; at -= 1) {
    const other = random.int(0, at)
    const [left, right] = [mixed[at], mixed[other]]
    if (left === undefined || right === undefined) continue
    mixed[at] = right
    mixed[other] = left
  }
  return mixed
}

function otherThan(name: string, amms: readonly { name: string }[]): string {
  return amms.find((amm) => amm.name !== name)?.name ?? name
}
