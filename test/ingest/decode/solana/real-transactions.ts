/** Transactions recorded on mainnet, in the shapes nodes return; `../shared/data/README.md` lists their sources. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../../schemas/avro.js'
import type { SolanaTransaction } from '../../../../services/ingest/decode/solana/transaction.js'
import { parseTransaction } from '../../../../services/ingest/decode/solana/wire/parse-transaction.js'
import { hasRecordings, recordedCases, recordingPath } from '../../../rig/recordings.js'
import { generatedTransactions } from '../../../rig/solana/generated/transactions.js'

const SHARED = recordingPath('solana/')
/** Further transactions, kept with the tests. */
const FIXTURES = join(repositoryRoot(), 'test/fixtures/solana/transactions/')

/** `value`: `{transaction, meta}`. */
export type RealTransaction = { name: string; value: Record<string, unknown>; slot: number }

export function sharedJson(path: string): unknown {
  const [folder, file] = path.startsWith('fixtures/') ? [FIXTURES, path.slice('fixtures/'.length)] : [SHARED, path]
  return JSON.parse(readFileSync(folder + file, 'utf8'))
}

/** The number of recordings, if there are any. */
const RECORDED = 30

/** Empty without recordings. */
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

/** These lack some of the data a node would return. */
export function keptTransactions(): RealTransaction[] {
  return readdirSync(FIXTURES).map((file) => realTransaction(`fixtures/${file}`))
}

/** All transactions: generated, kept with the tests, and recorded. */
export function everyTransaction(): RealTransaction[] {
  return [...generatedTransactions(), ...keptTransactions(), ...realTransactions()]
}

/** All transactions as test cases; missing recordings count as skipped. */
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

/** Parsed in full, whatever programs it calls. */
export function parsed({ value, slot, name }: RealTransaction): SolanaTransaction {
  const transaction = parseTransaction(value, { slot, index: 0 }, () => true)
  if (transaction === null) throw new Error(`${name} failed`)
  return transaction
}
