/**
 * Parses node output (`eth_getLogs`, receipts, whole JSON-RPC responses) into logs. The first invalid part is reported
 * with its path.
 */
import type { EvmLog } from './log.js'

/** `from`: the signer, if a receipt states it. `removed`: the log's block was orphaned by a reorg. */
export type RawLog = { log: EvmLog; from: string | undefined; removed: boolean }

/** `path`: location in the value, in JavaScript notation. */
export class BadShape extends Error {
  constructor(
    readonly path: string,
    detail: string,
  ) {
    super(`${path === '' ? 'it' : path} ${detail}`)
    this.name = 'BadShape'
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Reads a receipt, a log, a response that holds them, or lists of any of these. */
export function readLogs(value: unknown, path = '', from?: string): RawLog[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => readLogs(item, `${path}[${index}]`, from))
  if (!isObject(value)) throw new BadShape(path, `is neither a receipt nor a log: ${preview(value)}`)
  if (value.error !== undefined && value.error !== null)
    throw new BadShape(path, `is a node error: ${preview(value.error)}`)
  if ('result' in value) return readLogs(value.result, inside(path, 'result'))
  if ('logs' in value) {
    if (!Array.isArray(value.logs))
      throw new BadShape(inside(path, 'logs'), `must be a list, got ${preview(value.logs)}`)
    return readLogs(value.logs, inside(path, 'logs'), hex(value, 'from', path, 20))
  }
  return [{ log: readLog(value, path), from, removed: value.removed === true }]
}

function readLog(value: Fields, path: string): EvmLog {
  const { topics } = value
  if (!Array.isArray(topics) || topics.length > 4)
    throw new BadShape(inside(path, 'topics'), `must be a list of up to four, got ${preview(topics)}`)
  return {
    address: hex(value, 'address', path, 20),
    topics: topics.map((_, index) => hex(topics as unknown as Fields, `${index}`, inside(path, 'topics'), 32)),
    data: hex(value, 'data', path),
    blockNumber: quantity(value, 'blockNumber', path),
    blockHash: hex(value, 'blockHash', path, 32),
    txHash: hex(value, 'transactionHash', path, 32),
    txIndex: quantity(value, 'transactionIndex', path),
    logIndex: quantity(value, 'logIndex', path),
  }
}

function hex(value: Fields, name: string, path: string, bytes?: number): string {
  const given = value[name]
  const isHex = typeof given === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(given)
  if (!isHex || (bytes !== undefined && given.length !== 2 + bytes * 2)) {
    const wanted = bytes === undefined ? 'whole bytes' : `${bytes} bytes`
    throw new BadShape(inside(path, name), `must be 0x and ${wanted}, got ${preview(given)}`)
  }
  return given.toLowerCase()
}

function quantity(value: Fields, name: string, path: string): number {
  const given = value[name]
  const number = typeof given === 'string' && /^0x[0-9a-fA-F]{1,14}$/.test(given) ? Number(given) : given
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0)
    throw new BadShape(inside(path, name), `must be a quantity (0x1a), got ${preview(given)}`)
  return number
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function preview(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
