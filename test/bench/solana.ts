/** How fast blocks of Solana become events, beside `JSON.parse` of the same blocks. Recorded transactions only: every one of them trades, as none would in a block's larger part. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { repositoryRoot } from '../../schemas/avro.js'
import { memoryBook } from '../../services/ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../services/ingest/decode/solana/block/decode-block.js'
import { createSolanaRules } from '../../services/ingest/decode/solana/block/rules.js'
import { readBodies } from '../../services/ingest/decode/solana/parse-block.js'
import { PROGRAMS } from '../../services/ingest/decode/solana/programs.js'
import { type Measured, measure, printTable } from './measure.js'

const RECORDED = join(repositoryRoot(), '../shared/data/solana')
const FOLDERS = ['tx-parser', 'anchores', 'anchores/meteora-dlmm']
const BLOCKS = 60
const TRANSACTIONS_PER_BLOCK = 100
/** Decoding may take twice as long as parsing what it decodes. */
const LIMIT = 0.5

export async function benchSolana(): Promise<boolean> {
  if (!existsSync(RECORDED)) {
    console.log('\nDecoding Solana: left out, there are no recorded transactions')
    return true
  }
  const texts = blockTexts()
  const count = BLOCKS * TRANSACTIONS_PER_BLOCK
  const money = new Set(['So11111111111111111111111111111111111111112', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'])
  const scope = { pools: new Set<string>(), tokens: new Set<string>(), amms: new Set<string>() }
  const rules = createSolanaRules({ scope: { ...scope, balances: 'scoped' }, money, programs: PROGRAMS })
  let parsed: unknown[] = []
  const parse = () => {
    parsed = texts.map((text) => JSON.parse(text) as unknown)
  }
  let events = 0
  const decode = () => {
    const book = memoryBook()
    for (const value of parsed) {
      for (const { slot, transactions } of readBodies(value)) {
        const decoded = decodeSolanaBlock(slot, transactions, book, rules)
        if (decoded.lost.length > 0) throw new Error(`lost: ${decoded.lost[0]?.detail}`)
        events += decoded.events.length
      }
    }
  }
  // Once for the compiler.
  parse()
  decode()
  const parsing = await measure('JSON.parse', parse)
  events = 0
  const decoding = await measure('decoded', decode)
  const ratio = parsing.cpuS / decoding.cpuS
  const row = ({ name, cpuS, wallS }: Measured) => [name, (cpuS / count) * 1e6, count / cpuS, count / wallS]
  printTable(`Decoding Solana (${count.toLocaleString('en')} transactions, ${events.toLocaleString('en')} events)`, [
    ['', 'CPU µs/transaction', 'transactions/CPU-s', 'transactions/s'],
    row(decoding),
    row(parsing),
  ])
  const verdict = ratio < LIMIT ? '  TOO SLOW' : ''
  console.log(`  decoded ÷ JSON.parse = ${ratio.toFixed(2)} transactions/s (at least ${LIMIT})${verdict}`)
  return ratio >= LIMIT
}

/** `getBlock` bodies of the recorded transactions, over and over. */
function blockTexts(): string[] {
  const recorded = FOLDERS.flatMap((folder) =>
    readdirSync(join(RECORDED, folder))
      .filter((file) => file.endsWith('.json') && !/^(?:expected|broken)/.test(file))
      .map((file) => JSON.parse(readFileSync(join(RECORDED, folder, file), 'utf8')) as unknown)
      .map((body) => (Array.isArray(body) ? (body[0] as unknown) : body)),
  )
  return Array.from({ length: BLOCKS }, (_, block) => {
    const transactions = Array.from(
      { length: TRANSACTIONS_PER_BLOCK },
      (_, at) => recorded[(block * TRANSACTIONS_PER_BLOCK + at) % recorded.length],
    )
    return JSON.stringify({ slot: 300_000_000 + block, blockhash: `${block}`, transactions })
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await benchSolana()) ? 0 : 1
