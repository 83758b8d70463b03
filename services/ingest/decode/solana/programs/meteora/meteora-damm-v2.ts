/** Meteora's DAMM v2: constant product within a price range (its source and its IDL, `cp_amm` 0.2.5, in npm's `@meteora-ag/cp-amm-sdk`). */

import { BadInstruction } from '../../decode-errors.js'
import { accountAt, discriminatorOf, instructionDiscriminator } from '../../instruction/read-instruction.js'
import { type Call, expectPool, liquidityThrough, swapThrough, type VaultPool } from '../../instruction/vault-pool.js'
import type { Pool, Program, VenueEvent } from '../../program-decoder.js'
import type { Instruction } from '../../transaction.js'
import { dammV2Created, dammV2Liquidity, dammV2Swap } from './meteora-damm-v2-events.js'

/** Account indexes. Where A and B come in pairs, the index is A's and B is next. */
type Places = { pool: number; accounts: number; vaults: number; mints: number; sender: number; tokenPrograms: number }

const SWAP: Places = { pool: 1, accounts: 2, vaults: 4, mints: 6, sender: 8, tokenPrograms: 9 }
const ADD: Places = { pool: 0, accounts: 2, vaults: 4, mints: 6, sender: 9, tokenPrograms: 10 }
const REMOVE: Places = { pool: 1, accounts: 3, vaults: 5, mints: 7, sender: 10, tokenPrograms: 11 }
const CREATE: Places = { pool: 6, accounts: 12, vaults: 10, mints: 8, sender: 3, tokenPrograms: 14 }
const CREATE_CUSTOM: Places = { pool: 5, accounts: 11, vaults: 9, mints: 7, sender: 3, tokenPrograms: 13 }
const CREATE_DYNAMIC: Places = { pool: 7, accounts: 13, vaults: 11, mints: 9, sender: 3, tokenPrograms: 15 }

type Decode = (call: Call) => VenueEvent[]

const DECODERS = new Map<string, Decode>(
  Object.entries<Decode>({
    swap,
    swap2: swap,
    add_liquidity: (call) => changeLiquidity(call, ADD),
    remove_liquidity: (call) => changeLiquidity(call, REMOVE),
    remove_all_liquidity: (call) => changeLiquidity(call, REMOVE),
    initialize_pool: (call) => create(call, CREATE),
    initialize_customizable_pool: (call) => create(call, CREATE_CUSTOM),
    initialize_pool_with_dynamic_config: (call) => create(call, CREATE_DYNAMIC),
  }).map(([name, decode]) => [instructionDiscriminator(name), decode]),
)

export const meteoraDammV2: Program = {
  name: 'meteora-damm-v2',
  programIds: ['cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'],
  decode(instruction, transaction) {
    const discriminator = discriminatorOf(instruction.data)
    return discriminator === null ? [] : (DECODERS.get(discriminator)?.({ instruction, transaction }) ?? [])
  },
}

function vaultPool(instruction: Instruction, { pool, vaults, mints, tokenPrograms }: Places): VaultPool {
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  return {
    pool: poolOf(at(pool, 'the pool'), at(mints, 'the mint of A'), at(mints + 1, 'the mint of B')),
    vaults: [at(vaults, 'the vault of A'), at(vaults + 1, 'the vault of B')],
    tokenPrograms: [at(tokenPrograms, 'the token program of A'), at(tokenPrograms + 1, 'the token program of B')],
  }
}

function poolOf(pool: string, token0: string, token1: string): Pool {
  return { pool, amm: 'meteoradammv2', token0, token1, fee: null, creator: null }
}

function swap(call: Call): VenueEvent[] {
  const { instruction } = call
  const at = vaultPool(instruction, SWAP)
  const account = (place: number, what: string) => accountAt(instruction, place, what)
  const reported = dammV2Swap(instruction)
  expectPool(instruction, at.pool.pool, reported.pool)
  return swapThrough(
    call,
    at,
    {
      sender: account(SWAP.sender, 'the payer'),
      source: account(SWAP.accounts, 'the account it sells from'),
      destination: account(SWAP.accounts + 1, 'the account it buys to'),
    },
    { ...reported, isZeroIn: reported.isAIn, sqrtPrice: reported.nextSqrtPrice },
  )
}

function changeLiquidity(call: Call, places: Places): VenueEvent[] {
  const { instruction } = call
  const [at, reported] = [vaultPool(instruction, places), dammV2Liquidity(instruction)]
  expectPool(instruction, at.pool.pool, reported.pool)
  if (reported.isAdded !== (places === ADD)) {
    const detail = `the instruction ${reported.isAdded ? 'removes' : 'adds'} liquidity, the event ${reported.isAdded ? 'adds' : 'removes'} it`
    throw new BadInstruction(instruction, 'disagreement', detail)
  }
  return liquidityThrough(call, at, {
    ...{ change: reported.isAdded ? 'add' : 'remove', amounts: reported.amounts, reserves: reported.reserves },
    ...provider(instruction, places),
  })
}

/** A pool is created together with its first position. */
function create(call: Call, places: Places): VenueEvent[] {
  const { instruction } = call
  const [at, reported] = [vaultPool(instruction, places), dammV2Created(instruction)]
  const { pool, token0, token1 } = at.pool
  expectPool(instruction, pool, reported.pool)
  expectPool(instruction, token0, reported.tokens[0])
  expectPool(instruction, token1, reported.tokens[1])
  const described = { ...at.pool, fee: reported.fee, creator: reported.creator }
  return [
    { kind: 'pool', instruction, pool: described },
    ...liquidityThrough(
      call,
      { ...at, pool: described },
      { ...provider(instruction, places), change: 'create', amounts: reported.amounts, reserves: null },
    ),
  ]
}

function provider(instruction: Instruction, { sender, accounts }: Places) {
  const at = (place: number) => accountAt(instruction, place, "the provider's account")
  return { sender: at(sender), accounts: [at(accounts), at(accounts + 1)] as const }
}
