/**
 * A pool that is its own contract and has two tokens: its own views, and whether its factory confirms it.
 * Anybody can deploy a contract that names a famous factory; only the factory's answer proves the pool.
 */
import { ZERO_ADDRESS } from '../../../core/domain/chains.js'
import { selectorOf } from './abi/keccak.js'
import { type Answer, answeredAddress, callOf } from './abi/view-calls.js'
import type { Call, ChainContracts, Reading, Refusal } from './protocol.js'
import type { Venue } from './venue.js'

const FACTORY = selectorOf('factory()')
const TOKEN0 = selectorOf('token0()')
const TOKEN1 = selectorOf('token1()')

export type Tokens = readonly [string, string]

/** Facts only the pool knows: `facts` of the protocol, `fee` in hundredths of a basis point. */
export type PoolFacts = { fee: number | null; facts?: NonNullable<Venue['facts']> }

export type PoolKind = {
  protocol: string
  /** Exchange name of a configured pool whose factory is unknown. */
  forkAmm: string
  /** Selectors of views without arguments, called together with the token views. */
  asks: readonly string[]
  /** Null: not a pool of this protocol. `answers` in the order of `asks`. */
  factsOf(answers: readonly Answer[]): PoolFacts | null
  /** Calls that ask the factory for this pool, under every function name it may use: one must return the pool's address. */
  confirm(factory: string, tokens: Tokens, facts: PoolFacts): readonly Call[]
}

export function* describePool(pool: string, kind: PoolKind, chain: ChainContracts): Reading<Venue | Refusal> {
  const [factoryAnswer, token0, token1, ...answers] = yield [FACTORY, TOKEN0, TOKEN1, ...kind.asks].map((selector) =>
    callOf(pool, selector),
  )
  const tokens = tokensOf(answeredAddress(token0), answeredAddress(token1))
  if (tokens === null) return { refused: 'it does not return two different tokens' }
  const facts = kind.factsOf(answers)
  if (facts === null) return { refused: `it does not answer like a ${kind.protocol} pool` }
  const factory = answeredAddress(factoryAnswer)
  const known = factory === null ? undefined : chain.contracts.get(factory)
  if (known !== undefined && known.protocol !== kind.protocol)
    return { refused: `its factory belongs to ${known.protocol}` }

  if (known !== undefined) {
    const confirmed = yield kind.confirm(known.address, tokens, facts)
    if (confirmed.some((answer) => answeredAddress(answer) === pool)) {
      return venueOf(pool, kind.protocol, known.amm, tokens, { ...facts, fee: facts.fee ?? known.fee ?? null })
    }
  }
  if (chain.named.has(pool)) return venueOf(pool, kind.protocol, kind.forkAmm, tokens, facts)
  return {
    refused:
      known === undefined
        ? factory === null
          ? 'it does not return its factory'
          : `its factory ${factory} is unknown`
        : `its factory ${known.address} does not confirm it`,
  }
}

/** Null if they are not two different tokens. */
export function tokensOf(token0: string | null, token1: string | null): Tokens | null {
  if (token0 === null || token1 === null || token0 === token1) return null
  return token0 === ZERO_ADDRESS || token1 === ZERO_ADDRESS ? null : [token0, token1]
}

export function venueOf(pool: string, protocol: string, amm: string, tokens: Tokens, facts: PoolFacts): Venue {
  return {
    id: pool,
    protocol,
    amm,
    tokens,
    fee: facts.fee,
    creator: null,
    ...(facts.facts === undefined ? {} : { facts: facts.facts }),
  }
}
