/** Contracts that no package ships: a caller of several steps per transaction, unusual tokens, a deployer of Pancake V3 pools. */
import { encode, hashOfText, keccak } from './abi.js'
import { assemble, deployment, type Line } from './assembly.js'

const selector = (signature: string): bigint => BigInt(hashOfText(signature).slice(0, 10))
const jumpOn = (signature: string, label: string): Line[] => [
  'DUP1',
  selector(signature),
  'EQ',
  { push: label },
  'JUMPI',
]
const revert: Line[] = [0, 0, 'REVERT']

export type Step = { to: string; data: string }

const hexOf = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** Consecutive steps; in callback data without the entry marker. */
export function program(steps: readonly Step[]): string {
  return `0x${steps.map(({ to, data }) => to.slice(2) + hexOf((data.length - 2) / 2, 4) + data.slice(2)).join('')}`
}

/** The input of the caller's contract: no callback selector is all zeros. */
export function entry(steps: readonly Step[]): string {
  return `0x00000000${program(steps).slice(2)}`
}

/** The data of a V3 pool's swap and mint callbacks: the tokens to pay with. */
export function paymentTokens(token0: string, token1: string): string {
  return `0x${token0.slice(2)}${token1.slice(2)}`
}

/**
 * Runs a program. In a callback of a V2 pair or a V3 flash, runs the program in the data; in a callback of a V3 swap or mint,
 * pays the requested amount from its own tokens.
 */
export function caller(): string {
  const transfer = selector('transfer(address,uint256)')
  /** Pays the amount in calldata at `amountAt` in the token whose address begins at `tokenAt`. */
  const pay = (amountAt: number, tokenAt: number, after: string): Line[] => [
    ...[0, amountAt, 'CALLDATALOAD', 'SGT', 'ISZERO', { push: after }, 'JUMPI'],
    ...[transfer << 224n, 0, 'MSTORE', 'CALLER', 4, 'MSTORE', amountAt, 'CALLDATALOAD', 36, 'MSTORE'],
    ...[0, 0, 68, 0, 0, tokenAt, 'CALLDATALOAD', 96, 'SHR', 'GAS', 'CALL', 'ISZERO', { push: 'failed' }, 'JUMPI'],
    { label: after },
  ]
  const run: Line[] = [
    ...[{ label: 'loop' }, 'DUP2', 'DUP2', 'LT', 'ISZERO', { push: 'done' }, 'JUMPI'],
    // end at length
    ...['DUP1', 20, 'ADD', 'CALLDATALOAD', 240, 'SHR'],
    ...['DUP1', 'DUP3', 22, 'ADD', 0, 'CALLDATACOPY'],
    ...[0, 0, 'DUP3', 0, 0, 'DUP7', 'CALLDATALOAD', 96, 'SHR', 'GAS', 'CALL', 'ISZERO', { push: 'failed' }, 'JUMPI'],
    ...[22, 'ADD', 'ADD', { push: 'loop' }, 'JUMP'],
  ]
  return deployment(
    assemble([
      ...[0, 'CALLDATALOAD', 224, 'SHR', 'DUP1', 'ISZERO', { push: 'entry' }, 'JUMPI'],
      ...jumpOn('uniswapV2Call(address,uint256,uint256,bytes)', 'v2'),
      ...jumpOn('pancakeCall(address,uint256,uint256,bytes)', 'v2'),
      ...jumpOn('uniswapV3FlashCallback(uint256,uint256,bytes)', 'flash'),
      ...jumpOn('pancakeV3FlashCallback(uint256,uint256,bytes)', 'flash'),
      ...pay(4, 132, 'paid0'),
      ...pay(36, 152, 'paid1'),
      ...[0, 0, 'RETURN'],
      ...[{ label: 'entry' }, 'CALLDATASIZE', 4, { push: 'loop' }, 'JUMP'],
      ...[{ label: 'v2' }, 132, 'CALLDATALOAD', 164, 'ADD', 164, { push: 'loop' }, 'JUMP'],
      ...[{ label: 'flash' }, 100, 'CALLDATALOAD', 132, 'ADD', 132, { push: 'loop' }, 'JUMP'],
      ...run,
      ...[{ label: 'done' }, 0, 0, 'RETURN'],
      ...[{ label: 'failed' }, 'RETURNDATASIZE', 0, 0, 'RETURNDATACOPY', 'RETURNDATASIZE', 0, 'REVERT'],
    ] as Line[]),
  )
}

/** What the token returns about itself; null: the call reverts. */
export type Facts = { name: string | null; symbol: string | null; decimals: string | null }

export const asString = (text: string): string => encode(['string'], [text])
export const asBytes32 = (text: string): string => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`
export const asNumber = (value: number): string => encode(['uint8'], [value])

/** A token with custom facts that delegates the rest to Uniswap's ERC20 code (supply in slot 0, balances in slot 1). */
export function token(
  implementation: string,
  { name, symbol, decimals }: Facts,
  owner: string,
  supply: bigint,
): string {
  const facts: readonly [string, string | null][] = [
    ['name()', name],
    ['symbol()', symbol],
    ['decimals()', decimals],
  ]
  const answers = facts.flatMap(([signature, answer]): Line[] =>
    answer === null ? [{ label: signature }, ...revert] : [{ label: signature }, ...returned(answer)],
  )
  const runtime = assemble([
    ...[0, 'CALLDATALOAD', 224, 'SHR'],
    ...facts.flatMap(([signature]) => jumpOn(signature, signature)),
    ...['CALLDATASIZE', 0, 0, 'CALLDATACOPY', 0, 0, 'CALLDATASIZE', 0, BigInt(implementation), 'GAS', 'DELEGATECALL'],
    ...['RETURNDATASIZE', 0, 0, 'RETURNDATACOPY', { push: 'well' }, 'JUMPI', 'RETURNDATASIZE', 0, 'REVERT'],
    ...[{ label: 'well' }, 'RETURNDATASIZE', 0, 'RETURN'],
    ...answers,
  ] as Line[])
  const balanceSlot = BigInt(keccak(encode(['address', 'uint256'], [owner, 1])))
  return deployment(runtime, [
    ...[supply, 0, 'SSTORE', supply, balanceSlot, 'SSTORE', supply, 0, 'MSTORE'],
    ...[BigInt(owner), 0, BigInt(hashOfText('Transfer(address,address,uint256)')), 32, 0, 'LOG3'],
  ])
}

function returned(answer: string): Line[] {
  const length = (answer.length - 2) / 2
  const stores = Array.from({ length: length / 32 }, (_, at): Line[] => [
    ...[BigInt(`0x${answer.slice(2 + at * 64, 66 + at * 64)}`), at * 32, 'MSTORE'],
  ])
  return [...stores.flat(), length, 0, 'RETURN']
}

/** `deploy` as in IPancakeV3PoolDeployer; the pool under construction calls `parameters`. */
export function pancakeV3Deployer(poolCreationCode: string): string {
  const code = poolCreationCode.slice(2)
  const places = [0, 1, 2, 3, 4]
  return deployment(
    assemble([
      ...[0, 'CALLDATALOAD', 224, 'SHR'],
      ...jumpOn('parameters()', 'parameters'),
      ...places.flatMap((at): Line[] => [4 + 32 * at, 'CALLDATALOAD', at, 'SSTORE']),
      // The salt: token0, token1 and fee.
      ...[96, 36, 0, 'CALLDATACOPY', 96, 0, 'KECCAK256'],
      ...[code.length / 2, { push: 'pool' }, 1, 'ADD', 0, 'CODECOPY', code.length / 2, 0, 0, 'CREATE2'],
      ...['DUP1', 'ISZERO', { push: 'failed' }, 'JUMPI', 0, 'MSTORE', 32, 0, 'RETURN'],
      ...[{ label: 'failed' }, ...revert],
      ...[
        { label: 'parameters' },
        ...places.flatMap((at): Line[] => [at, 'SLOAD', 32 * at, 'MSTORE']),
        160,
        0,
        'RETURN',
      ],
      ...[{ label: 'pool' }, { bytes: code }],
    ] as Line[]),
  )
}

/** `poolKeys` as V4's position manager answers it, for pools known by then: key by pool id. */
export function poolKeys(keys: ReadonlyMap<string, string>): string {
  const places = [...keys]
  return deployment(
    assemble([
      // Ids are keyed by their first 25 bytes.
      ...[4, 'CALLDATALOAD', 56, 'SHR'],
      ...places.flatMap(([id]): Line[] => ['DUP1', BigInt(id) >> 56n, 'EQ', { push: id }, 'JUMPI']),
      ...returned(`0x${'0'.repeat(5 * 64)}`),
      ...places.flatMap(([id, key]): Line[] => [{ label: id }, ...returned(key)]),
    ] as Line[]),
  )
}
