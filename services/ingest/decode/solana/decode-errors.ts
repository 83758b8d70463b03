/** Why a transaction or an instruction could not be decoded. Each becomes a dead letter. */
import type { Instruction } from './transaction.js'

/** Bytes that are not what their place says. */
export class Malformed extends Error {
  constructor(detail: string) {
    super(detail)
    this.name = 'Malformed'
  }
}

/** It becomes a dead letter. `path`: where in the transaction, as JavaScript would write it. */
export class BadTransaction extends Error {
  constructor(
    readonly path: string,
    detail: string,
  ) {
    super(`${path === '' ? 'it' : path} ${detail}`)
    this.name = 'BadTransaction'
  }
}

/** It becomes a dead letter, with what the event and what the transfers said. */
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
