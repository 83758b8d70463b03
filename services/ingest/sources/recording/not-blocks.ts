/** Refuses files of other topics. */
import { ConfigError } from '../../../core/domain/errors.js'

export function notBlocks(name: string, what: string): ConfigError {
  return new ConfigError({
    code: 'recording_not_blocks',
    what: `${name} is not a recording of blocks: ${what}`,
    fix: 'Export the blocks instead: dextape topics export CHAIN --out blocks.jsonl.gz. Everything else is computed from them.',
  })
}
