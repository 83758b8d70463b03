/** `dextape decode`: what a node answered, on stdin, as events on stdout. Nothing is asked, nothing is kept. */
import { resolve } from 'node:path'
import { chainFacts } from '../core/config/index.js'
import { ConfigError } from '../core/domain/errors.js'
import type { Logger } from '../core/runtime/logger.js'
import { EXIT } from '../core/runtime/run-main.js'
import { configOf, type GlobalOptions, loggerOf, type World } from './context.js'
import { inputBlocks } from './decode/blocks.js'
import { createDecoder, type LeftOut } from './decode/decoder.js'
import { jsonValues } from './decode/input.js'
import { readPoolsFile } from './decode/pools-file.js'

export type DecodeOptions = GlobalOptions & { chain: string; pools?: string }

const INPUT = 'stdin'

export async function decode(world: World, options: DecodeOptions): Promise<number> {
  const config = configOf(world, options)
  const contracts = config.contracts.get(options.chain)
  if (contracts === undefined) {
    throw new ConfigError({
      code: 'chain_unknown',
      what: `There is no chain "${options.chain}" whose logs could be decoded`,
      expected: [...config.contracts.keys()].join(', '),
    })
  }
  const told = await readPoolsFile(options.pools === undefined ? undefined : resolve(world.cwd, options.pools))
  const decoder = createDecoder(chainFacts(config, options.chain), contracts, told)
  const count = countLeftOut(loggerOf(world, config))
  try {
    for await (const { block, removed } of inputBlocks(jsonValues(world.stdin, INPUT), INPUT)) {
      const { events, leftOut } = decoder.decode(block)
      for (const event of events) await world.out.json({ block_number: block.number, block_hash: block.hash, ...event })
      for (const each of leftOut) count.add(each)
      if (removed > 0) count.removed(removed)
    }
  } finally {
    count.tell()
  }
  return EXIT.ok
}

/** By reason, with an example of each: a day's input may leave out a million. */
function countLeftOut(logger: Logger) {
  const reasons = new Map<string, { count: number; details: Set<string>; first: string }>()
  let removed = 0
  const EXAMPLES = 5
  return {
    add({ reason, detail, log }: LeftOut): void {
      const at = `block ${log.blockNumber}, log ${log.logIndex}`
      const known = reasons.get(reason) ?? { count: 0, details: new Set(), first: at }
      known.count += 1
      if (known.details.size < EXAMPLES) known.details.add(detail)
      reasons.set(reason, known)
    },
    removed(logs: number): void {
      removed += logs
    },
    tell(): void {
      for (const [reason, { count, details, first }] of reasons)
        logger.warn('logs left out', { reason, logs: count, first, examples: [...details] })
      if (removed > 0) logger.warn('logs left out', { reason: 'removed', logs: removed })
    },
  }
}
