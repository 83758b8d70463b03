/** `dextape decode`: decodes a node's responses from stdin to events on stdout. Makes no requests and stores nothing. */
import { resolve } from 'node:path'
import { type Config, chainFacts } from '../../core/config/index.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import type { Logger } from '../../core/runtime/logger.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { type Cli, configOf, type GlobalOptions, loggerOf, type World } from '../context.js'
import { type InputValue, jsonValues } from './input.js'

type DecodeOptions = GlobalOptions & { chain: string; pools?: string }

export function addDecode({ program, world, act }: Cli): void {
  program
    .command('decode')
    .description("Decode a node's receipts, logs or transactions from stdin to events (JSON lines)")
    .requiredOption('--chain <chain>', 'Chain of the input')
    .option('--pools <file>', 'Token and pool events as JSON lines, or a recording, in place of requests to a node')
    .addHelpText(
      'after',
      [
        '\nInput on EVM chains: receipts or eth_getLogs results, as a list, one object, JSON lines or whole JSON-RPC responses.',
        'Receipts name the signer, which becomes the wallet of an event; for logs alone it is the sender in the log.',
        'Pools that neither the input creates nor --pools describes are skipped and counted on stderr.',
        '\nInput on Solana: getTransaction or getBlock results in any encoding.',
        '\nExamples:',
        '  dextape decode --chain eth --pools pools.jsonl < receipts.json',
        '  dextape decode --chain solana < blocks.jsonl',
      ].join('\n'),
    )
    .action(act<DecodeOptions>((options) => decode(world, options)))
}

const INPUT = 'stdin'

async function decode(world: World, options: DecodeOptions): Promise<number> {
  const config = configOf(world, options)
  if (config.chains.get(options.chain)?.family === 'solana') return await decodeSolana(world, options, config)
  const contracts = config.contracts.get(options.chain)
  if (contracts === undefined) {
    throw new ConfigError({
      code: 'chain_unknown',
      what: `Cannot decode chain "${options.chain}": it is unknown`,
      expected: [...config.chains.keys()].join(', '),
    })
  }
  const [{ inputBlocks, createDecoder }, { readPoolsFile }] = await Promise.all([
    import('./evm.js'),
    import('./pools-file.js'),
  ])
  const described = await readPoolsFile(options.pools === undefined ? undefined : resolve(world.cwd, options.pools))
  const decoder = createDecoder(chainFacts(config, options.chain), contracts, described)
  const skipped = countSkipped(loggerOf(world, config), 'logs')
  let decoded = 0
  try {
    for await (const { block, removed } of inputBlocks(inputValues(world), INPUT)) {
      const { events, decoded: count, skipped: logs } = decoder.decode(block)
      decoded += count
      for (const event of events) await world.out.json({ block_number: block.number, block_hash: block.hash, ...event })
      for (const { reason, detail, log } of logs)
        skipped.add(reason, detail, `block ${log.blockNumber}, log ${log.logIndex}`)
      if (removed > 0) skipped.addRemoved(removed)
    }
  } finally {
    skipped.report()
  }
  if (decoded === 0) skipped.failIfAny('Describe their pools with --pools, and check that the logs are complete.')
  return EXIT.ok
}

async function decodeSolana(world: World, options: DecodeOptions, config: Config): Promise<number> {
  if (options.pools !== undefined) {
    throw new ConfigError({
      code: 'pools_not_taken',
      what: `--pools is not supported on ${options.chain}: transactions already describe their pools`,
      fix: 'Remove --pools.',
    })
  }
  const skipped = countSkipped(loggerOf(world, config), 'instructions')
  let [guessed, decoded] = [0, 0]
  try {
    const { decodeBodies } = await import('./solana.js')
    const facts = chainFacts(config, options.chain)
    for await (const { body, events, lost } of decodeBodies(inputValues(world), facts, INPUT)) {
      if (body.isSlotGuessed) guessed += 1
      decoded += events.length
      for (const event of events) await world.out.json({ block_number: body.slot, block_hash: body.hash, ...event })
      for (const { reason, detail, txIndex, order } of lost)
        skipped.add(reason, detail, `slot ${body.slot}, transaction ${txIndex}, instruction ${order}`)
    }
  } finally {
    skipped.report()
    if (guessed > 0)
      loggerOf(world, config).warn('blocks without a slot; assuming the one after the parent', { blocks: guessed })
  }
  if (decoded === 0) skipped.failIfAny('Request whole transactions, with their inner instructions, from the node.')
  return EXIT.ok
}

/** Empty input usually means that the command before the pipe failed. */
async function* inputValues({ stdin }: World): AsyncGenerator<InputValue> {
  let isEmpty = true
  for await (const value of jsonValues(stdin, INPUT)) {
    isEmpty = false
    yield value
  }
  if (isEmpty)
    throw new DextapeError({
      code: 'input_empty',
      what: 'The input is empty',
      where: { file: INPUT },
      fix: "Pipe a node's responses into it: dextape decode --chain eth < receipts.json",
    })
}

/** Counts by reason, with examples: a day of input may skip a million. */
function countSkipped(logger: Logger, unit: 'logs' | 'instructions') {
  const reasons = new Map<string, { count: number; details: Set<string>; first: string }>()
  let removed = 0
  const EXAMPLES = 5
  return {
    add(reason: string, detail: string, at: string): void {
      const known = reasons.get(reason) ?? { count: 0, details: new Set(), first: at }
      known.count += 1
      if (known.details.size < EXAMPLES) known.details.add(detail)
      reasons.set(reason, known)
    },
    /** For input of which nothing was decoded. */
    failIfAny(fix: string): void {
      const total = [...reasons.values()].reduce((sum, { count }) => sum + count, 0)
      if (total === 0) return
      const what = `No event was decoded: ${total} ${unit} skipped (${[...reasons.keys()].join(', ')})`
      throw new DextapeError({ code: 'nothing_decoded', what, where: { file: INPUT }, fix })
    },
    addRemoved(logs: number): void {
      removed += logs
    },
    report(): void {
      for (const [reason, { count, details, first }] of reasons)
        logger.warn(`${unit} skipped`, { reason, [unit]: count, first, examples: [...details] })
      if (removed > 0) logger.warn(`${unit} skipped`, { reason: 'removed', [unit]: removed })
    },
  }
}
