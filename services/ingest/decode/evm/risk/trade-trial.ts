/** A purchase, a sale and a transfer in one `eth_call`, by `Trial` of trade-trial.sol: the request, and its answer. */
import { hashOfHex, selectorOf } from '../abi/keccak.js'
import { addressWord, answeredUint, boolWord, intWord, uintWord } from '../abi/view-calls.js'
import { TRIAL_CODE } from './trade-trial-code.js'

/** Where a token is tried. `reserves`: raw, of the quote and of the token. */
export type TrialPool = {
  pool: string
  quote: string
  /** Hundredths of a basis point; null: unknown. */
  fee: number | null
  quoteReserve: bigint
  tokenReserve: bigint
} & TrialVenue

/** How it is traded with. `manager`, `vault`: who holds the tokens of the pool. */
export type TrialVenue =
  | { kind: 'v2' | 'solidly' | 'v3' }
  | { kind: 'v4'; manager: string; keyFee: number; tickSpacing: number; hooks: string; isNative: boolean }
  | { kind: 'curve'; tokenPlace: number; quotePlace: number }
  | { kind: 'balancer'; vault: string; poolId: string }
  | { kind: 'balancer-v3'; vault: string }

/**
 * `trade`: buy, sell half, transfer a quarter, sell all. `sell` and `transfer`: the same alone, of tokens that storage says
 * the trader has. `large`: a purchase of a large part of the pool, then sell all.
 */
export type TrialMode = 'trade' | 'sell' | 'transfer' | 'large'

/** What `eth_call` takes: the call, and the accounts whose code or storage are replaced for it. */
export type TrialCall = {
  call: { from: string; to: string; data: string }
  overrides: Record<string, { code?: string; balance?: string; stateDiff?: Record<string, string> }>
}

export type TrialFindings = {
  isFunded: boolean
  bought: boolean
  transferred: boolean
  approved: boolean
  sold: boolean
  soldAll: boolean
  /** The first half of a sale worked: the tokens reached the pool. */
  paid: boolean
  sentByPool: bigint
  received: bigint
  transferSent: bigint
  transferArrived: bigint
  transferLeft: bigint
  sellSent: bigint
  sellArrived: bigint
  buyGas: number
  transferGas: number
  approveGas: number
  sellGas: number
  /** What was left to sell at the end. */
  rest: bigint
}

const PLAN = [
  ...['address', 'address', 'address', 'uint256', 'uint256', 'uint256', 'uint256', 'uint256', 'bytes32', 'address'],
  ...['bytes32', 'int24', 'address', 'bool', 'uint256', 'uint256'],
]
const RUN = selectorOf(`run((${PLAN.join()}))`)
/** The creation code of `Trader` ends the code of `Trial`. */
const TRADER_BYTES = 4_340
const TRADER_HASH = hashOfHex(TRIAL_CODE.slice(-TRADER_BYTES * 2)).slice(2)
const KINDS: readonly TrialPool['kind'][] = ['v2', 'solidly', 'v3', 'v4', 'curve', 'balancer', 'balancer-v3']
const MODES: readonly TrialMode[] = ['trade', 'sell', 'transfer', 'large']
const DEFAULT_FEE = 3_000
/** Of the pool's quote side: enough to measure taxes, too little to move the price. */
const SMALL_PART = 1_000n
const [LARGE_PART, LARGE_OF] = [3n, 10n]
/** Below this, rounding would look like a tax. */
const LEAST_RAW = 10_000_000n

export function isDeepEnough({ quoteReserve, tokenReserve }: TrialPool): boolean {
  return quoteReserve >= LEAST_RAW && tokenReserve >= LEAST_RAW
}

/** `seed`: a hash nobody could know when the token's contract was last changed, such as that of the block. */
export function trialCall(token: string, pool: TrialPool, mode: TrialMode, seed: string): TrialCall {
  const place = (name: number): string => `0x${hashOfHex(seed.slice(2) + uintWord(name)).slice(26)}`
  const [trial, from, receiver] = [place(1), place(2), place(3)]
  const salt = seed.slice(2)
  const amount = pool.quoteReserve / SMALL_PART
  const large = (pool.quoteReserve * LARGE_PART) / LARGE_OF
  const { at, fee, words, isNative } = placeOf(pool)
  const plan = [
    ...[token, pool.quote, at].map(addressWord),
    ...[KINDS.indexOf(pool.kind), fee, amount, large, MODES.indexOf(mode)].map(uintWord),
    ...[salt, addressWord(receiver), ...words],
  ]
  const overrides: TrialCall['overrides'] = {
    [trial]: { code: TRIAL_CODE, ...(isNative ? { balance: `0x${(large * 2n).toString(16)}` } : {}) },
    ...(isNative ? {} : { [pool.quote]: { stateDiff: balances(trial, large * 2n) } }),
  }
  if (mode === 'sell' || mode === 'transfer') {
    const trader = created(trial, salt)
    overrides[token] = { stateDiff: balances(trader, pool.tokenReserve / SMALL_PART) }
  }
  return { call: { from, to: trial, data: RUN + plan.join('') }, overrides }
}

const ZERO_WORD = uintWord(0)

/** Who is paid, and what of the plan depends on the kind of pool. */
function placeOf(pool: TrialPool): { at: string; fee: number; words: string[]; isNative: boolean } {
  const made = { at: pool.pool, fee: pool.fee ?? DEFAULT_FEE, words: Array<string>(6).fill(ZERO_WORD), isNative: false }
  switch (pool.kind) {
    case 'v4': {
      const { manager, keyFee, tickSpacing, hooks, isNative } = pool
      const key = [ZERO_WORD, intWord(tickSpacing), addressWord(hooks), boolWord(isNative), ZERO_WORD, ZERO_WORD]
      return { at: manager, fee: keyFee, words: key, isNative }
    }
    case 'curve':
      return { ...made, words: [...made.words.slice(0, 4), uintWord(pool.tokenPlace), uintWord(pool.quotePlace)] }
    case 'balancer':
      return { ...made, at: pool.vault, words: [pool.poolId.slice(2), ...made.words.slice(1)] }
    case 'balancer-v3':
      return { ...made, at: pool.vault, words: [addressWord(pool.pool), ...made.words.slice(1)] }
    default:
      return made
  }
}

/** Whether a purchase may fail for reasons that are not the token's: a hook may want more than the trial says. */
export const isRestricted = (pool: TrialPool): boolean => pool.kind === 'v4' && BigInt(pool.hooks) !== 0n

/** The trader's address (EIP-1014). */
function created(trial: string, salt: string): string {
  return `0x${hashOfHex(`ff${trial.slice(2)}${salt}${TRADER_HASH}`).slice(26)}`
}

/** Null if it is not the answer of a trial: the node could not run it. */
export function readTrial(answer: string | null): TrialFindings | null {
  const words = Array.from({ length: 14 }, (_, place) => answeredUint(answer, place))
  if (words.some((word) => word === null)) return null
  const at = (place: number): bigint => words[place] ?? 0n
  const steps = Number(at(0))
  const did = (bit: number): boolean => (steps & bit) !== 0
  return {
    ...{ isFunded: did(1), bought: did(2), transferred: did(4), approved: did(8) },
    ...{ sold: did(16), soldAll: did(32), paid: did(64) },
    ...{ sentByPool: at(1), received: at(2), transferSent: at(3), transferArrived: at(4), transferLeft: at(5) },
    ...{ sellSent: at(6), sellArrived: at(7), rest: at(12) },
    ...{ buyGas: Number(at(8)), transferGas: Number(at(9)), approveGas: Number(at(10)), sellGas: Number(at(11)) },
  }
}

/** Storage of `ERC20Upgradeable` of OpenZeppelin 5 (ERC-7201, "openzeppelin.storage.ERC20"). */
const NAMESPACED = BigInt('0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00')
const SOLIDITY_SLOTS = 64
const VYPER_SLOTS = 16

/**
 * Gives the holder a balance wherever the token may keep it: a mapping at one of the first slots. The other entries belong
 * to the same unused address, so setting them changes nothing.
 */
function balances(holder: string, amount: bigint): Record<string, string> {
  const key = addressWord(holder)
  const value = `0x${uintWord(amount)}`
  const slots = [...Array.from({ length: SOLIDITY_SLOTS }, (_, slot) => BigInt(slot)), NAMESPACED]
  const entries = slots.map((slot) => hashOfHex(key + uintWord(slot)))
  for (let slot = 0; slot < VYPER_SLOTS; slot++) entries.push(hashOfHex(uintWord(slot) + key))
  return Object.fromEntries(entries.map((entry) => [entry, value]))
}
