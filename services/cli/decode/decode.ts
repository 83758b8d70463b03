/** `dextape decode`: what a node answered, on stdin, as events on stdout. Nothing is asked, nothing is kept. */
import { resolve } from 'node:path'
import { type Config, chainFacts } from '../../core/config/index.js'
import { ConfigError, DextapeError } from '../../core/domain/errors.js'
import type { Logger } from '../../core/runtime/logger.js'
import { EXIT } from '../../core/runtime/run-main.js'
import { configOf, type GlobalOptions, loggerOf, type World } from '../context.js'
import { inputBlocks } from './blocks.js'
import { createDecoder } from './decoder.js'
import { type InputValue, jsonValues } from './input.js'
import { readPoolsFile } from './pools-file.js'
import { decodeBodies } from './solana.js'

export type DecodeOptions = GlobalOptions & { chain: string; pools?: string }

const INPUT = 'stdin'

export async function decode(world: World, options: DecodeOptions): Promise<number> {
  const config = configOf(world, options)
  if (config.chains.get(options.chain)?.family === 'solana') return await decodeSolana(world, options, config)
  const contracts = config.contracts.get(options.chain)
  if (contracts === undefined) {
    throw new ConfigError({
      code: 'chain_unknown',
      what: `There is no chain "${options.chain}" that could be decoded`,
      expected: [...config.chains.keys()].join(', '),
    })
  }
  const told = await readPoolsFile(options.pools === undefined ? undefined : resolve(world.cwd, options.pools))
  const decoder = createDecoder(chainFacts(config, options.chain), contracts, told)
  const count = countLeftOut(loggerOf(world, config), 'logs')
  let decoded = 0
  try {
    for await (const { block, removed } of inputBlocks(inputValues(world), INPUT)) {
      const { events, decoded: told, leftOut } = decoder.decode(block)
      decoded += told
      for (const event of events) await world.out.json({ block_number: block.number, block_hash: block.hash, ...event })
      for (const { reason, detail, log } of leftOut)
        count.add(reason, detail, `block ${log.blockNumber}, log ${log.logIndex}`)
      if (removed > 0) count.removed(removed)
    }
  } finally {
    count.tell()
  }
  if (decoded === 0) count.refuseIfAny('Describe their pools with --pools, and give the logs whole.')
  return EXIT.ok
}

async function decodeSolana(world: World, options: DecodeOptions, config: Config): Promise<number> {
  if (options.pools !== undefined) {
    throw new ConfigError({
      code: 'pools_not_taken',
      what: `--pools tells what logs leave out; transactions of ${options.chain} say it themselves`,
      fix: 'Leave it out.',
    })
  }
  const count = countLeftOut(loggerOf(world, config), 'instructions')
  let [guessed, decoded] = [0, 0]
  try {
    const facts = chainFacts(config, options.chain)
    for await (const { body, events, lost } of decodeBodies(inputValues(world), facts, INPUT)) {
      if (body.isSlotGuessed) guessed += 1
      decoded += events.length
      for (const event of events) await world.out.json({ block_number: body.slot, block_hash: body.hash, ...event })
      for (const { reason, detail, txIndex, order } of lost)
        count.add(reason, detail, `slot ${body.slot}, transaction ${txIndex}, instruction ${order}`)
    }
  } finally {
    count.tell()
    if (guessed > 0)
      loggerOf(world, config).warn('blocks without their slot: taken as the one after the parent', { blocks: guessed })
  }
  if (decoded === 0) count.refuseIfAny('Ask the node again for whole transactions with their inner instructions.')
  return EXIT.ok
}

/** A pipe that gave nothing is most often a command before it that failed. */
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
      fix: "Pipe a node's answers into it: dextape decode --chain eth < receipts.json",
    })
}

/** By reason, with an example of each: a day's input may leave out a million. */
function countLeftOut(logger: Logger, unit: 'logs' | 'instructions') {
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
    /** Where nothing at all was decoded. */
    refuseIfAny(fix: string): void {
      const leftOut = [...reasons.values()].reduce((sum, { count }) => sum + count, 0)
      if (leftOut === 0) return
      const what = `No event could be decoded: ${leftOut} ${unit} were left out (${[...reasons.keys()].join(', ')})`
      throw new DextapeError({ code: 'nothing_decoded', what, where: { file: INPUT }, fix })
    },
    removed(logs: number): void {
      removed += logs
    },
    tell(): void {
      for (const [reason, { count, details, first }] of reasons)
        logger.warn(`${unit} left out`, { reason, [unit]: count, first, examples: [...details] })
      if (removed > 0) logger.warn(`${unit} left out`, { reason: 'removed', [unit]: removed })
    },
  }
}
