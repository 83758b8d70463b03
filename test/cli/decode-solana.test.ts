/** `dextape decode --chain solana` as a person runs it: what a node answered in, events out. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { HAS_REAL } from '../ingest/decode/solana/real-transactions.js'

const root = repositoryRoot()
const BIN = join(root, 'services/cli/dextape.js')
const DATA = join(root, '../shared/data/solana/tx-parser')
const dir = mkdtempSync(join(tmpdir(), 'dextape-decode-solana-'))

type Ended = { code: number | null; out: string; err: string }

function decode(stdin: string, args: string[] = []): Promise<Ended> {
  const child = spawn(process.execPath, [BIN, 'decode', '--chain', 'solana', ...args], {
    cwd: dir,
    env: { PATH: process.env.PATH, DEXTAPE_DATA_DIR: join(dir, 'data') },
  })
  const ended: Ended = { code: null, out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    ended.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    ended.err += chunk
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  return new Promise((resolve) => child.on('close', (code) => resolve({ ...ended, code })))
}

const bodyOf = (name: string): Record<string, unknown> =>
  ([JSON.parse(readFileSync(join(DATA, `${name}.json`), 'utf8'))].flat() as Record<string, unknown>[])[0] ?? {}
const eventsOf = ({ out }: Ended) =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
const swapsOf = (ended: Ended) => eventsOf(ended).filter(({ type }) => type === 'swap')

describe.skipIf(!HAS_REAL)('decode --chain solana', () => {
  it('takes transactions one a line, and whole answers', async () => {
    const [sell, route] = [bodyOf('pumpfun_sell_0'), bodyOf('OKXDEX_swap_0')]
    const lines = [JSON.stringify(sell), JSON.stringify({ jsonrpc: '2.0', id: 1, result: route })]
    const ended = await decode(lines.join('\n'))
    expect({ code: ended.code, err: ended.err }).toEqual({ code: 0, err: '' })
    expect(swapsOf(ended)).toMatchObject([
      {
        block_number: sell.slot,
        block_hash: null,
        amm: 'pump',
        amount_in: '592443959000000',
        amount_out: '37437283903',
      },
      { block_number: route.slot, amm: 'raydiumcpmm', log_index: 8 },
      { block_number: route.slot, amm: 'raydiumclmm', log_index: 11, amount_out: '74619' },
    ])
  })

  it('takes a block, and says where its slot is a guess and what was left out', async () => {
    const transactions = [bodyOf('pumpfun_buy_0'), { transaction: 'garbage', meta: {} }, bodyOf('pumpfun_sell_0')]
    const ended = await decode(JSON.stringify({ result: { blockhash: 'hash', parentSlot: 99, transactions } }))
    expect(ended.code).toBe(0)
    expect(swapsOf(ended)).toMatchObject([
      { block_number: 100, block_hash: 'hash', tx_index: 0 },
      { block_number: 100, block_hash: 'hash', tx_index: 2 },
    ])
    const told = ended.err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(told).toMatchObject([
      {
        message: 'instructions left out',
        reason: 'bad_transaction',
        instructions: 1,
        first: 'slot 100, transaction 1, instruction 0',
      },
      { message: 'blocks without their slot: taken as the one after the parent', blocks: 1 },
    ])
  })

  it('fails cleanly on what is no body, and takes no pools', async () => {
    const broken = await decode(readFileSync(join(DATA, 'broken_data_0.json'), 'utf8'))
    expect(broken.code).not.toBe(0)
    expect(broken.err).toMatch(/is no transaction and no block/)
    expect(broken.err).not.toMatch(/\n\s+at /)
    expect(await decode('', ['--pools', 'pools.jsonl'])).toMatchObject({
      code: 78,
      err: expect.stringMatching(/--pools/),
    })
  })
})
