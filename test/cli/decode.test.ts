/** `dextape decode` as a user runs it: bytes in, events out. */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import type { EvmLog } from '../../services/ingest/decode/evm/log.js'
import { address, makeLog, type Word } from '../ingest/decode/evm/rig.js'
import { DAY_POOL, type Day, generatedDay, recordedDay, tradesOf } from '../rig/evm/day.js'
import { type Ended, startCommand } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'
import { writeRecording } from '../rig/http/recording-file.js'
import { describeRecorded } from '../rig/recordings.js'

const root = repositoryRoot()
const dir = mkdtempSync(join(tmpdir(), 'dextape-decode-'))

const FACTORY = '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f'
const [PAIR, TOKEN0, TOKEN1, ROUTER, TRADER, SIGNER] = [
  address(9),
  address(7),
  address(8),
  address(1),
  address(2),
  address(3),
]
const POOLS = join(dir, 'pools.jsonl')

const argumentsOf = (args: string[]): string[] => [
  'decode',
  ...(args.includes('--chain') ? [] : ['--chain', 'eth']),
  ...args,
]

const decode = (stdin: string | Buffer, args: string[] = []): Promise<Ended> =>
  runHere(argumentsOf(args), { cwd: dir, env: { DEXTAPE_DATA_DIR: join(dir, 'data') }, stdin })

function decodeAsProcess(stdin: string, args: string[] = []): Promise<Ended> {
  const { child, ended } = startCommand(argumentsOf(args), { cwd: dir, env: { DEXTAPE_DATA_DIR: join(dir, 'data') } })
  child.stdin.end(stdin)
  return ended
}

const eventsOf = ({ out }: Ended) =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** As a node prints it, with its upper-case addresses. */
function asRaw(log: EvmLog) {
  const hex = (value: number) => `0x${value.toString(16)}`
  return {
    address: `0x${log.address.slice(2).toUpperCase()}`,
    topics: log.topics,
    data: log.data,
    blockNumber: hex(log.blockNumber),
    blockHash: log.blockHash,
    transactionHash: log.txHash,
    transactionIndex: hex(log.txIndex),
    logIndex: hex(log.logIndex),
    removed: false,
  }
}

const v2 = (signature: string, indexed: Word[], data: Word[], log: number, pool = PAIR) =>
  makeLog(signature, indexed, data, { address: pool, log })
const TRADE = [
  v2('Sync(uint112,uint112)', [], [110n, 182n], 3),
  v2('Swap(address,uint256,uint256,uint256,uint256,address)', [ROUTER, TRADER], [10n, 0n, 0n, 18n], 4),
]
const receipt = (logs: readonly EvmLog[]) => ({ status: '0x1', from: SIGNER, to: ROUTER, logs: logs.map(asRaw) })
const swapOf = (ended: Ended) => eventsOf(ended).find(({ type }) => type === 'swap')

beforeAll(() => {
  if (!existsSync(join(root, 'dist/bundle/main.js'))) throw new Error('run `npm run build` first')
  const facts = [
    { type: 'token', token: TOKEN0, name: 'Zero', symbol: 'ZERO', decimals: 18 },
    { type: 'pool', pool: PAIR, amm: 'uniswapv2', token0: TOKEN0, token1: TOKEN1, fee: 3000 },
  ]
  writeFileSync(POOLS, facts.map((fact) => JSON.stringify(fact)).join('\n'))
})

describe('decodes node responses', () => {
  const swap = {
    block_number: 1,
    block_hash: `0x${'b'.repeat(64)}`,
    type: 'swap',
    tx_index: 0,
    log_index: 4,
    sub: 0,
    tx_hash: TRADE[1]?.txHash,
    pool: PAIR,
    amm: 'uniswapv2',
    sender: ROUTER,
    recipient: TRADER,
    wallet: SIGNER,
    token_in: TOKEN0,
    amount_in: '10',
    token_out: TOKEN1,
    amount_out: '18',
    reserve0: '110',
    reserve1: '182',
    sqrt_price: null,
    profile: null,
  }

  it('a receipt, with the tokens and the pool first', async () => {
    const ended = await decodeAsProcess(JSON.stringify(receipt(TRADE)), ['--pools', POOLS])
    expect(ended).toMatchObject({ code: 0, err: '' })
    const events = eventsOf(ended)
    expect(events.map(({ type }) => type)).toEqual(['token', 'token', 'pool', 'swap'])
    expect(events[0]).toMatchObject({ token: TOKEN0, symbol: 'ZERO', decimals: 18 })
    expect(events[3]).toEqual(swap)
  })

  it.each([
    ['a list', JSON.stringify([receipt(TRADE)])],
    [
      'a JSON-RPC response over many lines',
      JSON.stringify({ jsonrpc: '2.0', id: 1, result: [receipt(TRADE)] }, null, 2),
    ],
    ['a batch of responses', JSON.stringify([{ id: 1, result: receipt(TRADE) }])],
    ['one per line, with empty lines between', `\n${JSON.stringify(receipt(TRADE))}\n\n`],
    ['gzip', gzipSync(JSON.stringify(receipt(TRADE)))],
  ])('%s', async (_, input) => {
    expect(swapOf(await decode(input, ['--pools', POOLS]))).toEqual(swap)
  })

  it('logs without a receipt: the wallet is the sender in the log', async () => {
    const ended = await decode(TRADE.map((log) => JSON.stringify(asRaw(log))).join('\n'), ['--pools', POOLS])
    expect(swapOf(ended)).toEqual({ ...swap, wallet: ROUTER })
  })

  it('logs in any order, ignoring duplicates', async () => {
    const ended = await decode(JSON.stringify([...TRADE, ...TRADE].reverse().map(asRaw)), ['--pools', POOLS])
    expect(eventsOf(ended).filter(({ type }) => type === 'swap')).toEqual([{ ...swap, wallet: ROUTER }])
  })

  it('a pool created in the input, without --pools', async () => {
    const made = v2('PairCreated(address,address,address,uint256)', [TOKEN0, TOKEN1], [PAIR, 1n], 1, FACTORY)
    const ended = await decode(JSON.stringify([made, ...TRADE].map(asRaw)))
    expect(eventsOf(ended).map(({ type }) => type)).toEqual(['token', 'token', 'pool', 'swap'])
  })

  it('a pool without a description is skipped and reported', async () => {
    const ended = await decode(JSON.stringify(receipt(TRADE)))
    expect(ended).toMatchObject({ code: 1, out: '' })
    const [warning = '', refusal] = ended.err.split('\n')
    expect(refusal).toContain('No event was decoded: 2 logs skipped (pool_undescribed)')
    expect(JSON.parse(warning)).toMatchObject({
      message: 'logs skipped',
      reason: 'pool_undescribed',
      logs: 2,
      examples: [PAIR],
    })
  })

  it('a log that does not match its topic is reported', async () => {
    const [sync] = TRADE as [EvmLog, EvmLog]
    const bad = { ...sync, data: '0x', logIndex: 9 }
    const ended = await decode(JSON.stringify([...TRADE, bad].map(asRaw)), ['--pools', POOLS])
    expect(ended.code).toBe(0)
    expect(swapOf(ended)).toMatchObject({ amount_in: '10' })
    expect(JSON.parse(ended.err)).toMatchObject({ reason: 'bad_log', logs: 1 })
  })
})

describe('fails if the input has no event', () => {
  it.each([
    ['nothing at all', ''],
    ['blank lines', '\n \n'],
  ])('%s', async (_, input) => {
    expect(await decode(input)).toMatchObject({ code: 1, err: expect.stringContaining('The input is empty') })
  })

  it('result: null', async () => {
    const nothing = '{"jsonrpc":"2.0","id":1,"result":null}'
    expect(await decode(nothing)).toMatchObject({
      code: 1,
      err: expect.stringContaining('result is neither a receipt nor a log: null'),
    })
    const solana = await decode(nothing, ['--chain', 'solana'])
    expect(solana).toMatchObject({ code: 1, err: expect.stringContaining('result is null') })
  })

  it('logs that are all truncated', async () => {
    const cut = TRADE.map((log) => asRaw({ ...log, data: log.data.slice(0, -64) }))
    const ended = await decode(JSON.stringify(cut), ['--pools', POOLS])
    expect(eventsOf(ended).filter(({ type }) => type === 'swap' || type === 'liquidity')).toEqual([])
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('2 logs skipped (bad_log)') })
  })

  it('a line truncated anywhere', async () => {
    const line = JSON.stringify(receipt(TRADE))
    for (let length = 0; length < line.length; length += 1)
      expect(await decode(line.slice(0, length), ['--pools', POOLS]), `${length}`).toMatchObject({
        code: 1,
        out: '',
      })
  })

  it('but accepts a response without logs', async () => {
    expect(await decode('{"jsonrpc":"2.0","id":1,"result":[]}')).toEqual({ code: 0, out: '', err: '' })
  })
})

describe('reports the line of invalid input', () => {
  const line = JSON.stringify(receipt(TRADE))
  const [, second] = TRADE as [EvmLog, EvmLog]
  it.each([
    ['no JSON', `${line}\n{"half":`, 'line 2', 'JSON'],
    ['no receipt', `${line}\n7`, 'line 2', 'is neither a receipt nor a log: 7'],
    ['an error', '{"error":{"code":-32005,"message":"limit exceeded"}}', 'line 1', 'limit exceeded'],
    [
      'an address that is none',
      JSON.stringify([{ ...asRaw(second), address: '0x12' }]),
      'line 1',
      '[0].address must be 0x and 20 bytes',
    ],
    [
      'a pending log',
      JSON.stringify({ ...asRaw(second), blockNumber: null }),
      'line 1',
      'blockNumber must be a quantity',
    ],
    [
      'an earlier block',
      `${JSON.stringify(asRaw({ ...second, blockNumber: 2 }))}\n${line}`,
      'line 2',
      'block 1 comes after block 2',
    ],
    [
      'two logs at one place',
      `${line}\n${JSON.stringify(asRaw({ ...second, data: '0x' }))}`,
      'line 2',
      'two different logs 4',
    ],
  ])('%s', async (_, input, where, what) => {
    const { code, err } = await decode(input, ['--pools', POOLS])
    expect([code, err]).toEqual([1, expect.stringContaining(where)])
    expect(err).toContain(what)
  })

  it('exits with 1 after printing the events before it', async () => {
    const ended = await decode(
      `${JSON.stringify(receipt(TRADE))}\n${JSON.stringify(asRaw({ ...second, blockNumber: 2 }))}\n{`,
      ['--pools', POOLS],
    )
    expect([ended.code, swapOf(ended)?.amount_in]).toEqual([1, '10'])
    expect(ended.err).toContain('line 3')
  })

  it('an unknown chain, a missing file', async () => {
    expect(await decode('', ['--chain', 'nowhere'])).toMatchObject({ code: 78, err: expect.stringContaining('eth') })
    expect(await decode('', ['--pools', 'nowhere.jsonl'])).toMatchObject({ code: 78 })
    expect(await decode('', ['--pools', '.'])).toMatchObject({ code: 78 })
  })
})

describe('a generated day of a pool', () => equalsRecording(generatedDay()))
describeRecorded('a day of a mainnet pool', 1, () => equalsRecording(recordedDay()))

function equalsRecording(day: Day): void {
  it('decodes to the recording, read line by line', async () => {
    const recording = writeRecording(mkdtempSync(join(tmpdir(), 'dextape-day-')), 'day.jsonl', day.lines())
    const lines = day.logs().map((log) => JSON.stringify(asRaw(log)))
    const ended = await decode(lines.join('\n'), ['--pools', recording])
    expect(ended.err).toBe('')
    const recorded = tradesOf(day.lines()).map((event) => {
      const { wallet: _, block: __, ...rest } = event as typeof event & { wallet?: string }
      return rest
    })
    const events = eventsOf(ended).filter(({ type }) => type === 'swap' || type === 'liquidity')
    expect(events).toHaveLength(day.swaps + day.liquidity)
    expect(events.every(({ pool }) => pool === DAY_POOL.id)).toBe(true)
    // The recording's wallets are placeholders; everything else must match.
    expect(events).toMatchObject(recorded)
  })
}
