import type { Config } from '../../core/config/index.js'

/** Threads cannot see whether stderr is a terminal. */
export function logFormatOf({ logFormat }: Pick<Config, 'logFormat'>): 'text' | 'json' {
  return logFormat === 'auto' ? (process.stderr.isTTY ? 'text' : 'json') : logFormat
}
