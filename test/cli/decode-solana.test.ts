/** `dextape decode --chain solana` as a user runs it: node responses in, events out. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Ended } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'
import { describeRecorded, recordingPath } from '../rig/recordings.js'
import { generatedTransaction, PUMP_BUY, PUMP_SELL, ROUTE } from '../rig/solana/generated/transactions.js'

const DATA = recordingPath('solana/tx-parser')
const dir = mkdtempSync(join(tmpdir(), 'dextape-decode-solana-'))

const decode = (stdin: string, args: string[] = []): Promise<Ended> =>
  runHere(['decode', '--chain', 'solana', ...args], { cwd: dir, env: { DEXTAPE_DATA_DIR: join(dir, 'data') }, stdin })

const bodyOf = (name: string): Record<string, unknown> =>
  ([JSON.parse(readFileSync(join(DATA, `${name}.json`), 'utf8'))].flat() as Record<string, unknown>[])[0] ?? {}
const eventsOf = ({ out }: Ended) =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
const swapsOf = (ended: Ended) => eventsOf(ended).filter(({ type }) => type === 'swap')

const generated = (name: string): Record<string, unknown> => {
  const { value, slot } = generatedTransaction(name)
  return { ...value, slot }
}
const swapsIn = (name: string) => generatedTransaction(name).expected.filter(({ type }) => type === 'swap')

describe('decode --chain solana', () => {
  it('decodes generated transactions, one per line or as whole responses', async () => {
    const [sell, route] = [generated(PUMP_SELL), generated(ROUTE)]
    const lines = [JSON.stringify(sell), JSON.stringify({ jsonrpc: '2.0', id: 1, result: route })]
    const ended = await decode(lines.join('\n'))
    expect({ code: ended.code, err: ended.err }).toEqual({ code: 0, err: '' })
    expect(swapsOf(ended)).toMatchObject([
      ...swapsIn(PUMP_SELL).map((swap) => ({ ...swap, block_number: sell.slot, block_hash: null })),
      ...swapsIn(ROUTE).map((swap) => ({ ...swap, block_number: route.slot, block_hash: null })),
    ])
  })

  it('decodes a block, and reports guessed slots and skipped instructions', async () => {
    await takesBlock(generated(PUMP_BUY), generated(PUMP_SELL))
  })

  it('fails on invalid input, and rejects --pools', async () => {
    expectBroken(await decode(JSON.stringify('no body of a node')))
    expect(await decode('', ['--pools', 'pools.jsonl'])).toMatchObject({
      code: 78,
      err: expect.stringMatching(/--pools/),
    })
  })
})

describeRecorded('decode --chain solana, recorded', 3, () => {
  it('decodes transactions, one per line or as whole responses', async () => {
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

  it('decodes a block, and reports guessed slots and skipped instructions', async () => {
    await takesBlock(bodyOf('pumpfun_buy_0'), bodyOf('pumpfun_sell_0'))
  })

  it('fails on invalid input', async () => {
    expectBroken(await decode(readFileSync(join(DATA, 'broken_data_0.json'), 'utf8')))
  })
})

async function takesBlock(buy: object, sell: object): Promise<void> {
  const transactions = [buy, { transaction: 'garbage', meta: {} }, sell]
  const ended = await decode(JSON.stringify({ result: { blockhash: 'hash', parentSlot: 99, transactions } }))
  expect(ended.code).toBe(0)
  expect(swapsOf(ended)).toMatchObject([
    { block_number: 100, block_hash: 'hash', tx_index: 0 },
    { block_number: 100, block_hash: 'hash', tx_index: 2 },
  ])
  const warnings = ended.err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(warnings).toMatchObject([
    {
      message: 'instructions skipped',
      reason: 'bad_transaction',
      instructions: 1,
      first: 'slot 100, transaction 1, instruction 0',
    },
    { message: 'blocks without a slot; assuming the one after the parent', blocks: 1 },
  ])
}

function expectBroken({ code, err }: Ended): void {
  expect(code).not.toBe(0)
  expect(err).toMatch(/must be a transaction or a block/)
  expect(err).not.toMatch(/\n\s+at /)
}
