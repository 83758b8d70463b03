/** How many bytes a topic takes on its leader's disks: a request kafkajs does not have. */
import { createRequire } from 'node:module'
import { leaderOf } from './connections.js'
import type { Cluster } from './internals.js'

type Encoder = {
  writeString(text: string): Encoder
  writeArray(items: readonly unknown[]): Encoder
}
type Decoder = {
  readInt16(): number
  readInt32(): number
  readInt64(): { toString(): string }
  readString(): string
  readBoolean(): boolean
  readArray<T>(read: (decoder: Decoder) => T): T[]
}
type Sender = { connectionPool: { send(request: unknown): Promise<number[]> } }

const require = createRequire(import.meta.url)
const EncoderOf = require('kafkajs/src/protocol/encoder') as new () => Encoder
const DecoderOf = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => Decoder

/** https://kafka.apache.org/protocol#The_Messages_DescribeLogDirs */
const DESCRIBE_LOG_DIRS = { apiKey: 35, apiVersion: 1, apiName: 'DescribeLogDirs' }

export async function bytesOf(cluster: Cluster, full: string): Promise<number> {
  const leader = await leaderOf(cluster, full)
  if (leader === undefined) return 0
  const topics = [new EncoderOf().writeString(full).writeArray([0])]
  const sizes = await (leader as unknown as Sender).connectionPool.send({
    request: { ...DESCRIBE_LOG_DIRS, encode: async () => new EncoderOf().writeArray(topics) },
    response: { decode: async (bytes: Buffer) => sizesOf(new DecoderOf(bytes)), parse: async (read: number[]) => read },
  })
  return sizes.reduce((sum, size) => sum + size, 0)
}

function sizesOf(decoder: Decoder): number[] {
  decoder.readInt32()
  return decoder.readArray(readDirectory).flat(2)
}

function readDirectory(decoder: Decoder): number[][] {
  decoder.readInt16()
  decoder.readString()
  return decoder.readArray((topic) => {
    topic.readString()
    return topic.readArray(readPartition)
  })
}

function readPartition(decoder: Decoder): number {
  decoder.readInt32()
  const size = Number(decoder.readInt64().toString())
  decoder.readInt64()
  decoder.readBoolean()
  return size
}
