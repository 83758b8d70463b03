import type { EvmLog } from './log.js'

/** Whether another contract than the one that holds the venue speaks of it: anybody can write a log that borrows a pool's id. */
export function isStranger({ address }: EvmLog, holder: string | number | boolean | undefined): boolean {
  return holder !== undefined && holder !== address
}
