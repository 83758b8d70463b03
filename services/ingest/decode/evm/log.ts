/** What a decoder is given: one block's logs and headers' facts, checked by then, addresses and topics in lower case. */

export type EvmLog = {
  address: string
  topics: readonly string[]
  /** `0x` and whole bytes in lower-case hexadecimal. */
  data: string
  blockNumber: number
  blockHash: string
  txHash: string
  txIndex: number
  logIndex: number
}

export type EvmBlock = {
  number: number
  hash: string
  parentHash: string
  timeS: number
  /** In order of `logIndex`, each once. */
  logs: readonly EvmLog[]
  /** Who signed, by transaction hash: of every transaction with a log above. */
  senders: ReadonlyMap<string, string>
}
