/** Speed of decoding Solana blocks, compared with `JSON.parse` of the same blocks. */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { repositoryRoot } from '../../schemas/avro.js'
import { memoryBook } from '../../services/ingest/decode/solana/block/book.js'
import { decodeSolanaBlock } from '../../services/ingest/decode/solana/block/decode-block.js'
import { createSolanaRules } from '../../services/ingest/decode/solana/block/decode-rules.js'
import { PROGRAMS } from '../../services/ingest/decode/solana/programs.js'
import { readBodies } from '../../services/ingest/decode/solana/wire/parse-block.js'
import { type Measured, measure, printTable } from './measure.js'

const RECORDED = join(repositoryRoot(), '../shared/data/solana')
const FOLDERS = ['tx-parser', 'anchores', 'anchores/meteora-dlmm']
const BLOCKS = 100
const WARM_BLOCKS = 20
const TRANSACTIONS_PER_BLOCK = 100
/** Percent of transactions. On mainnet over half are votes and many others fail; both are parsed but not decoded. */
const MIXED = { votes: 50, failed: 15 }
const TRADES_ONLY = { votes: 0, failed: 0 }
/** Decoding may take twice as long as parsing. */
const LIMIT = 0.5
/** The flags the service is started with. */
const NODE_FLAGS = ['--max-semi-space-size=32']

/** Runs in a separate process with the service's flags: objects that outlive a block make up most of the GC work. */
export async function benchSolana(): Promise<boolean> {
  const child = spawn(process.execPath, [...NODE_FLAGS, fileURLToPath(import.meta.url)], { stdio: 'inherit' })
  return await new Promise((resolve) => child.on('close', (code) => resolve(code === 0)))
}

async function main(): Promise<boolean> {
  if (!existsSync(RECORDED)) {
    console.log('\nDecoding Solana: skipped, no recorded transactions')
    return true
  }
  const recorded = recordedTransactions()
  const trades = await run('trades alone', blockTexts(recorded, TRADES_ONLY))
  const mixed = await run('blocks with votes and failures', blockTexts(recorded, MIXED))
  const rows = [trades, mixed].flatMap(({ name, parsing, decoding }) => [
    row(`${name}: decoded`, decoding),
    row(`${name}: JSON.parse`, parsing),
  ])
  printTable('Decoding Solana', [['', 'CPU µs/transaction', 'transactions/CPU-s', 'transactions/s'], ...rows])
  const isQuick = [trades, mixed].map(({ name, parsing, decoding }) => {
    const ratio = parsing.cpuS / decoding.cpuS
    const verdict = ratio < LIMIT ? '  TOO SLOW' : ''
    console.log(`  ${name}: decoded ÷ JSON.parse, in transactions/s: ${ratio.toFixed(2)} (at least ${LIMIT})${verdict}`)
    return ratio >= LIMIT
  })
  return isQuick.every(Boolean)
}

function row(name: string, { cpuS, wallS }: Measured): (string | number)[] {
  const count = (BLOCKS - WARM_BLOCKS) * TRANSACTIONS_PER_BLOCK
  return [name, (cpuS / count) * 1e6, count / cpuS, count / wallS]
}

type Run = { name: string; parsing: Measured; decoding: Measured }

async function run(name: string, texts: readonly string[]): Promise<Run> {
  const money = new Set(['So11111111111111111111111111111111111111112', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'])
  const scope = { pools: new Set<string>(), tokens: new Set<string>(), amms: new Set<string>() }
  const rules = createSolanaRules({ scope: { ...scope, balances: 'scoped' }, money, programs: PROGRAMS })
  const book = memoryBook()
  const decode = (value: unknown) => {
    for (const { slot, transactions } of readBodies(value)) {
      const { events, lost } = decodeSolanaBlock(slot, transactions, book, rules)
      if (events.length === 0 || lost.length > 0) throw new Error(`lost: ${lost[0]?.detail ?? 'every event'}`)
    }
  }
  const nothing = { name: '', cpuS: 0, wallS: 0 }
  const [parsing, decoding] = [{ ...nothing }, { ...nothing }]
  // Block by block, as in production; the first ones are warm-up.
  for (const [block, text] of texts.entries()) {
    let value: unknown
    const parsed = await measure('', () => {
      value = JSON.parse(text) as unknown
    })
    const decoded = await measure('', () => decode(value))
    if (block < WARM_BLOCKS) continue
    add(parsing, parsed)
    add(decoding, decoded)
  }
  return { name, parsing, decoding }
}

function add(sum: Measured, { cpuS, wallS }: Measured): void {
  sum.cpuS += cpuS
  sum.wallS += wallS
}

type Recorded = { meta: Record<string, unknown> } & Record<string, unknown>

function recordedTransactions(): Recorded[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(RECORDED, folder))
      .filter((file) => file.endsWith('.json') && !/^(?:expected|broken)/.test(file))
      .flatMap((file) => JSON.parse(readFileSync(join(RECORDED, folder, file), 'utf8')) as Recorded | Recorded[]),
  )
}

/** `getBlock` bodies that repeat the recorded transactions. */
function blockTexts(recorded: readonly Recorded[], { votes, failed }: typeof MIXED): string[] {
  let next = 0
  const trade = () => recorded[next++ % recorded.length] ?? {}
  const failure = () => {
    const { meta, ...rest } = trade() as Recorded
    return { ...rest, meta: { ...meta, err: { InstructionError: [3, { Custom: 6001 }] } } }
  }
  return Array.from({ length: BLOCKS }, (_, block) => {
    const transactions = Array.from({ length: TRANSACTIONS_PER_BLOCK }, (_, at) =>
      at < votes ? VOTE : at < votes + failed ? failure() : trade(),
    )
    return JSON.stringify({ slot: 300_000_000 + block, blockhash: `${block}`, transactions })
  })
}

/** A vote as in `getBlock`, with invented keys. */
const VOTE = {
  meta: {
    computeUnitsConsumed: 2100,
    err: null,
    fee: 5000,
    innerInstructions: [],
    loadedAddresses: { readonly: [], writable: [] },
    logMessages: [
      'Program Vote111111111111111111111111111111111111111 invoke [1]',
      'Program Vote111111111111111111111111111111111111111 success',
    ],
    postBalances: [12_345_678_901, 27_074_400, 1],
    postTokenBalances: [],
    preBalances: [12_345_683_901, 27_074_400, 1],
    preTokenBalances: [],
    rewards: null,
    status: { Ok: null },
  },
  transaction: {
    message: {
      accountKeys: [`V1${'x'.repeat(42)}`, `V2${'y'.repeat(42)}`, 'Vote111111111111111111111111111111111111111'],
      header: { numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1, numRequiredSignatures: 1 },
      instructions: [{ accounts: [1, 0], data: '3'.repeat(200), programIdIndex: 2, stackHeight: null }],
      recentBlockhash: `B${'z'.repeat(43)}`,
    },
    signatures: [`S${'w'.repeat(87)}`],
  },
  version: 'legacy',
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = (await main()) ? 0 : 1
