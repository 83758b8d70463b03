/** Transactions recorded on mainnet, in the shapes nodes give them; `../shared/data/README.md` says where they are from. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../../schemas/avro.js'
import type { SolanaTransaction } from '../../../../services/ingest/decode/solana/transaction.js'
import { parseTransaction } from '../../../../services/ingest/decode/solana/wire/parse-transaction.js'

const SHARED = join(repositoryRoot(), '../shared/data/solana/')
/** More of them, for what is not there. */
const FIXTURES = join(repositoryRoot(), 'test/fixtures/solana/transactions/')

/** Tests of them are left out only where the folder is not there. */
export const HAS_REAL = existsSync(SHARED)

/** `value`: `{transaction, meta}`. */
export type RealTransaction = { name: string; value: Record<string, unknown>; slot: number }

export function sharedJson(path: string): unknown {
  const [folder, file] = path.startsWith('fixtures/') ? [FIXTURES, path.slice('fixtures/'.length)] : [SHARED, path]
  return JSON.parse(readFileSync(folder + file, 'utf8'))
}

export function realTransactions(): RealTransaction[] {
  if (!HAS_REAL) return []
  const folders = ['tx-parser', 'anchores', 'anchores/meteora-dlmm', 'vixen']
  return folders.flatMap((folder) =>
    readdirSync(SHARED + folder)
      .filter((file) => file.endsWith('.json') && !file.startsWith('expected') && !file.startsWith('broken'))
      .sort()
      .map((file) => realTransaction(`${folder}/${file}`)),
  )
}

/** With those of the fixtures, of which not everything is known that a node would tell. */
export function recordedTransactions(): RealTransaction[] {
  const more = readdirSync(FIXTURES).map((file) => realTransaction(`fixtures/${file}`))
  return HAS_REAL ? [...realTransactions(), ...more] : more
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
