/** Every protocol that is decoded. Adding one is its file and a line here. */
import type { Protocol } from './protocol.js'

export const PROTOCOLS: readonly Protocol[] = []

const BY_NAME = new Map(PROTOCOLS.map((protocol) => [protocol.name, protocol]))

export function protocolNamed(name: string): Protocol | undefined {
  return BY_NAME.get(name)
}
