/** Reads what decides a token's risk: its code, that behind its proxy, its owner, and trials of trades in its deepest pool. */
import { selectorOf } from '../abi/keccak.js'
import { answeredAddress } from '../abi/view-calls.js'
import type { Call } from '../protocol.js'
import type { TrialCall, TrialFindings, TrialMode, TrialPool } from './trade-trial.js'
import { isDeepEnough, isRestricted, readTrial, trialCall } from './trade-trial.js'

/** A request about a contract's state at the end of a block. */
export type StateRequest =
  | { kind: 'code'; address: string }
  | { kind: 'storage'; address: string; slot: string }
  | { kind: 'call'; to: string; data: string }
  | ({ kind: 'trial' } & TrialCall)

/** Yields requests and receives their answers in order; null: reverted, no contract, or the node cannot answer it. */
export type Inspection<T> = Generator<readonly StateRequest[], T, readonly (string | null)[]>

export const requestsOf = (calls: readonly Call[]): StateRequest[] =>
  calls.map(({ to, data }) => ({ kind: 'call', to, data }))

export type Proxy = {
  kind: 'eip1967' | 'beacon' | 'eip1822' | 'zeppelin' | 'eip1167'
  implementation: string
  /** Who may replace the implementation; null: not stored where EIP-1967 says. */
  admin: string | null
}

export type TokenInspection = {
  token: string
  /** Null: unknown. Empty: no contract. */
  code: Uint8Array | null
  proxy: Proxy | null
  /** What runs: the implementation's code behind a proxy. */
  logic: Uint8Array | null
  /** By `owner()` or `getOwner()`; null: the contract has neither. */
  owner: string | null
  /** Null: there is no pool that a trial can use. */
  pool: TrialPool | null
  /** Those that ran. */
  trials: Partial<Record<TrialMode, TrialFindings>>
}

/** EIP-1967, EIP-1822, and the slot of OpenZeppelin's proxies before it. */
const IMPLEMENTATION = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const BEACON = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50'
const ADMIN = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103'
const PROXIABLE = '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7'
const ZEPPELIN = '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3'
const SLOTS = [IMPLEMENTATION, BEACON, ADMIN, PROXIABLE, ZEPPELIN]

const OWNER = selectorOf('owner()')
const GET_OWNER = selectorOf('getOwner()')
const BEACON_IMPLEMENTATION = selectorOf('implementation()')
/** EIP-1167, and its variants that push fewer bytes of the address. */
const MINIMAL =
  /^363d3d373d3d3d363d(?:73([0-9a-f]{40})|72([0-9a-f]{38})|71([0-9a-f]{36})|6f([0-9a-f]{32}))5af43d82803e903d91602[0-9a-f]57fd5bf3/

/** `seed`: the block's hash. */
export function* inspectToken(token: string, pool: TrialPool | null, seed: string): Inspection<TokenInspection> {
  const usable = pool !== null && isDeepEnough(pool) ? pool : null
  const trialOf = (mode: TrialMode): StateRequest[] =>
    usable === null ? [] : [{ kind: 'trial', ...trialCall(token, usable, mode, seed) }]
  const [code, implementation, beacon, admin, proxiable, zeppelin, owner, getOwner, trade, large] = yield [
    { kind: 'code', address: token },
    ...SLOTS.map((slot): StateRequest => ({ kind: 'storage', address: token, slot })),
    ...[OWNER, GET_OWNER].map((data): StateRequest => ({ kind: 'call', to: token, data })),
    ...trialOf('trade'),
    ...trialOf('large'),
  ]
  const trials: TokenInspection['trials'] = {}
  const keep = (mode: TrialMode, answer: string | null | undefined): void => {
    const found = readTrial(answer ?? null)
    // Without quote tokens to pay with, nothing was tried; nor was a sale where a pool's hook refused the purchase.
    const isRefused = mode === 'trade' && usable !== null && isRestricted(usable) && found?.bought === false
    if (found?.isFunded === true && !isRefused) trials[mode] = found
  }
  keep('trade', trade)
  keep('large', large)
  const own = bytesOf(code)
  const stored = {
    implementation: addressIn(implementation),
    beacon: addressIn(beacon),
    admin: addressIn(admin),
    old: addressIn(proxiable) ?? addressIn(zeppelin),
  }
  const minimal = MINIMAL.exec((code ?? '0x').slice(2))
  const behind = stored.implementation ?? stored.old ?? minimalAddress(minimal)
  const again = trials.trade === undefined || isAllWell(trials.trade) ? [] : AGAIN
  const isBeacon = behind === null && stored.beacon !== null
  const next: StateRequest[] = again.flatMap(trialOf)
  if (behind !== null) next.push({ kind: 'code', address: behind })
  if (isBeacon) next.push({ kind: 'call', to: stored.beacon ?? '', data: BEACON_IMPLEMENTATION })
  const answers = next.length === 0 ? [] : yield next
  for (const [place, mode] of again.entries()) keep(mode, answers[place])
  const found = { token, code: own, owner: answeredAddress(owner) ?? answeredAddress(getOwner), pool: usable, trials }
  if (behind !== null) {
    const kind = kindOf(stored.implementation, addressIn(proxiable), stored.old)
    const proxy: Proxy = { kind, implementation: behind, admin: kind === 'eip1167' ? null : stored.admin }
    return { ...found, proxy, logic: bytesOf(answers.at(-1)) }
  }
  if (!isBeacon) return { ...found, proxy: null, logic: own }
  const implemented = answeredAddress(answers.at(-1))
  const [logic] = implemented === null ? [null] : yield [{ kind: 'code', address: implemented }]
  const proxy: Proxy = { kind: 'beacon', implementation: implemented ?? '', admin: stored.beacon }
  return { ...found, proxy, logic: bytesOf(logic) }
}

function kindOf(implementation: string | null, proxiable: string | null, old: string | null): Proxy['kind'] {
  if (implementation !== null) return 'eip1967'
  if (proxiable !== null) return 'eip1822'
  return old !== null ? 'zeppelin' : 'eip1167'
}

const AGAIN: readonly TrialMode[] = ['sell', 'transfer']

function isAllWell({ bought, sold, soldAll, transferred }: TrialFindings): boolean {
  return !bought || (sold && soldAll && transferred)
}

function minimalAddress(match: RegExpExecArray | null): string | null {
  const digits = match?.slice(1).find((group) => group !== undefined)
  return digits === undefined ? null : `0x${digits.padStart(40, '0')}`
}

/** Null: not set. */
function addressIn(word: string | null | undefined): string | null {
  const address = answeredAddress(word)
  return address === null || BigInt(address) === 0n ? null : address
}

function bytesOf(code: string | null | undefined): Uint8Array | null {
  return code === null || code === undefined ? null : Buffer.from(code.slice(2), 'hex')
}
