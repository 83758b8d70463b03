/** Raydium AMM v4's own records, `ray_log: <base64>` (raydium-amm: program/src/log.rs). Pool amounts are from before, less what the protocol may withdraw. */

import { BadInstruction, Malformed } from '../../decode-errors.js'
import { readBytes } from '../../instruction/read-instruction.js'
import type { Instruction } from '../../transaction.js'

const PREFIX = 'ray_log: '
const [INIT, DEPOSIT, WITHDRAW, SWAP_BASE_IN, SWAP_BASE_OUT] = [0, 1, 2, 3, 4]
const [PC_TO_COIN, COIN_TO_PC] = [1n, 2n]

type PoolAmounts = { poolCoin: bigint; poolPc: bigint }

export type RayLog =
  | ({ kind: 'init' } & PoolAmounts)
  | ({ kind: 'deposit' | 'withdraw'; coin: bigint; pc: bigint } & PoolAmounts)
  | ({ kind: 'swap'; isCoinIn: boolean; amountIn: bigint; amountOut: bigint } & PoolAmounts)

/** Null: it logged none, or the logs are truncated. */
export function rayLogOf(instruction: Instruction): RayLog | null {
  const line = instruction.programLogs?.findLast((each) => each.startsWith(PREFIX))
  return line === undefined ? null : readRayLog(instruction, line.slice(PREFIX.length))
}

function readRayLog(instruction: Instruction, text: string): RayLog {
  return readBytes(instruction, Buffer.from(text, 'base64'), (reader) => {
    const kind = reader.u8()
    switch (kind) {
      case INIT: {
        reader.skip(8 + 1 + 1 + 8 + 8)
        const [poolPc, poolCoin] = [reader.u64(), reader.u64()]
        return { kind: 'init', poolCoin, poolPc }
      }
      case DEPOSIT:
      case WITHDRAW: {
        // A deposit's limits and its base side; a withdrawal's share and what the wallet had of it.
        reader.skip(kind === DEPOSIT ? 3 * 8 : 2 * 8)
        const [poolCoin, poolPc] = [reader.u64(), reader.u64()]
        reader.skip(8 + 16 + 16)
        const [coin, pc] = [reader.u64(), reader.u64()]
        return { kind: kind === DEPOSIT ? 'deposit' : 'withdraw', coin, pc, poolCoin, poolPc }
      }
      case SWAP_BASE_IN:
      case SWAP_BASE_OUT: {
        const [first, second, direction] = [reader.u64(), reader.u64(), reader.u64()]
        if (direction !== PC_TO_COIN && direction !== COIN_TO_PC) throw new Malformed(`unknown direction ${direction}`)
        const [poolCoin, poolPc] = [reader.skip(8).u64(), reader.u64()]
        const result = reader.u64()
        // In: the amount paid and the minimum out; out: the maximum in and the amount wanted.
        const [amountIn, amountOut] = kind === SWAP_BASE_IN ? [first, result] : [result, second]
        return { kind: 'swap', isCoinIn: direction === COIN_TO_PC, amountIn, amountOut, poolCoin, poolPc }
      }
      default:
        throw new BadInstruction(instruction, 'malformed', `unknown ray_log kind ${kind}`)
    }
  })
}
