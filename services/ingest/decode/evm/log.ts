/** What decoders are given: a block's logs and header fields, already validated, addresses and topics in lower case. */

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
  /** Signer by transaction hash, for every transaction with a log above. */
  senders: ReadonlyMap<string, string>
}
