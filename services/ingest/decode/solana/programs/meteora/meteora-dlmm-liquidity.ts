/** Liquidity of Meteora's DLMM: positions, limit orders (held in the same reserves) and claimed fees. */

import { BadInstruction } from '../../decode-errors.js'
import { accountAt, instructionDiscriminator } from '../../instruction/read-instruction.js'
import {
  type Call,
  expectPool,
  feesPaid,
  liquidityThrough,
  type Pair,
  reservesAfter,
  type VaultPool,
} from '../../instruction/vault-pool.js'
import { netInto, transfersIn } from '../../instruction/vaults.js'
import { isDerived } from '../../keys/derived-address.js'
import { TOKEN_2022 } from '../../native-programs.js'
import type { Pool, VenueEvent } from '../../program-decoder.js'
import type { SolanaTransaction } from '../../transaction.js'
import {
  type DlmmLiquidity,
  dlmmAdded,
  dlmmOrderCancelled,
  dlmmOrderPlaced,
  dlmmRebalanced,
  dlmmRemoved,
} from './meteora-dlmm-events.js'

/** Account indexes. Where X and Y come in pairs, the index is X's and Y is next. */
type FeePlaces = { pool: number; vaults: number; mints: number; sender: number }
type Places = FeePlaces & { accounts: number; tokenPrograms: number }

/** One-sided deposits do not name the other token. */
type OneSided = { pool: number; account: number; vault: number; mint: number; sender: number; tokenProgram: number }

type Decode = (call: Call) => VenueEvent[]

const POSITION: Places = { pool: 1, accounts: 3, vaults: 5, mints: 7, sender: 11, tokenPrograms: 12 }
const POSITION_2: Places = { ...POSITION, sender: 9, tokenPrograms: 10 }
const REBALANCE: Places = { ...POSITION, sender: 9, tokenPrograms: 11 }
const ORDER: Places = { pool: 0, accounts: 7, vaults: 2, mints: 4, sender: 9, tokenPrograms: 10 }
const FEE: FeePlaces = { pool: 0, vaults: 5, mints: 9, sender: 4 }
const FEE_2: FeePlaces = { pool: 0, vaults: 3, mints: 7, sender: 2 }
const PROTOCOL_FEE: FeePlaces = { pool: 0, vaults: 1, mints: 3, sender: 8 }
const ONE_SIDED: OneSided = { pool: 1, account: 3, vault: 4, mint: 5, sender: 8, tokenProgram: 9 }
const ONE_SIDED_2: OneSided = { ...ONE_SIDED, sender: 6, tokenProgram: 7 }
const PLACED: OneSided = { pool: 0, account: 7, vault: 2, mint: 3, sender: 8, tokenProgram: 9 }

const DECODERS = new Map<string, Decode>(
  Object.entries<Decode>({
    add_liquidity: (call) => add(call, POSITION),
    add_liquidity_by_strategy: (call) => add(call, POSITION),
    add_liquidity_by_weight: (call) => add(call, POSITION),
    add_liquidity2: (call) => add(call, POSITION_2),
    add_liquidity_by_strategy2: (call) => add(call, POSITION_2),
    add_liquidity_by_weight2: (call) => add(call, POSITION_2),
    add_liquidity_one_side: (call) => addOneSided(call, ONE_SIDED, dlmmAdded(call.instruction)),
    add_liquidity_by_strategy_one_side: (call) => addOneSided(call, ONE_SIDED, dlmmAdded(call.instruction)),
    add_liquidity_one_side_precise: (call) => addOneSided(call, ONE_SIDED, dlmmAdded(call.instruction)),
    add_liquidity_one_side_precise2: (call) => addOneSided(call, ONE_SIDED_2, dlmmAdded(call.instruction)),
    place_limit_order: (call) => addOneSided(call, PLACED, dlmmOrderPlaced(call.instruction)),
    remove_liquidity: (call) => remove(call, POSITION, dlmmRemoved(call.instruction)),
    remove_all_liquidity: (call) => remove(call, POSITION, dlmmRemoved(call.instruction)),
    remove_liquidity_by_range: (call) => remove(call, POSITION, dlmmRemoved(call.instruction)),
    remove_liquidity2: (call) => remove(call, POSITION_2, dlmmRemoved(call.instruction)),
    remove_liquidity_by_range2: (call) => remove(call, POSITION_2, dlmmRemoved(call.instruction)),
    cancel_limit_order: (call) => remove(call, ORDER, dlmmOrderCancelled(call.instruction)),
    rebalance_liquidity: rebalance,
    claim_fee: (call) => payFees(call, FEE),
    claim_fee2: (call) => payFees(call, FEE_2),
    withdraw_protocol_fee: (call) => payFees(call, PROTOCOL_FEE),
  }).map(([name, decode]) => [instructionDiscriminator(name), decode]),
)

export function dlmmLiquidity(discriminator: string, call: Call): VenueEvent[] {
  return DECODERS.get(discriminator)?.(call) ?? []
}

export function dlmmPool(pool: string, token0: string, token1: string): Pool {
  return { pool, amm: 'meteora', token0, token1, fee: null, creator: null }
}

function reservesOf({ instruction }: Call, { pool, vaults, mints }: FeePlaces): Omit<VaultPool, 'tokenPrograms'> {
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  return {
    pool: dlmmPool(at(pool, 'the pair'), at(mints, 'the mint of X'), at(mints + 1, 'the mint of Y')),
    vaults: [at(vaults, 'the reserve of X'), at(vaults + 1, 'the reserve of Y')],
  }
}

function vaultPool(call: Call, places: Places): VaultPool {
  const at = (place: number) => accountAt(call.instruction, place, 'a token program')
  return { ...reservesOf(call, places), tokenPrograms: [at(places.tokenPrograms), at(places.tokenPrograms + 1)] }
}

function payFees(call: Call, places: FeePlaces): VenueEvent[] {
  return feesPaid(call, reservesOf(call, places), accountAt(call.instruction, places.sender, 'the sender'))
}

function provider({ instruction }: Call, places: Places): { sender: string; accounts: Pair<string> } {
  const at = (place: number) => accountAt(instruction, place, "the provider's account")
  return { sender: at(places.sender), accounts: [at(places.accounts), at(places.accounts + 1)] }
}

function add(call: Call, places: Places): VenueEvent[] {
  const [at, reported] = [vaultPool(call, places), dlmmAdded(call.instruction)]
  expectPool(call.instruction, at.pool.pool, reported.pool)
  return liquidityThrough(call, at, {
    ...provider(call, places),
    change: 'add',
    amounts: reported.amounts,
    reserves: null,
  })
}

/** Removing from an empty position emits no event. */
function remove(call: Call, places: Places, reported: DlmmLiquidity | null): VenueEvent[] {
  const at = vaultPool(call, places)
  if (reported !== null) expectPool(call.instruction, at.pool.pool, reported.pool)
  const amounts = reported?.amounts ?? ([0n, 0n] as const)
  return liquidityThrough(call, at, { ...provider(call, places), change: 'remove', amounts, reserves: null })
}

function addOneSided(call: Call, places: OneSided, reported: DlmmLiquidity): VenueEvent[] {
  const { instruction, transaction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const [account, vault, mint] = [
    at(places.account, 'the account'),
    at(places.vault, 'the reserve'),
    at(places.mint, 'the mint'),
  ]
  const pool = at(places.pool, 'the pair')
  expectPool(instruction, pool, reported.pool)
  if (reported.amounts[0] === 0n && reported.amounts[1] === 0n) return []
  const other = otherReserve(transaction, pool, vault, instruction.programId)
  if (other === null) {
    const detail = `the pair ${pool} has another token besides ${mint}, which nothing in the transaction names`
    throw new BadInstruction(instruction, 'amounts_unknown', detail)
  }
  const sorted = <T>(own: T, others: T): Pair<T> => (reported.amounts[0] > 0n ? [own, others] : [others, own])
  const tokenProgram = at(places.tokenProgram, 'the token program')
  return liquidityThrough(
    call,
    {
      pool: dlmmPool(pool, ...sorted(mint, other.mint)),
      vaults: sorted(vault, other.account),
      tokenPrograms: [tokenProgram, tokenProgram],
    },
    {
      ...{ change: 'add', amounts: reported.amounts, reserves: null },
      sender: at(places.sender, 'the sender'),
      accounts: sorted(account, other.account),
    },
  )
}

/** A pair owns its reserves, and the transaction often touches both. It also owns reward vaults, whose addresses are derived differently. */
function otherReserve({ preTokens, postTokens }: SolanaTransaction, pool: string, reserve: string, programId: string) {
  for (const tokens of [postTokens, preTokens])
    for (const [account, { owner, mint }] of tokens)
      if (owner === pool && account !== reserve && isDerived(account, [pool, mint], programId)) return { account, mint }
  return null
}

/** Transfers are netted: removed and added liquidity, and fees if they are claimed along with it. */
function rebalance(call: Call): VenueEvent[] {
  const { instruction } = call
  const { pool, vaults, tokenPrograms } = vaultPool(call, REBALANCE)
  const { withdrawn, added, fees, pool: reportedPool } = dlmmRebalanced(instruction)
  expectPool(instruction, pool.pool, reportedPool)
  const transfers = transfersIn(instruction)
  for (const side of [0, 1] as const) {
    const [reported, net] = [added[side] - withdrawn[side], netInto(transfers, vaults[side])]
    if (net === reported || net === reported - fees[side] || tokenPrograms[side] === TOKEN_2022) continue
    const detail = `the reserve of token${side} changed by ${reported} (or ${fees[side]} less) in the event and by ${net} in the transfers`
    throw new BadInstruction(instruction, 'disagreement', detail)
  }
  const sender = accountAt(instruction, REBALANCE.sender, 'the owner')
  const reserves = reservesAfter(call, vaults, null)
  const step = (change: 'add' | 'remove', [amount0, amount1]: Pair<bigint>): VenueEvent[] =>
    amount0 === 0n && amount1 === 0n
      ? []
      : [{ kind: 'liquidity', instruction, pool, change, sender, amount0, amount1, ...reserves }]
  const steps = [...step('remove', withdrawn), ...step('add', added)]
  return steps.length > 0 ? steps : feesPaid(call, { pool, vaults }, sender)
}
