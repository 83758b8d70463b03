/** An assembler for the few contracts that no package ships. */

/** An operation, a value to push, a label to push, a label, or raw bytes at the end of the code. */
export type Line = string | number | bigint | { push: string } | { label: string } | { bytes: string }

const CODES: Record<string, string> = {
  ADD: '01',
  LT: '10',
  SGT: '13',
  EQ: '14',
  ISZERO: '15',
  SHL: '1b',
  SHR: '1c',
  KECCAK256: '20',
  CALLER: '33',
  CALLDATALOAD: '35',
  CALLDATASIZE: '36',
  CALLDATACOPY: '37',
  CODECOPY: '39',
  RETURNDATASIZE: '3d',
  RETURNDATACOPY: '3e',
  POP: '50',
  MSTORE: '52',
  SLOAD: '54',
  SSTORE: '55',
  JUMP: '56',
  JUMPI: '57',
  GAS: '5a',
  DUP1: '80',
  DUP2: '81',
  DUP3: '82',
  DUP4: '83',
  DUP5: '84',
  DUP6: '85',
  DUP7: '86',
  SWAP1: '90',
  LOG3: 'a3',
  CALL: 'f1',
  RETURN: 'f3',
  DELEGATECALL: 'f4',
  CREATE2: 'f5',
  REVERT: 'fd',
}

/** Code as digits without `0x`. */
export function assemble(lines: readonly Line[]): string {
  const places = new Map<string, number>()
  let at = 0
  for (const line of lines) {
    if (typeof line === 'object' && 'label' in line) places.set(line.label, at)
    at += bytesOf(line, () => 0).length / 2
  }
  return lines
    .map((line) =>
      bytesOf(line, (label) => {
        const place = places.get(label)
        if (place === undefined) throw new Error(`no label ${label}`)
        return place
      }),
    )
    .join('')
}

/** Init code that deploys `runtime`; `first` runs before. */
export function deployment(runtime: string, first: readonly Line[] = []): string {
  const length = runtime.length / 2
  return `0x${assemble([...first, length, { push: 'runtime' }, 0, 'CODECOPY', length, 0, 'RETURN', { label: 'runtime' }]).slice(0, -2)}${runtime}`
}

function bytesOf(line: Line, placeOf: (label: string) => number): string {
  if (typeof line === 'string') {
    const code = CODES[line]
    if (code === undefined) throw new Error(`no operation ${line}`)
    return code
  }
  if (typeof line === 'object') {
    if ('push' in line) return `61${placeOf(line.push).toString(16).padStart(4, '0')}`
    // A jump destination.
    return 'label' in line ? '5b' : line.bytes
  }
  const digits = line.toString(16)
  const even = digits.length % 2 === 0 ? digits : `0${digits}`
  return (0x5f + even.length / 2).toString(16) + even
}
