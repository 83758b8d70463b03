/** Meteora's DAMM v1, pools over its dynamic vaults (its IDL, `amm` 0.5.3, in npm's `@meteora-ag/dynamic-amm-sdk`). */
import { discriminatorOf, instructionDiscriminator } from '../../instruction/anchor.js'
import { accountAt } from '../../instruction/read-instruction.js'
import { type Call, expectSame, liquidityThrough, type Pair } from '../../instruction/vault-pool.js'
import { mintOf, ownerOf, transfersIn } from '../../instruction/vaults.js'
import { TOKEN } from '../../native-programs.js'
import { BadInstruction, type Happening, type Pool, type Program } from '../../program.js'
import type { Transfer } from '../../transaction.js'
import { DAMM_V1_CREATIONS, dammV1Creation } from './meteora-damm-v1-creation.js'
import { type DammV1Liquidity, dammV1Added, dammV1Removed, dammV1Swap } from './meteora-damm-v1-events.js'
import { vaultReserves } from './meteora-vault-share.js'

/** Places of accounts; of those that come in pairs, that of A, which B follows. */
type Places = { vaults: number; shares: number }

const SWAP: Places = { vaults: 5, shares: 9 }
const LIQUIDITY: Places = { vaults: 9, shares: 3 }
const CLAIM: Places = { vaults: 7, shares: 11 }

type Decode = (call: Call) => Happening[]

const DECODERS = new Map<string, Decode>(
  Object.entries<Decode>({
    swap,
    add_balance_liquidity: (call) => changeLiquidity(call, 'add', 12, 13, dammV1Added(call.instruction)),
    add_imbalance_liquidity: (call) => changeLiquidity(call, 'add', 12, 13, dammV1Added(call.instruction)),
    bootstrap_liquidity: (call) => changeLiquidity(call, 'add', 12, 13, dammV1Added(call.instruction)),
    remove_balance_liquidity: (call) => changeLiquidity(call, 'remove', 12, 13, dammV1Removed(call.instruction)),
    remove_liquidity_single_side: (call) => changeLiquidity(call, 'remove', 11, 12, dammV1Removed(call.instruction)),
    claim_fee: claimFee,
  }).map(([name, decode]) => [instructionDiscriminator(name), decode]),
)

export const meteoraDammV1: Program = {
  name: 'meteora-damm-v1',
  programIds: ['Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB'],
  decode(instruction, transaction) {
    const discriminator = discriminatorOf(instruction.data)
    if (discriminator === null) return []
    const [call, places] = [{ instruction, transaction }, DAMM_V1_CREATIONS.get(discriminator)]
    return places === undefined ? (DECODERS.get(discriminator)?.(call) ?? []) : dammV1Creation(call, places)
  },
}

type PoolAccounts = { pool: Pool; vaults: Pair<string>; shares: Pair<string>; reserves: Pair<bigint | null> }

/** Mints are not among the accounts: the vaults' balances tell them. */
function poolAt(call: Call, places: Places): PoolAccounts {
  const { instruction, transaction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const vaults = [at(places.vaults, 'the vault of A'), at(places.vaults + 1, 'the vault of B')] as const
  const shares = [at(places.shares, 'the shares of A'), at(places.shares + 1, 'the shares of B')] as const
  const [token0, token1] = [mintOf(transaction, vaults[0]), mintOf(transaction, vaults[1])]
  if (token0 === null || token1 === null)
    throw new BadInstruction(instruction, 'amounts_unknown', `no balance tells the mint of ${vaults.join(' or ')}`)
  return {
    pool: { pool: at(0, 'the pool'), amm: 'meteoradamm', token0, token1, fee: null, creator: null },
    vaults,
    shares,
    reserves: vaultReserves(call, shares),
  }
}

/** The trader pays the protocol's part and the host's beside the vault's; the amount in is all of it. */
function swap(call: Call): Happening[] {
  const { instruction, transaction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const { pool, vaults, shares, reserves } = poolAt(call, SWAP)
  const [source, destination, sender] = [
    at(1, 'the account it sells from'),
    at(2, 'the account it buys to'),
    at(12, 'the user'),
  ]
  const transfers = transfersIn(instruction)
  const isAIn = transfers.some((transfer) => transfer.source === source && transfer.destination === vaults[0])
  const sideIn = isAIn ? 0 : 1
  const amountIn = sum(transfers, (transfer) => transfer.source === source)
  const paying = vaults[isAIn ? 1 : 0]
  const amountOut = sum(transfers, (transfer) => transfer.source === paying && transfer.destination === destination)
  const told = dammV1Swap(instruction)
  if (told !== null) {
    const deposited = sum(transfers, (each) => each.source === source && each.destination === vaults[sideIn])
    const minted = sum(transfers, (each) => each.destination === shares[sideIn])
    if (!isRoundedDown(told.amountIn, { amountIn, deposited, minted }))
      expectSame(instruction, 'the amount in', told.amountIn, amountIn)
    expectSame(instruction, 'the amount out', told.amountOut, amountOut)
  }
  if (amountIn === 0n && amountOut === 0n) return []
  const [tokenIn, tokenOut] = isAIn ? [pool.token0, pool.token1] : [pool.token1, pool.token0]
  return [
    {
      ...{ kind: 'swap', instruction, pool, sender, recipient: ownerOf(transaction, destination) ?? sender },
      ...{ tokenIn, amountIn, tokenOut, amountOut, sqrtPrice: null },
      ...{ reserve0: reserves[0], reserve1: reserves[1] },
    },
  ]
}

/**
 * The event's amount in is what the pool's shares of the vault gained, rounded down twice: by the deposit to whole shares, then by their worth to whole
 * tokens (`calculateSwapQuote` of the SDK). So it may fall short of what was transferred by less than a share's worth and one token.
 */
function isRoundedDown(
  toldIn: bigint,
  { amountIn, deposited, minted }: { amountIn: bigint; deposited: bigint; minted: bigint },
): boolean {
  const shortfall = amountIn - toldIn
  // A share is worth at most `deposited / minted`.
  return shortfall >= 0n && shortfall <= deposited && shortfall * minted < deposited + minted
}

/** `accountB`: the place of the provider's account of B, after that of A; where all leaves by one side there is but one account. */
function changeLiquidity(
  call: Call,
  change: 'add' | 'remove',
  accountB: number,
  user: number,
  told: DammV1Liquidity | null,
): Happening[] {
  const { instruction } = call
  const at = (place: number, what: string) => accountAt(instruction, place, what)
  const { pool, vaults, reserves } = poolAt(call, LIQUIDITY)
  const accounts = [at(11, "the provider's account of A"), at(accountB, "the provider's account of B")] as const
  const transfers = transfersIn(instruction)
  const moved = (side: 0 | 1): bigint =>
    sum(transfers, ({ source, destination }) => {
      const [from, to] = change === 'add' ? [accounts[side], vaults[side]] : [vaults[side], accounts[side]]
      return source === from && destination === to
    })
  return liquidityThrough(
    call,
    { pool, vaults, tokenPrograms: [TOKEN, TOKEN] },
    { change, sender: at(user, 'the user'), accounts, amounts: told?.amounts ?? [moved(0), moved(1)], reserves },
  )
}

/** Who locked shares of the pool takes what they earned out of its reserves. */
function claimFee(call: Call): Happening[] {
  const { instruction } = call
  const { pool, vaults, reserves } = poolAt(call, CLAIM)
  if (sum(transfersIn(instruction), ({ source }) => vaults.includes(source)) === 0n) return []
  return [
    {
      ...{ kind: 'liquidity', instruction, pool, change: 'remove', sender: accountAt(instruction, 3, 'the owner') },
      ...{ amount0: 0n, amount1: 0n, reserve0: reserves[0], reserve1: reserves[1] },
    },
  ]
}

function sum(transfers: readonly Transfer[], isCounted: (transfer: Transfer) => boolean): bigint {
  return transfers.reduce((total, transfer) => (isCounted(transfer) ? total + transfer.amount : total), 0n)
}
