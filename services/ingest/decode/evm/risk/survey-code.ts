/**
 * What each function of a contract can do, from its bytecode: every path is followed with the constants on the stack, which
 * is enough for the jumps of Solidity and Vyper. Nothing is executed, and what could not be followed is said.
 */

/** Of one function, calls of internal functions included. */
export type FunctionSurvey = {
  /** Whether it writes storage at all. */
  writes: boolean
  /** Storage slots known from the code (variables, not mapping entries) that it writes or reads. */
  writesSlots: Set<bigint>
  readsSlots: Set<bigint>
  callsOut: boolean
  delegates: boolean
  destroys: boolean
  /** Depends on the block or on the transaction (time, number, miner, gas price, origin). */
  readsBlock: boolean
  /** A path could not be followed: it may do anything. */
  isOpaque: boolean
}

export type CodeSurvey = {
  /** By selector (0x and 8 digits). */
  functions: ReadonlyMap<string, FunctionSurvey>
  /** What runs for calls of no listed function. */
  otherwise: FunctionSurvey
  /** Every four-byte constant in the code: what the dispatcher of an unknown compiler may compare with. */
  constants: ReadonlySet<string>
}

/** Steps in all, and paths that wait: a token has some thousands. */
const MAX_STEPS = 400_000
const MAX_PATHS = 20_000

type Value =
  | bigint
  | null
  /** The call's first word, its selector, and whether the selector is (or is not) a constant. */
  | 'word'
  | 'selector'
  | { selector: bigint; isEqual: boolean }

type Path = { at: number; stack: Value[]; of: FunctionSurvey }

const [PUSH0, PUSH1, PUSH4, PUSH32, DUP1, DUP16, SWAP1, SWAP16] = [0x5f, 0x60, 0x63, 0x7f, 0x80, 0x8f, 0x90, 0x9f]
const JUMPDEST = 0x5b
const WORD = (1n << 256n) - 1n

export function surveyCode(code: Uint8Array): CodeSurvey {
  const { destinations, constants } = scan(code)
  const otherwise = nothingSeen()
  const functions = new Map<string, FunctionSurvey>()
  const seen = new Set<string>()
  const names = new Map<FunctionSurvey, string>([[otherwise, '']])
  const waiting: Path[] = [{ at: 0, stack: [], of: otherwise }]
  let steps = 0
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (steps > MAX_STEPS || waiting.length > MAX_PATHS) {
      path.of.isOpaque = true
      continue
    }
    follow(path)
  }
  return { functions, otherwise, constants }

  function functionOf(selector: bigint): FunctionSurvey {
    const name = `0x${selector.toString(16).padStart(8, '0')}`
    const known = functions.get(name) ?? nothingSeen()
    functions.set(name, known)
    names.set(known, name)
    return known
  }

  function follow({ at: from, stack, of }: Path): void {
    const pop = (): Value => stack.pop() ?? null
    for (let at = from; at < code.length; at++) {
      const op = code[at] ?? 0
      steps++
      if (op === JUMPDEST) {
        const key = `${names.get(of)}/${at}/${stack.map(keyOf).join()}`
        if (seen.has(key)) return
        if (steps > MAX_STEPS || stack.length > 1024) {
          of.isOpaque = true
          return
        }
        seen.add(key)
      } else if (op >= PUSH0 && op <= PUSH32) {
        const bytes = op - PUSH0
        stack.push(constantAt(code, at + 1, bytes))
        at += bytes
      } else if (op >= DUP1 && op <= DUP16) {
        stack.push(stack[stack.length - 1 - (op - DUP1)] ?? null)
      } else if (op >= SWAP1 && op <= SWAP16) {
        const [top, other] = [stack.length - 1, stack.length - 2 - (op - SWAP1)]
        if (other < 0) return
        const value = stack[top] ?? null
        stack[top] = stack[other] ?? null
        stack[other] = value
      } else if (op === 0x56) {
        const to = pop()
        if (typeof to !== 'bigint') of.isOpaque = true
        if (typeof to !== 'bigint' || !destinations.has(Number(to))) return
        at = Number(to) - 1
      } else if (op === 0x57) {
        const [to, condition] = [pop(), pop()]
        if (condition === 0n) continue
        if (typeof to !== 'bigint') {
          of.isOpaque = true
          continue
        }
        if (!destinations.has(Number(to))) {
          if (typeof condition === 'bigint') return
          continue
        }
        if (typeof condition === 'object' && condition !== null && of === otherwise) {
          const [equal, other] = condition.isEqual ? [Number(to), at + 1] : [at + 1, Number(to)]
          waiting.push({ at: equal, stack: [...stack], of: functionOf(condition.selector) })
          at = other - 1
          continue
        }
        waiting.push({ at: Number(to), stack: [...stack], of })
        if (typeof condition === 'bigint') return
      } else if (op === 0x55) {
        const key = pop()
        pop()
        of.writes = true
        if (typeof key === 'bigint') of.writesSlots.add(key)
      } else if (op === 0x54) {
        const key = pop()
        if (typeof key === 'bigint') of.readsSlots.add(key)
        stack.push(null)
      } else if (op === 0x00 || op === 0xf3 || op === 0xfd || op === 0xfe) {
        return
      } else if (op === 0xff) {
        of.destroys = true
        return
      } else {
        const shape = SHAPES[op]
        // An instruction that does not exist stops the call.
        if (shape === undefined) return
        note(op, of)
        compute(op, shape, stack)
      }
    }
  }
}

function note(op: number, of: FunctionSurvey): void {
  if (op === 0xf1 || op === 0xfa || op === 0xf0 || op === 0xf5) of.callsOut = true
  else if (op === 0xf4 || op === 0xf2) of.delegates = true
  // ORIGIN, GASPRICE, BLOCKHASH, COINBASE, TIMESTAMP, NUMBER, DIFFICULTY, GASLIMIT, BASEFEE.
  else if (op === 0x32 || op === 0x3a || (op >= 0x40 && op <= 0x45) || op === 0x48) of.readsBlock = true
}

/** Sums are not computed: jump destinations are pushed whole, and counters would make endless paths. */
function compute(op: number, [takes, gives]: readonly [number, number], stack: Value[]): void {
  const taken = stack.length >= takes ? stack.splice(stack.length - takes).reverse() : []
  if (gives === 0) return
  const [first = null, second = null] = taken
  stack.push(resultOf(op, first, second))
}

function resultOf(op: number, first: Value, second: Value): Value {
  switch (op) {
    case 0x35:
      return first === 0n ? 'word' : null
    case 0x1c:
      return first === 224n && second === 'word' ? 'selector' : ofConstants(first, second, (a, b) => shifted(b, -a))
    case 0x1b:
      return ofConstants(first, second, (a, b) => shifted(b, a))
    case 0x0a:
      return ofConstants(first, second, (a, b) => (b > 255n ? null : (a ** b) & WORD))
    case 0x04:
      return first === 'word' && second === 1n << 224n ? 'selector' : null
    case 0x16: {
      if (first === 'selector' && second === 0xffffffffn) return 'selector'
      if (second === 'selector' && first === 0xffffffffn) return 'selector'
      return ofConstants(first, second, (a, b) => a & b)
    }
    case 0x14:
    case 0x03:
    case 0x18: {
      const [constant, other] = typeof first === 'bigint' ? [first, second] : [second, first]
      if (other === 'selector' && typeof constant === 'bigint') return { selector: constant, isEqual: op === 0x14 }
      return op === 0x14 ? ofConstants(first, second, (a, b) => (a === b ? 1n : 0n)) : null
    }
    case 0x15:
      if (typeof first === 'object' && first !== null) return { ...first, isEqual: !first.isEqual }
      return typeof first === 'bigint' ? (first === 0n ? 1n : 0n) : null
    default:
      return null
  }
}

function ofConstants(first: Value, second: Value, result: (a: bigint, b: bigint) => bigint | null): bigint | null {
  return typeof first === 'bigint' && typeof second === 'bigint' ? result(first, second) : null
}

function shifted(value: bigint, bits: bigint): bigint {
  if (bits > 255n || bits < -255n) return 0n
  return (bits >= 0n ? value << bits : value >> -bits) & WORD
}

function nothingSeen(): FunctionSurvey {
  const sets = { writesSlots: new Set<bigint>(), readsSlots: new Set<bigint>() }
  const flags = {
    writes: false,
    callsOut: false,
    delegates: false,
    destroys: false,
    readsBlock: false,
    isOpaque: false,
  }
  return { ...flags, ...sets }
}

function keyOf(value: Value): string {
  if (value === null) return ''
  if (typeof value === 'object') return `${value.isEqual}${value.selector}`
  return typeof value === 'string' ? value : value.toString(36)
}

function constantAt(code: Uint8Array, from: number, bytes: number): bigint {
  let value = 0n
  for (let place = 0; place < bytes; place++) value = (value << 8n) | BigInt(code[from + place] ?? 0)
  return value
}

function scan(code: Uint8Array): { destinations: Set<number>; constants: Set<string> } {
  const destinations = new Set<number>()
  const constants = new Set<string>()
  for (let at = 0; at < code.length; at++) {
    const op = code[at] ?? 0
    if (op === JUMPDEST) destinations.add(at)
    if (op === PUSH4)
      constants.add(
        `0x${constantAt(code, at + 1, 4)
          .toString(16)
          .padStart(8, '0')}`,
      )
    if (op >= PUSH1 && op <= PUSH32) at += op - PUSH0
  }
  return { destinations, constants }
}

/** Values an instruction takes and gives (Ethereum's yellow paper, appendix H.2, and later EIPs). */
const SHAPES: readonly (readonly [number, number] | undefined)[] = shapes([
  [0x01, 0x07, 2, 1],
  [0x08, 0x09, 3, 1],
  [0x0a, 0x0b, 2, 1],
  [0x10, 0x14, 2, 1],
  [0x15, 0x15, 1, 1],
  [0x16, 0x18, 2, 1],
  [0x19, 0x19, 1, 1],
  [0x1a, 0x1d, 2, 1],
  [0x20, 0x20, 2, 1],
  [0x30, 0x30, 0, 1],
  [0x31, 0x31, 1, 1],
  [0x32, 0x34, 0, 1],
  [0x35, 0x35, 1, 1],
  [0x36, 0x36, 0, 1],
  [0x37, 0x37, 3, 0],
  [0x38, 0x38, 0, 1],
  [0x39, 0x39, 3, 0],
  [0x3a, 0x3a, 0, 1],
  [0x3b, 0x3b, 1, 1],
  [0x3c, 0x3c, 4, 0],
  [0x3d, 0x3d, 0, 1],
  [0x3e, 0x3e, 3, 0],
  [0x3f, 0x40, 1, 1],
  [0x41, 0x48, 0, 1],
  [0x49, 0x49, 1, 1],
  [0x4a, 0x4a, 0, 1],
  [0x50, 0x50, 1, 0],
  [0x51, 0x51, 1, 1],
  [0x52, 0x53, 2, 0],
  [0x58, 0x5a, 0, 1],
  [0x5c, 0x5c, 1, 1],
  [0x5d, 0x5d, 2, 0],
  [0x5e, 0x5e, 3, 0],
  [0xa0, 0xa0, 2, 0],
  [0xa1, 0xa1, 3, 0],
  [0xa2, 0xa2, 4, 0],
  [0xa3, 0xa3, 5, 0],
  [0xa4, 0xa4, 6, 0],
  [0xf0, 0xf0, 3, 1],
  [0xf1, 0xf2, 7, 1],
  [0xf4, 0xf4, 6, 1],
  [0xf5, 0xf5, 4, 1],
  [0xfa, 0xfa, 6, 1],
])

function shapes(ranges: readonly (readonly [number, number, number, number])[]) {
  const all = new Array<readonly [number, number] | undefined>(256)
  for (const [from, to, takes, gives] of ranges) for (let op = from; op <= to; op++) all[op] = [takes, gives]
  return all
}
