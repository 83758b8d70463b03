/** Transactions recorded on mainnet, in the shapes nodes give them; `../shared/data/README.md` says where they are from. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../../schemas/avro.js'
import type { SolanaTransaction } from '../../../../services/ingest/decode/solana/transaction.js'
import { parseTransaction } from '../../../../services/ingest/decode/solana/wire/parse-transaction.js'
import { hasRecordings, recordedCases, recordingPath } from '../../../rig/recordings.js'
import { generatedTransactions } from '../../../rig/solana/generated/transactions.js'

const SHARED = recordingPath('solana/')
/** More of them, kept with the tests. */
const FIXTURES = join(repositoryRoot(), 'test/fixtures/solana/transactions/')

/** `value`: `{transaction, meta}`. */
export type RealTransaction = { name: string; value: Record<string, unknown>; slot: number }

export function sharedJson(path: string): unknown {
  const [folder, file] = path.startsWith('fixtures/') ? [FIXTURES, path.slice('fixtures/'.length)] : [SHARED, path]
  return JSON.parse(readFileSync(folder + file, 'utf8'))
}

/** How many there are where there are any. */
const RECORDED = 30

/** None where there are no recordings. */
export function realTransactions(): RealTransaction[] {
  if (!hasRecordings) return []
  const folders = ['tx-parser', 'anchores', 'anchores/meteora-dlmm', 'vixen']
  return folders.flatMap((folder) =>
    readdirSync(SHARED + folder)
      .filter((file) => file.endsWith('.json') && !file.startsWith('expected') && !file.startsWith('broken'))
      .sort()
      .map((file) => realTransaction(`${folder}/${file}`)),
  )
}

/** Of these not everything is known that a node would tell. */
export function keptTransactions(): RealTransaction[] {
  return readdirSync(FIXTURES).map((file) => realTransaction(`fixtures/${file}`))
}

/** Every transaction there is: generated ones, those kept with the tests, and the recorded ones. */
export function everyTransaction(): RealTransaction[] {
  return [...generatedTransactions(), ...keptTransactions(), ...realTransactions()]
}

/** The same as cases of a suite: recorded ones that are missing count as left out. */
export function transactionCases(suite: string): RealTransaction[] {
  return [...generatedTransactions(), ...keptTransactions(), ...recordedCases(suite, RECORDED, realTransactions)]
}

export function realTransaction(path: string): RealTransaction {
  const content = sharedJson(path)
  const whole = (Array.isArray(content) ? content[0] : content) as {
    slot?: number
    meta?: unknown
    transaction: object
  }
  const value = (whole.meta === undefined ? whole.transaction : whole) as Record<string, unknown>
  return {
    name: path.replace('tests__fixtures__', '').replace(/(_txupdate)?\.json$/, ''),
    value,
    slot: whole.slot ?? 0,
  }
}

/** In the one form, whatever programs it touches. */
export function parsed({ value, slot, name }: RealTransaction): SolanaTransaction {
  const transaction = parseTransaction(value, { slot, index: 0 }, () => true)
  if (transaction === null) throw new Error(`${name} failed`)
  return transaction
}
