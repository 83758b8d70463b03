/** Why a transaction or an instruction could not be decoded. Each becomes a dead letter. */
import type { Instruction } from './transaction.js'

/** Bytes that do not match the expected layout. */
export class Malformed extends Error {
  constructor(detail: string) {
    super(detail)
    this.name = 'Malformed'
  }
}

/** `path`: where in the transaction, in JavaScript notation. */
export class BadTransaction extends Error {
  constructor(
    readonly path: string,
    detail: string,
  ) {
    super(`${path === '' ? 'input' : path} ${detail}`)
    this.name = 'BadTransaction'
  }
}

/** The detail states what the event and the transfers report. */
export class BadInstruction extends Error {
  constructor(
    readonly instruction: Instruction,
    readonly reason: 'malformed' | 'disagreement' | 'amounts_unknown',
    detail: string,
  ) {
    super(detail)
    this.name = 'BadInstruction'
  }
}
